import { describe, expect, it } from "vitest";
import { planPruning } from "../../../../src/connector-host/journal/plan-retention.js";

const LIMITS = { maxRows: 10_000, maxAgeMs: 100 };

describe("planPruning", () => {
  it.each([
    { counts: { rows: 10_000, unknowns: 0 }, settled: 0, unknowns: 0 },
    { counts: { rows: 10_001, unknowns: 0 }, settled: 1, unknowns: 0 },
    { counts: { rows: 20_000, unknowns: 0 }, settled: 256, unknowns: 0 },
    { counts: { rows: 10_000, unknowns: 1_000 }, settled: 0, unknowns: 0 },
    { counts: { rows: 10_003, unknowns: 1_002 }, settled: 1, unknowns: 2 },
    { counts: { rows: 10_000, unknowns: 9_000 }, settled: 0, unknowns: 256 },
  ])("H-35: of $counts go $settled settled ones and $unknowns unknown ones", ({ counts, settled, unknowns }) => {
    const step = planPruning(counts, LIMITS, 1_000);
    expect(step).toEqual({ settled, unknowns, old: { before: 900, count: 256 } });
  });

  it("H-35: a journal for fewer rows than unknowns keeps as many of these as it may have rows", () => {
    expect(planPruning({ rows: 8, unknowns: 8 }, { ...LIMITS, maxRows: 5 }, 1)).toMatchObject({
      settled: 0,
      unknowns: 3,
    });
  });

  it("H-35: without a bound nothing goes", () => {
    const step = planPruning({ rows: 1e9, unknowns: 1 }, { maxRows: Infinity, maxAgeMs: Infinity }, 1_000);
    expect(step).toMatchObject({ settled: 0, unknowns: 0, old: { before: 0 } });
  });
});
