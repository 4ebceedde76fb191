import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CLEAN_RECORD,
  planRestart,
  renewBudget,
  type RestartConfig,
  type RestartRecord,
  restartDelayMs,
} from "../../../../src/connect/supervision/restart-budget.js";

const SEED = 20_260_728;
const ALMOST_ONE = 1 - 2 ** -53;
const CONFIG: RestartConfig = {
  restart: true,
  firstRestartDelayMs: 500,
  longestRestartDelayMs: 30_000,
  maxRestarts: 3,
  restartWindowMs: 300_000,
  probeIntervalMs: 600_000,
};
const EARLY = { servedMs: undefined, isLasting: false };

describe("restartDelayMs", () => {
  it.each([
    [1, 250, 500],
    [2, 500, 1_000],
    [3, 1_000, 2_000],
    [6, 8_000, 16_000],
    [7, 15_000, 30_000],
    [5_000, 15_000, 30_000],
    [0, 250, 500],
  ])("L-16: after end %s in a row is from %s to %s ms", (failures, least, most) => {
    expect(restartDelayMs(failures, 0, CONFIG)).toBe(least);
    expect(restartDelayMs(failures, ALMOST_ONE, CONFIG)).toBe(most);
  });
});

describe("planRestart", () => {
  /** The plans for ends at these moments, each of a start that failed. */
  function plans(moments: readonly number[], config = CONFIG, first: RestartRecord = CLEAN_RECORD) {
    let record = first;
    return moments.map((now) => {
      const step = planRestart(record, EARLY, { now, random: 1 }, config);
      record = step.record;
      return step.plan;
    });
  }

  it("L-16: grows the pauses until the budget is used up, then tries now and then", () => {
    expect(plans([0, 1_000, 3_000, 6_000, 700_000])).toEqual([
      { kind: "restart", at: 500, delayMs: 500 },
      { kind: "restart", at: 2_000, delayMs: 1_000 },
      { kind: "restart", at: 5_000, delayMs: 2_000 },
      { kind: "probe", at: 606_000, delayMs: 600_000 },
      // Nothing has renewed the budget meanwhile, though all restarts are long past.
      { kind: "probe", at: 1_300_000, delayMs: 600_000 },
    ]);
  });

  it("L-16: restarts that are past the window no longer count", () => {
    const kinds = plans([0, 400_000, 800_000, 1_200_000, 1_600_000]).map(({ kind }) => kind);
    expect(kinds).toEqual(["restart", "restart", "restart", "restart", "restart"]);
  });

  it("L-16: a budget that was renewed is whole again, and the pauses go on growing", () => {
    const spent: RestartRecord = { failures: 4, restarts: [], isSpent: true };
    expect(plans([0, 0, 0, 0], CONFIG, renewBudget(spent))).toEqual([
      { kind: "restart", at: 8_000, delayMs: 8_000 },
      { kind: "restart", at: 16_000, delayMs: 16_000 },
      { kind: "restart", at: 30_000, delayMs: 30_000 },
      { kind: "probe", at: 600_000, delayMs: 600_000 },
    ]);
  });

  it.each([
    [29_999, 8_000],
    [30_000, 500],
  ])("L-16: after %s ms of service the pause is %s ms", (servedMs, delayMs) => {
    const before = { ...CLEAN_RECORD, failures: 4 };
    const { plan } = planRestart(before, { servedMs, isLasting: false }, { now: 0, random: 1 }, CONFIG);
    expect(plan).toEqual({ kind: "restart", at: delayMs, delayMs });
  });

  it("L-16: starts nothing when restarts are off, or would all end alike", () => {
    expect(plans([0], { ...CONFIG, restart: false })).toEqual([{ kind: "none" }]);
    const { plan } = planRestart(CLEAN_RECORD, { ...EARLY, isLasting: true }, { now: 0, random: 1 }, CONFIG);
    expect(plan).toEqual({ kind: "none" });
  });

  it("L-16: never plans more restarts in a window than the budget has, nor remembers more", () => {
    const ends = fc.array(
      fc.record({ afterMs: fc.nat(200_000), servedMs: fc.option(fc.nat(60_000), { nil: undefined }) }),
      {
        maxLength: 60,
      },
    );
    const property = fc.property(ends, fc.double({ min: 0, max: ALMOST_ONE, noNaN: true }), (all, random) => {
      let record: RestartRecord = CLEAN_RECORD;
      let now = 0;
      const restarts: number[] = [];
      for (const { afterMs, servedMs } of all) {
        now += afterMs;
        const step = planRestart(record, { servedMs, isLasting: false }, { now, random }, CONFIG);
        record = step.record;
        if (step.plan.kind === "restart") {
          restarts.push(step.plan.at);
          now = step.plan.at;
        }
        expect(restarts.filter((at) => at > now - CONFIG.restartWindowMs).length).toBeLessThanOrEqual(
          CONFIG.maxRestarts,
        );
        expect(record.restarts.length).toBeLessThanOrEqual(CONFIG.maxRestarts);
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 200 });
  });

  it("remembers no restarts when their number has no limit", () => {
    const { record } = planRestart(CLEAN_RECORD, EARLY, { now: 0, random: 1 }, { ...CONFIG, maxRestarts: Infinity });
    expect(record.restarts).toEqual([]);
  });
});
