import { describe, expect, it } from "vitest";
import { decideDue, type DueFacts } from "../../../src/reconcile/due.js";
import { observedOf, rowOf } from "./rows.js";

const NOW = 1_000;
const FACTS: DueFacts = { epoch: "e", now: NOW, holds: true, starting: false, probing: false };
const OFF = { generation: 5, enabled: false, identity: "i" };

describe("decideDue", () => {
  it.each([
    ["observed as desired, and its route is there", rowOf({ observed: observedOf() }), FACTS],
    ["observed degraded, and its route is there", rowOf({ observed: observedOf({ readiness: "degraded" }) }), FACTS],
    [
      "observed off: it needs no route",
      rowOf({ desired: OFF, observed: observedOf({ ...OFF, readiness: "off" }) }),
      { ...FACTS, holds: false },
    ],
    [
      "observed failed: there is no route to be had",
      rowOf({ observed: observedOf({ readiness: "failed" }) }),
      { ...FACTS, holds: false },
    ],
    [
      "converged, whatever its schedule says",
      rowOf({ observed: observedOf(), nextAttemptAt: NOW + 5, attempts: 3 }),
      { ...FACTS, probing: true },
    ],
  ])("R-2: leaves alone what is %s", (_what, row, facts) => {
    expect(decideDue(row, facts)).toEqual({ kind: "converged" });
  });

  it.each([
    ["never_observed", rowOf(), FACTS],
    ["never_observed", rowOf({ desired: OFF }), FACTS],
    ["desired_changed", rowOf({ observed: observedOf({ generation: 4 }) }), FACTS],
    ["desired_changed", rowOf({ observed: observedOf({ identity: "other" }) }), FACTS],
    ["desired_changed", rowOf({ observed: observedOf({ enabled: false }) }), FACTS],
    ["other_epoch", rowOf({ observed: observedOf({ epoch: "old" }) }), FACTS],
    ["other_epoch", rowOf({ observed: observedOf({ epoch: "old", readiness: "failed" }) }), FACTS],
    ["other_epoch", rowOf({ desired: OFF, observed: observedOf({ ...OFF, epoch: "old", readiness: "off" }) }), FACTS],
    ["route_missing", rowOf({ observed: observedOf() }), { ...FACTS, holds: false }],
  ])("R-2: runs for %s", (why, row, facts) => {
    expect(decideDue(row, facts)).toEqual({ kind: "run", why });
  });

  it("R-4: does not run what someone else is at work on", () => {
    expect(decideDue(rowOf(), { ...FACTS, starting: true, probing: true })).toEqual({
      kind: "starting",
      why: "never_observed",
    });
  });

  it("R-4: waits for the next attempt, and not longer", () => {
    const row = rowOf({ nextAttemptAt: NOW + 1 });
    expect(decideDue(row, FACTS)).toEqual({ kind: "later", why: "never_observed", at: NOW + 1 });
    expect(decideDue(row, { ...FACTS, now: NOW + 1 })).toEqual({ kind: "run", why: "never_observed" });
  });

  it("R-4: lets a call that needs it go first, but not before the peer allows it", () => {
    const probing = { ...FACTS, probing: true };
    expect(decideDue(rowOf({ nextAttemptAt: NOW + 9 }), probing)).toEqual({ kind: "run", why: "never_observed" });
    const held = rowOf({ nextAttemptAt: NOW + 9, notBefore: NOW + 7 });
    expect(decideDue(held, probing)).toEqual({ kind: "later", why: "never_observed", at: NOW + 7 });
    expect(decideDue(held, FACTS)).toEqual({ kind: "later", why: "never_observed", at: NOW + 9 });
  });

  it("does not wait for times of a clock that was set back since", () => {
    const row = rowOf({ nextAttemptAt: 10 * NOW, notBefore: 10 * NOW, updatedAt: NOW + 1 });
    expect(decideDue(row, FACTS)).toEqual({ kind: "run", why: "never_observed" });
  });
});
