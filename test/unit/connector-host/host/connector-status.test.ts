import { describe, expect, it } from "vitest";
import { describeConnector, type StatusFacts } from "../../../../src/connector-host/host/connector-status.js";
import type { KeyActivity, KeyStatus } from "../../../../src/reconcile/index.js";

function convergence(activity: KeyActivity, changes: Partial<KeyStatus> = {}): KeyStatus {
  return {
    scope: "account:ada",
    key: "files",
    activity,
    generation: 3,
    enabled: true,
    identity: "",
    readiness: "ready",
    since: 7,
    attempts: 0,
    failures: 0,
    nextAttemptAt: undefined,
    lastError: undefined,
    ...changes,
  };
}

function state(changes: Partial<StatusFacts>) {
  const facts: StatusFacts = {
    connectorKey: "files",
    obstacle: undefined,
    convergence: undefined,
    isPublished: false,
    ...changes,
  };
  const { state: is, reason } = describeConnector(facts);
  return [is, reason];
}

const demanded = { kind: "demanded", reason: "authorization_required", since: 5 } as const;
const lost = { kind: "lost", reason: "process_exited", since: 5 } as const;

function signIn(reason: string): [string, string] {
  return ["authorization_required", reason];
}

const lastError = { code: "connect_failed", message: "" };

describe("describeConnector", () => {
  it.each([
    ["signed_out", "authorization_required"],
    ["authorization_required", "authorization_required"],
    ["reauthorization_required", "authorization_required"],
    ["account_not_ready", "offline"],
    ["release_mismatch", "disabled"],
  ] as const)("H-36: %s reads %s, whatever runs", (obstacle, is) => {
    expect(state({ obstacle, convergence: convergence("converged"), isPublished: true })).toEqual([is, obstacle]);
  });

  it.each<[Partial<StatusFacts>, string, string | undefined]>([
    [{}, "starting", undefined],
    [{ convergence: convergence("running") }, "starting", undefined],
    [{ convergence: convergence("queued") }, "starting", undefined],
    [{ convergence: convergence("converged"), isPublished: true }, "ready", undefined],
    [{ convergence: convergence("converged") }, "starting", undefined],
    [{ convergence: convergence("converged", { readiness: "degraded" }), isPublished: true }, "degraded", undefined],
    [{ convergence: convergence("running"), isPublished: true }, "ready", undefined],
    [{ convergence: convergence("waiting", { lastError }) }, "offline", "connect_failed"],
    [{ convergence: convergence("waiting", { lastError }), isPublished: true }, "degraded", "connect_failed"],
    [
      { convergence: convergence("waiting", { lastError: { code: "authorization_required", message: "" } }) },
      "authorization_required",
      "authorization_required",
    ],
    [{ convergence: convergence("parked", { lastError }) }, "failed", "connect_failed"],
    [
      { convergence: convergence("parked", { lastError: { code: "authorization_required", message: "" } }) },
      "authorization_required",
      "authorization_required",
    ],
    [{ convergence: convergence("failed", { lastError }) }, "failed", "connect_failed"],
  ])("H-36: %# reads as it is", (facts, is, reason) => {
    expect(state(facts)).toEqual([is, reason]);
  });

  it("H-36: says since when, and when it is tried again", () => {
    const facts: StatusFacts = {
      connectorKey: "files",
      obstacle: undefined,
      convergence: convergence("waiting", { since: 11, nextAttemptAt: 99 }),
      isPublished: false,
    };
    expect(describeConnector(facts)).toMatchObject({ connectorKey: "files", since: 11, nextAttemptAt: 99 });
  });

  it("H-36: one that is tried now has no next attempt, although its row still has the one before", () => {
    const tried = { connectorKey: "files", obstacle: undefined, isPublished: false } as const;
    for (const [activity, nextAttemptAt] of [
      ["running", undefined],
      ["queued", undefined],
      ["parked", 99],
    ] as const) {
      const facts = { ...tried, convergence: convergence(activity, { nextAttemptAt: 99 }) };
      expect(describeConnector(facts)).toMatchObject({ nextAttemptAt });
    }
  });

  it.each<[Partial<StatusFacts>, string, string, number]>([
    [
      { unsettled: demanded, isPublished: true, convergence: convergence("converged") },
      ...signIn("authorization_required"),
      5,
    ],
    [{ unsettled: { ...demanded, reason: "reauthorization_required" } }, ...signIn("reauthorization_required"), 5],
    [{ unsettled: lost, convergence: convergence("converged") }, "offline", "process_exited", 5],
    [{ unsettled: { ...lost, reason: "authorization_required" } }, ...signIn("authorization_required"), 5],
    // What the rows know is no news, and a route that is there was not lost.
    [
      { unsettled: demanded, obstacle: "switched_off", convergence: convergence("converged") },
      "disabled",
      "switched_off",
      7,
    ],
  ])("H-36: what is not in the store yet counts: %#", (changes, is, reason, since) => {
    const facts = {
      connectorKey: "files",
      obstacle: undefined,
      convergence: undefined,
      isPublished: false,
      ...changes,
    };
    expect(describeConnector(facts)).toMatchObject({ state: is, reason, since, nextAttemptAt: undefined });
  });

  it("H-36: a server that was lost and is published again is as well as it is", () => {
    const facts = {
      connectorKey: "files",
      obstacle: undefined,
      convergence: convergence("converged"),
      isPublished: true,
    };
    expect(describeConnector({ ...facts, unsettled: lost })).toMatchObject({
      state: "ready",
      reason: undefined,
      since: 7,
    });
  });
});
