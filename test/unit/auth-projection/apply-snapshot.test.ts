import { describe, expect, it } from "vitest";
import { applySnapshot, type SnapshotOutcome } from "../../../src/auth-projection/apply-snapshot.js";
import {
  chooseRelease,
  type ProjectionRow,
  resetProjection,
  type Snapshot,
} from "../../../src/auth-projection/index.js";
import { entry, snapshot } from "./bodies.js";
import { AccountStore } from "./account-store.js";

class Account {
  readonly store = new AccountStore();
  readonly planned: (readonly string[])[] = [];
  now = 1_000_000;

  apply(from: Snapshot, firstFetchOfScopeEpoch = false, accountId = "acc"): Promise<SnapshotOutcome> {
    return this.store.write((tx) =>
      applySnapshot(tx, {
        accountId,
        snapshot: from,
        firstFetchOfScopeEpoch,
        now: this.now,
        onChanged: (_tx, keys) => void this.planned.push(keys),
      }),
    );
  }

  async states(): Promise<Record<string, string>> {
    const rows = await this.store.rows("acc");
    return Object.fromEntries(rows.map((row) => [row.connectorKey, row.state]));
  }
}

describe("P-3: applying", () => {
  it("P-3: writes the rows and the account, and plans the keys in order", async () => {
    const account = new Account();
    const outcome = await account.apply(snapshot("8", [entry("slack"), entry("github")], { epoch: "e" }));
    expect(outcome).toMatchObject({ verdict: { kind: "apply", reason: "new_epoch" }, changed: ["github", "slack"] });
    expect(account.planned).toEqual([["github", "slack"]]);
    expect(await account.store.rows("acc")).toMatchObject([
      { connectorKey: "github", epoch: "=e", revision: 8n, connectionVersion: 1n, updatedAt: 1_000_000 },
      { connectorKey: "slack", epoch: "=e", revision: 8n },
    ]);
    expect(await account.store.account("acc")).toMatchObject({
      applied: { epoch: "=e", revision: 8n },
      pastEpochs: [],
    });
  });

  it("P-3: is monotonic, and disconnects what is missing", async () => {
    const account = new Account();
    await account.apply(snapshot(8, [entry("github")]));
    expect(await account.apply(snapshot(7, []))).toMatchObject({ verdict: { kind: "hold" }, changed: [] });
    expect(await account.states()).toEqual({ github: "connected" });
    expect(await account.apply(snapshot(9, []))).toMatchObject({ changed: ["github"] });
    expect(await account.store.rows("acc")).toMatchObject([
      {
        state: "disconnected",
        connectionId: undefined,
        connectionVersion: 0n,
        connectorVersion: "1.0.0",
        revision: 9n,
      },
    ]);
  });

  it("R-11: a row that is missing and says so already is removed, without a change", async () => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("a"), entry("b", { state: "disconnected" })]));
    expect(await account.apply(snapshot(2, []))).toMatchObject({ changed: ["a"] });
    expect(await account.states()).toEqual({ a: "disconnected" });
    expect(await account.apply(snapshot(3, []))).toMatchObject({ changed: [] });
    expect(await account.states()).toEqual({});
    expect(await account.apply(snapshot(4, [entry("a")]))).toMatchObject({ changed: ["a"] });
  });

  it.each([
    ["the state", { state: "reauth_required" }],
    ["the connection", { connectionId: "another" }],
    ["the connection's version", { connectionVersion: "2" }],
    ["the release", { connectorVersion: "1.1.0" }],
    ["being usable", { state: "unheard of" }],
  ])("P-4: %s makes a change, and only of its own connector", async (_, members) => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("github"), entry("slack")]));
    account.now += 500;
    expect((await account.apply(snapshot(2, [entry("github", members), entry("slack")]))).changed).toEqual(["github"]);
    expect(await account.store.rows("acc")).toMatchObject([
      { updatedAt: 1_000_500, revision: 2n },
      { updatedAt: 1_000_000, revision: 1n },
    ]);
    expect((await account.store.account("acc"))?.applied?.revision).toBe(2n);
  });

  it("P-4: the planner is not asked when nothing changed", async () => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("github")]));
    await account.apply(snapshot(2, [entry("github")]));
    await account.apply(snapshot(2, [entry("github")]));
    expect(account.planned).toEqual([["github"]]);
  });

  it("P-3: what is written already is not written again, and a new reason of a quarantine is", async () => {
    const account = new Account();
    const body = [entry("github"), entry("slack", { state: "paused" })];
    await account.apply(snapshot(1, body));
    const written: ProjectionRow[] = [];
    const again = (from: Snapshot): Promise<SnapshotOutcome> =>
      account.store.write(async (tx) => {
        const put = (row: ProjectionRow): Promise<void> => {
          written.push(row);
          return tx.projections.put(row);
        };
        const projections = { ...tx.projections, put };
        const facts = { firstFetchOfScopeEpoch: true, now: account.now, onChanged: () => undefined };
        return applySnapshot({ ...tx, projections }, { accountId: "acc", snapshot: from, ...facts });
      });
    expect(await again(snapshot(1, body))).toMatchObject({ verdict: { reason: "first_fetch" }, changed: [] });
    expect(written).toEqual([]);
    // Nor under a greater revision, or another epoch: of thousands of connectors few change at a time.
    await again(snapshot(2, body));
    await again(snapshot(1, body, { epoch: "new" }));
    expect(written).toEqual([]);
    await again(snapshot(2, [entry("github"), entry("slack", { connectionVersion: -1 })], { epoch: "new" }));
    expect(written).toMatchObject([{ connectorKey: "slack", quarantined: "invalid_member" }]);
  });

  it("P-4: what the planner throws rolls the rows back with the plan", async () => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("github")]));
    const failing = account.store.write((tx) =>
      applySnapshot(tx, {
        accountId: "acc",
        snapshot: snapshot(2, []),
        firstFetchOfScopeEpoch: false,
        now: 0,
        onChanged: () => Promise.reject(new Error("no plan")),
      }),
    );
    await expect(failing).rejects.toThrow("no plan");
    expect(await account.states()).toEqual({ github: "connected" });
    expect(await account.store.account("acc")).toMatchObject({ applied: { revision: 1n } });
  });

  it("P-3: accounts don't see each other", async () => {
    const account = new Account();
    await account.apply(snapshot(5, [entry("github")]));
    await account.apply(snapshot(1, []), false, "other");
    expect(await account.states()).toEqual({ github: "connected" });
  });

  it("P-3: confirming ends a row of holds, and so does applying", async () => {
    for (const next of [snapshot(5, [entry("github")]), snapshot(6, [])]) {
      const account = new Account();
      await account.apply(snapshot(5, [entry("github")]));
      await account.apply(snapshot(4, []));
      await account.apply(snapshot(4, []));
      expect(await account.store.account("acc")).toMatchObject({ hold: { count: 2 } });
      await account.apply(next);
      account.now += 120_000;
      expect(await account.apply(snapshot(4, []))).toMatchObject({ verdict: { kind: "hold", hold: { count: 1 } } });
    }
  });

  it("P-3: four epochs that were left are remembered, the fifth is new again", async () => {
    const account = new Account();
    for (const epoch of ["a", "b", "c", "d", "e"]) await account.apply(snapshot(1, [], { epoch }));
    expect((await account.store.account("acc"))?.pastEpochs).toEqual(["=d", "=c", "=b", "=a"]);
    for (const epoch of ["a", "b", "c", "d"]) {
      expect(await account.apply(snapshot(1, [], { epoch }))).toMatchObject({ verdict: { kind: "hold" } });
    }
    await account.apply(snapshot(1, [], { epoch: "f" }));
    expect(await account.apply(snapshot(1, [], { epoch: "a" }))).toMatchObject({
      verdict: { kind: "apply", reason: "new_epoch" },
    });
    expect((await account.store.account("acc"))?.pastEpochs).toEqual(["=f", "=e", "=d", "=c"]);
  });

  it("★4: a server that was restored is followed, by insistence and by hand", async () => {
    const restored = snapshot(3, [entry("slack")]);
    const account = new Account();
    await account.apply(snapshot(900, [entry("github")]));
    for (const at of [0, 30_000]) {
      account.now = 1_000_000 + at;
      expect(await account.apply(restored)).toMatchObject({ verdict: { kind: "hold" } });
      expect(await account.states()).toEqual({ github: "connected" });
    }
    account.now = 1_060_000;
    expect(await account.apply(restored)).toMatchObject({
      verdict: { kind: "apply", reason: "accepted_after_holds" },
      diagnostics: [{ kind: "hold_accepted", reason: "smaller_revision", revision: 3n }],
    });
    expect(await account.states()).toEqual({ github: "disconnected", slack: "connected" });

    await account.store.write((tx) => resetProjection(tx, "acc"));
    expect(await account.apply(snapshot(1, [entry("github")]))).toMatchObject({ verdict: { kind: "apply" } });
    await account.store.write((tx) => resetProjection(tx, "nobody"));
    expect(await account.store.account("nobody")).toBeUndefined();
  });

  it("★4: a new cluster with an epoch of its own is followed at once, and the old one no more", async () => {
    const account = new Account();
    await account.apply(snapshot(900, [entry("github")]));
    await account.apply(snapshot(1, [entry("slack")], { epoch: "cluster-2" }));
    expect(await account.apply(snapshot(901, [entry("github")]))).toMatchObject({ verdict: { reason: "past_epoch" } });
    expect(await account.states()).toEqual({ github: "disconnected", slack: "connected" });
  });

  it("P-3: an accepted epoch is the current one, and the one before it is past", async () => {
    const account = new Account();
    await account.apply(snapshot(1, [], { epoch: "a" }));
    await account.apply(snapshot(1, [], { epoch: "b" }));
    for (const at of [0, 30_000, 60_000]) {
      account.now = 1_000_000 + at;
      await account.apply(snapshot(1, [], { epoch: "a" }));
    }
    expect(await account.store.account("acc")).toMatchObject({
      applied: { epoch: "=a" },
      pastEpochs: ["=b"],
      hold: undefined,
    });
  });
});

