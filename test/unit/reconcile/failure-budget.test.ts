import { describe, expect, it } from "vitest";
import { accountFault, boundedPauseMs, isParked } from "../../../src/reconcile/failure-budget.js";
import { CONFIG, observedOf, rowOf } from "./rows.js";

const NOW = 10_000_000;
const MOMENT = { epoch: "e", now: NOW, random: () => 0.5 };
const DAY_MS = 86_400_000;

describe("accountFault", () => {
  it("R-4: counts the attempt and backs off", () => {
    const schedule = accountFault(rowOf({ attempts: 2, failures: 1 }), { counts: false }, MOMENT, CONFIG);
    expect(schedule).toEqual({ attempts: 3, failures: 1, nextAttemptAt: NOW + 2_000, notBefore: undefined });
  });

  it("R-4: backs off without limit for faults that don't count", () => {
    const schedule = accountFault(rowOf({ attempts: 500, failures: 5 }), { counts: false }, MOMENT, CONFIG);
    expect(schedule).toMatchObject({ attempts: 501, failures: 5, nextAttemptAt: NOW + 30_000 });
    expect(isParked(schedule, CONFIG)).toBe(false);
  });

  it("R-4: parks at the sixth fault that counts, and probes every five minutes from then on", () => {
    const fifth = accountFault(rowOf({ attempts: 4, failures: 4 }), { counts: true }, MOMENT, CONFIG);
    expect(isParked(fifth, CONFIG)).toBe(false);
    expect(fifth.nextAttemptAt).toBe(NOW + 8_000);
    const sixth = accountFault(rowOf({ attempts: 5, failures: 5 }), { counts: true }, MOMENT, CONFIG);
    expect(isParked(sixth, CONFIG)).toBe(true);
    expect(sixth.nextAttemptAt).toBe(NOW + 300_000);
    const probe = accountFault(rowOf({ attempts: 6, failures: 6 }), { counts: false }, MOMENT, CONFIG);
    expect(probe).toMatchObject({ failures: 6, nextAttemptAt: NOW + 300_000 });
  });

  it.each([
    ["a whole healthy minute", observedOf({ since: NOW - 60_000 }), 1],
    ["less than a minute", observedOf({ since: NOW - 59_999 }), 6],
    ["a minute in which it was degraded", observedOf({ since: 0, readiness: "degraded" }), 6],
    ["a healthy time of another epoch", observedOf({ since: 0, epoch: "old" }), 6],
    ["a healthy time of what it replaces", observedOf({ since: 0, generation: 4 }), 6],
    ["nothing", undefined, 6],
  ])("R-4: after %s begins to count accordingly", (_what, observed, failures) => {
    const row = rowOf({ attempts: 9, failures: 5, observed });
    const schedule = accountFault(row, { counts: true }, MOMENT, CONFIG);
    expect(schedule.failures).toBe(failures);
    expect(schedule.attempts).toBe(failures === 1 ? 1 : 10);
  });

  it("R-6: obeys the pause that the peer asked for, when it is longer than its own", () => {
    const longer = accountFault(rowOf(), { counts: false, retryAfterMs: 7_000 }, MOMENT, CONFIG);
    expect(longer).toMatchObject({ nextAttemptAt: NOW + 7_000, notBefore: NOW + 7_000 });
    const shorter = accountFault(rowOf({ attempts: 3 }), { counts: false, retryAfterMs: 10 }, MOMENT, CONFIG);
    expect(shorter).toMatchObject({ nextAttemptAt: NOW + 4_000, notBefore: NOW + 10 });
  });
});

describe("boundedPauseMs", () => {
  it.each([
    [0, 0],
    [-1, 0],
    [Number.NaN, 0],
    [0.2, 1],
    [1_500, 1_500],
    [Infinity, DAY_MS],
    [DAY_MS + 1, DAY_MS],
  ])("makes of %s ms %s", (given, expected) => {
    expect(boundedPauseMs(given)).toBe(expected);
  });
});
