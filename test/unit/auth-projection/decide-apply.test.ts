import { describe, expect, it } from "vitest";
import { decideApply } from "../../../src/auth-projection/decide-apply.js";
import { epochKey } from "../../../src/auth-projection/epoch-key.js";
import type { AccountSyncRow } from "../../../src/auth-projection/index.js";

const NOW = 1_000_000;

function account(row: Partial<AccountSyncRow> = {}): AccountSyncRow {
  return {
    accountId: "acc",
    syncSeq: 3,
    applied: { epoch: epochKey("now"), revision: 10n, digest: "d10" },
    pastEpochs: [epochKey("old"), epochKey(undefined)],
    hold: undefined,
    seenAt: NOW,
    ...row,
  };
}

function decide(
  stored: AccountSyncRow | undefined,
  [epoch, revision, digest]: [string | undefined, bigint, string],
  facts: { first?: boolean; now?: number } = {},
): ReturnType<typeof decideApply> {
  const snapshot = { epoch: epochKey(epoch), revision, digest };
  return decideApply(stored, snapshot, { firstFetchOfScopeEpoch: facts.first ?? false, now: facts.now ?? NOW });
}

describe("P-3: the order of the verdicts", () => {
  it.each([
    ["nothing stored", undefined, ["now", 1n, "d1"], false, "new_epoch"],
    ["a reset account", account({ applied: undefined, pastEpochs: [] }), ["old", 1n, "d1"], false, "new_epoch"],
    ["an epoch never seen, with a smaller revision", account(), ["new", 1n, "d1"], false, "new_epoch"],
    ["an empty epoch, which is not the absent one", account(), ["", 1n, "d1"], false, "new_epoch"],
    ["a greater revision", account(), ["now", 11n, "d11"], false, "greater_revision"],
    ["a greater revision on a first fetch", account(), ["now", 11n, "d11"], true, "greater_revision"],
    ["the same revision with another body", account(), ["now", 10n, "other"], false, "different_body"],
    ["the same snapshot on a first fetch", account(), ["now", 10n, "d10"], true, "first_fetch"],
  ] as const)("P-3: %s is applied", (_, stored, snapshot, first, reason) => {
    expect(decide(stored, [...snapshot], { first })).toMatchObject({ kind: "apply", reason, wentBackwards: undefined });
  });

  it("P-3: the same snapshot again is confirmed", () => {
    expect(decide(account(), ["now", 10n, "d10"])).toEqual({ kind: "confirm" });
  });

  it.each([
    ["an epoch left behind", ["old", 99n, "d99"], "past_epoch"],
    ["the absent epoch, left behind", [undefined, 99n, "d99"], "past_epoch"],
    ["a smaller revision", ["now", 9n, "d9"], "smaller_revision"],
  ] as const)("P-3: %s is held, on a first fetch too", (_, snapshot, reason) => {
    for (const first of [false, true]) {
      expect(decide(account(), [...snapshot], { first })).toMatchObject({ kind: "hold", reason, hold: { count: 1 } });
    }
  });

  it("P-3: revisions compare as integers, past what a double holds", () => {
    const applied = { epoch: epochKey("now"), revision: 2n ** 60n + 1n, digest: "d" };
    expect(decide(account({ applied }), ["now", 2n ** 60n, "d"])).toMatchObject({ kind: "hold" });
    expect(decide(account({ applied }), ["now", 2n ** 60n + 2n, "d"])).toMatchObject({ kind: "apply" });
  });
});

describe("P-3: three holds in a row, over at least a minute", () => {
  const hold = { epoch: epochKey("old"), revision: 5n, count: 2, since: NOW - 60_000 };

  it("P-3: the third is accepted once the first is a minute old", () => {
    expect(decide(account({ hold }), ["old", 5n, "d5"])).toEqual({
      kind: "apply",
      reason: "accepted_after_holds",
      wentBackwards: "past_epoch",
    });
  });

  it.each([
    ["a minute is not over", { ...hold, since: NOW - 59_999 }, ["old", 5n, "d"], 3],
    ["there were not enough", { ...hold, count: 1 }, ["old", 5n, "d"], 2],
    ["the revision fell", hold, ["old", 4n, "d"], 1],
    ["the epoch is another", hold, [undefined, 5n, "d"], 1],
    ["the epoch is another, and its revision smaller", hold, ["now", 5n, "d"], 1],
    ["the clock was set back", { ...hold, since: NOW + 1 }, ["old", 5n, "d"], 1],
  ] as const)("P-3: not yet when %s", (_, streak, snapshot, count) => {
    expect(decide(account({ hold: streak }), [...snapshot])).toMatchObject({
      kind: "hold",
      hold: { count, since: count === 1 ? NOW : streak.since, revision: snapshot[1] },
    });
  });

  it("P-3: more than three fast ones wait for the minute", () => {
    const streak = { ...hold, count: 40, since: NOW - 30_000 };
    expect(decide(account({ hold: streak }), ["old", 6n, "d"])).toMatchObject({ kind: "hold", hold: { count: 41 } });
    expect(decide(account({ hold: streak }), ["old", 6n, "d"], { now: NOW + 30_000 })).toMatchObject({ kind: "apply" });
  });
});