describe("P-5: connection versions", () => {
  it("P-5 ★ item 6: a connection version that falls within one epoch and connection is told, and the row takes the snapshot's", async () => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("github", { connectionVersion: 4 })]));
    const outcome = await account.apply(snapshot(2, [entry("github", { connectionVersion: 3 })]));
    expect(outcome).toMatchObject({
      changed: ["github"],
      diagnostics: [{ kind: "connection_version_decreased", connectorKey: "github", from: 4n, to: 3n }],
    });
    expect(await account.store.rows("acc")).toMatchObject([{ connectionVersion: 3n }]);
  });

  it("P-5: it falls within an epoch, whenever its row was last written", async () => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("github", { connectionVersion: 4 })]));
    await account.apply(snapshot(1, [entry("github", { connectionVersion: 4 })], { epoch: "new" }));
    const fallen = await account.apply(snapshot(2, [entry("github", { connectionVersion: 3 })], { epoch: "new" }));
    expect(fallen.diagnostics).toMatchObject([{ kind: "connection_version_decreased", from: 4n, to: 3n }]);
  });

  it.each([
    ["another connection", { connectionId: "new", connectionVersion: 1 }, {}],
    ["another state", { state: "reauth_required", connectionVersion: 1 }, {}],
    ["another epoch", { connectionVersion: 1 }, { epoch: "new" }],
  ])("P-5: %s may begin anew", async (_, members, more) => {
    const account = new Account();
    await account.apply(snapshot(1, [entry("github", { connectionVersion: 4 })]));
    expect((await account.apply(snapshot(2, [entry("github", members)], more))).diagnostics).toEqual([]);
  });
});

describe("P-2: the release that a snapshot names", () => {
  it.each([
    ["1.0.0", "current"],
    ["2.0.0", "candidate"],
    ["0.9.0", "release_mismatch"],
    [undefined, "release_mismatch"],
  ])("P-2: %s is %s", (connectorVersion, expected) => {
    expect(chooseRelease(connectorVersion, { current: "1.0.0", candidate: "2.0.0" })).toBe(expected);
  });

  it("P-2: nothing matches a candidate that is not there", () => {
    expect(chooseRelease(undefined, { current: "1.0.0" })).toBe("release_mismatch");
  });
});
