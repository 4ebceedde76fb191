/** How a server that ends is started again. */
export interface RestartConfig {
  readonly restart: boolean;
  readonly firstRestartDelayMs: number;
  readonly longestRestartDelayMs: number;
  readonly maxRestarts: number;
  readonly restartWindowMs: number;
  readonly probeIntervalMs: number;
}

/** When something happens, and the chance that goes with it. */
export interface Moment {
  /** Milliseconds of the clock. */
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** What is remembered of a server's ends. */
export interface RestartRecord {
  /** Ends in a row that were early: failed starts, and processes that did not serve for long. */
  readonly failures: number;
  /** When restarts were due, within the window. */
  readonly restarts: readonly number[];
  /** The budget was used up, and nothing has renewed it since. */
  readonly isSpent: boolean;
}

export const CLEAN_RECORD: RestartRecord = { failures: 0, restarts: [], isSpent: false };

/** What follows the end of a process. */
export type RestartPlan =
  /** Another start, within the budget. */
  | { readonly kind: "restart"; readonly at: number; readonly delayMs: number }
  /** The budget is used up: a start now and then, to see whether it would live. */
  | { readonly kind: "probe"; readonly at: number; readonly delayMs: number }
  | { readonly kind: "none" };

/** One end of a process, or of an attempt to start it. */
export interface ServerEnd {
  /** For how long the process could be called; `undefined` when it never could. */
  readonly servedMs: number | undefined;
  /** Every other start would end alike. */
  readonly isLasting: boolean;
}

const NONE: RestartPlan = { kind: "none" };

/** Decides when a server is started again. Pure. */
export function planRestart(
  before: RestartRecord,
  { servedMs, isLasting }: ServerEnd,
  { now, random }: Moment,
  config: RestartConfig,
): { readonly record: RestartRecord; readonly plan: RestartPlan } {
  const wasStable = servedMs !== undefined && servedMs >= config.longestRestartDelayMs;
  const failures = (wasStable ? 0 : before.failures) + 1;
  const restarts = before.restarts.filter((at) => at > now - config.restartWindowMs);
  const isSpent = before.isSpent || restarts.length >= config.maxRestarts;
  if (!config.restart || isLasting) return { record: { failures, restarts, isSpent: false }, plan: NONE };
  if (isSpent) {
    const delayMs = config.probeIntervalMs;
    return { record: { failures, restarts: [], isSpent }, plan: { kind: "probe", at: now + delayMs, delayMs } };
  }
  const delayMs = restartDelayMs(failures, random, config);
  const at = now + delayMs;
  const counted = config.maxRestarts === Infinity ? [] : [...restarts, at];
  return { record: { failures, restarts: counted, isSpent }, plan: { kind: "restart", at, delayMs } };
}

/** The record after someone vouched for another try. The pauses go on growing where they were. */
export function renewBudget({ failures }: RestartRecord): RestartRecord {
  return { ...CLEAN_RECORD, failures };
}

/**
 * The pause after end number `failures` in a row (1 is the first), in whole milliseconds: it doubles up to the longest, and
 * half of it is random. Pure.
 */
export function restartDelayMs(
  failures: number,
  random: number,
  { firstRestartDelayMs, longestRestartDelayMs }: Pick<RestartConfig, "firstRestartDelayMs" | "longestRestartDelayMs">,
): number {
  const doubled = firstRestartDelayMs * 2 ** Math.min(Math.max(0, failures - 1), 40);
  return Math.ceil((Math.min(longestRestartDelayMs, doubled) * (1 + random)) / 2);
}
