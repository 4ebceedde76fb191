import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { applyOutcome, mayWrite } from "../../../src/reconcile/outcome.js";
import type { ConvergenceRow, RunOutcome } from "../../../src/reconcile/index.js";
import { CONFIG, observedOf, rowOf } from "./rows.js";

const NOW = 1_000_000;
const MOMENT = { epoch: "e", now: NOW, random: () => 0.5 };
const RUN = { scope: "s", key: "k", generation: 5, epoch: "e", runToken: 9 };

function apply(row: ConvergenceRow, outcome: RunOutcome, counts = true): ConvergenceRow {
  return applyOutcome(row, outcome, MOMENT, CONFIG, { counts });
}

describe("mayWrite", () => {
  it("R-5: allows the run whose token the row has", () => {
    expect(mayWrite(rowOf({ runToken: 9 }), RUN, undefined)).toBe(true);
    expect(mayWrite(rowOf({ runToken: 9 }), RUN, 4)).toBe(true);
  });

  it.each([
    ["the row is gone", undefined, undefined],
    ["another run has begun", rowOf({ runToken: 10 }), undefined],
    ["the run was abandoned", rowOf(), undefined],
    [
      "something newer is desired",
      rowOf({ runToken: 9, desired: { generation: 6, enabled: true, identity: "i" } }),
      undefined,
    ],
    ["a fence has reached it", rowOf({ runToken: 9 }), 5],
  ])("R-5: refuses when %s", (_what, row, fencedAt) => {
    expect(mayWrite(row, RUN, fencedAt)).toBe(false);
  });
});

describe("applyOutcome", () => {
  const tried = rowOf({
    attempts: 3,
    failures: 2,
    nextAttemptAt: 5,
    notBefore: 4,
    runToken: 9,
    lastError: { code: "timeout", message: "" },
  });

  it("R-4: done observes what is desired; failures are forgotten only after a healthy minute", () => {
    expect(apply(tried, { kind: "done", readiness: "degraded" })).toEqual(
      rowOf({ attempts: 3, failures: 2, observed: observedOf({ readiness: "degraded", since: NOW }), updatedAt: NOW }),
    );
  });

  it("done observes a disabled key as off, whatever the readiness", () => {
    const desired = { generation: 5, enabled: false, identity: "i" };
    expect(apply(rowOf({ desired }), { kind: "done", readiness: "ready" }).observed).toEqual(
      observedOf({ ...desired, readiness: "off", since: NOW }),
    );
  });

  it.each([
    ["keeps since when when nothing changed", observedOf({ since: 7 }), 7],
    ["begins anew when the readiness changed", observedOf({ since: 7, readiness: "degraded" }), NOW],
    ["begins anew when the generation changed", observedOf({ since: 7, generation: 4 }), NOW],
    ["begins anew in another epoch", observedOf({ since: 7, epoch: "old" }), NOW],
    ["begins anew when that was in the future", observedOf({ since: NOW + 1 }), NOW],
  ])("done %s", (_what, observed, since) => {
    expect(apply(rowOf({ observed }), { kind: "done", readiness: "ready" }).observed?.since).toBe(since);
  });

  it("R-4: starting leaves what is observed alone, and waits for no time", () => {
    const observed = observedOf({ generation: 4 });
    expect(apply({ ...tried, observed }, { kind: "starting" })).toEqual({
      ...tried,
      observed,
      nextAttemptAt: undefined,
      notBefore: undefined,
      runToken: undefined,
      updatedAt: NOW,
    });
  });

  it("R-4: requeue waits without being a failure", () => {
    const next = apply(tried, { kind: "requeue", afterMs: 2_500 });
    expect(next).toMatchObject({ attempts: 3, failures: 2, nextAttemptAt: NOW + 2_500, notBefore: undefined });
    expect(apply(tried, { kind: "requeue", afterMs: Infinity }).nextAttemptAt).toBe(NOW + 86_400_000);
    expect(apply(tried, { kind: "requeue", afterMs: Number.NaN }).nextAttemptAt).toBe(NOW);
  });

  it("R-4: terminal is observed as failed, with its reason", () => {
    const next = apply(tried, { kind: "terminal", reason: "invalid_release", message: "No\nsuch tool" });
    expect(next.observed).toEqual(observedOf({ readiness: "failed", since: NOW }));
    expect(next.lastError).toEqual({ code: "invalid_release", message: "No such tool" });
    expect(next).toMatchObject({ nextAttemptAt: undefined, attempts: 3, failures: 2 });
  });

  it("R-4: a fault is accounted for, and what failed is not observed any more", () => {
    const error = new RemoteConnectorError("process_exited", {
      message: "The process exited.",
      details: { exitCode: 1, signal: undefined, stderrTail: "" },
    });
    const next = apply({ ...tried, observed: observedOf({ since: NOW - 5 }) }, { kind: "fault", error });
    expect(next).toEqual({
      ...tried,
      attempts: 4,
      failures: 3,
      nextAttemptAt: NOW + 4_000,
      notBefore: undefined,
      observed: undefined,
      runToken: undefined,
      lastError: { code: "process_exited", message: "The process exited." },
      updatedAt: NOW,
    });
  });

  it("R-4: a fault of a successor leaves the older generation observed", () => {
    const observed = observedOf({ generation: 4 });
    expect(apply({ ...tried, observed }, { kind: "fault", error: new Error("x") }).observed).toEqual(observed);
  });
});
