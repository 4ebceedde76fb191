import { describe, expect, it } from "vitest";
import type { DueVerdict } from "../../../src/reconcile/due.js";
import { describeKey, type StatusFacts } from "../../../src/reconcile/status.js";
import { CONFIG, observedOf, rowOf } from "./rows.js";

const CONVERGED: StatusFacts = { epoch: "e", verdict: { kind: "converged" }, lane: "idle" };
const LATER: DueVerdict = { kind: "later", why: "never_observed", at: 77 };

describe("describeKey", () => {
  it("says what is desired and what is observed", () => {
    const row = rowOf({ observed: observedOf({ since: 3, readiness: "degraded" }), updatedAt: 9, attempts: 2 });
    expect(describeKey(row, CONVERGED, CONFIG)).toEqual({
      scope: "s",
      key: "k",
      activity: "converged",
      generation: 5,
      enabled: true,
      identity: "i",
      readiness: "degraded",
      since: 3,
      attempts: 2,
      failures: 0,
      nextAttemptAt: undefined,
      lastError: undefined,
    });
  });

  it("R-2: does not believe what was observed in another epoch", () => {
    const row = rowOf({ observed: observedOf({ epoch: "old", since: 3 }), updatedAt: 9 });
    expect(describeKey(row, CONVERGED, CONFIG)).toMatchObject({ readiness: undefined, since: 9 });
    expect(describeKey(row, { ...CONVERGED, epoch: undefined }, CONFIG)).toMatchObject({
      activity: "inactive",
      readiness: undefined,
    });
  });

  it.each([
    ["running", rowOf(), { ...CONVERGED, verdict: { kind: "run", why: "never_observed" }, lane: "running" }],
    // Written down already: nobody is told of the end of the run itself.
    ["converged", rowOf(), { ...CONVERGED, lane: "running" }],
    ["queued", rowOf(), { ...CONVERGED, verdict: { kind: "run", why: "never_observed" } }],
    ["starting", rowOf(), { ...CONVERGED, verdict: { kind: "starting", why: "never_observed" } }],
    ["waiting", rowOf({ failures: 5 }), { ...CONVERGED, verdict: LATER }],
    ["parked", rowOf({ failures: 6 }), { ...CONVERGED, verdict: LATER }],
    ["failed", rowOf({ observed: observedOf({ readiness: "failed" }) }), CONVERGED],
  ] as const)("calls it %s", (activity, row, facts) => {
    expect(describeKey(row, facts, CONFIG).activity).toBe(activity);
  });

  it("R-4: says when the next attempt is", () => {
    expect(describeKey(rowOf(), { ...CONVERGED, verdict: LATER }, CONFIG).nextAttemptAt).toBe(77);
  });
});
