import type { PruneStep, RowCounts } from "./journal-rows.js";

export interface RetentionLimits {
  readonly maxRows: number;
  readonly maxAgeMs: number;
}

/** Unacknowledged unknowns that are kept, however old they are. */
export const MAX_UNKNOWNS = 1_000;

/** Rows that go in one step: each keeps the process from everything else. */
const STEP_ROWS = 256;

/**
 * What goes in the next step; `undefined` when there is nothing that is known to be too much. Pure; `now` in epoch milliseconds. Rows go
 * by age and by count, unacknowledged unknowns only by their own count and when nothing else is left.
 */
export function planPruning(
  { rows, unknowns }: RowCounts,
  { maxRows, maxAgeMs }: RetentionLimits,
  now: number,
): PruneStep {
  const tooManyUnknowns = Math.max(0, unknowns - Math.min(MAX_UNKNOWNS, maxRows));
  const unknownsGone = Math.min(tooManyUnknowns, STEP_ROWS);
  const tooMany = Math.max(0, rows - unknownsGone - maxRows);
  return {
    settled: Math.min(tooMany, STEP_ROWS),
    old: { before: maxAgeMs === Infinity ? 0 : now - maxAgeMs, count: STEP_ROWS },
    unknowns: unknownsGone,
  };
}
