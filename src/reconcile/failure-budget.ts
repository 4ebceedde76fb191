import { backoffMs } from "./backoff.js";
import type { FaultClass } from "./host-ports.js";
import type { ReconcileConfig } from "./limits.js";
import type { ConvergenceRow, Random } from "./ports.js";

/** Nobody can ask for a longer pause than this: a mistaken number must not lose a key. */
const LONGEST_PAUSE_MS = 24 * 60 * 60_000;

/** The moment of a failure. */
export interface FaultMoment {
  /** The scope's epoch. */
  readonly epoch: string;
  readonly now: number;
  readonly random: Random;
}

/** The members of a row that say when to try again. */
export type Schedule = Pick<ConvergenceRow, "attempts" | "failures" | "nextAttemptAt" | "notBefore">;

const NO_PAUSE = { nextAttemptAt: undefined, notBefore: undefined };

/** A record without a stain. */
export const CLEAN_SCHEDULE: Schedule = { attempts: 0, failures: 0, ...NO_PAUSE };

/**
 * The row's schedule as far as it may be written again at `now`. Times from the future, of a clock that was set back since the
 * row was written, are not: together with the new time of the row they would count.
 */
export function trustedSchedule({ updatedAt, ...row }: ConvergenceRow, now: number): Schedule {
  const { attempts, failures, nextAttemptAt, notBefore } = updatedAt > now ? { ...row, ...NO_PAUSE } : row;
  return { attempts, failures, nextAttemptAt, notBefore };
}

/** Whether the key has used its budget up: it is parked, and only probed. */
export function isParked(schedule: Schedule, config: ReconcileConfig): boolean {
  return schedule.failures >= config.failureBudget;
}

/**
 * The row's schedule after one more failure: backed off, or parked when the budget is used up.
 *
 * Failures are forgotten only when what is desired was ready for a whole healthy minute before this one; that it could be
 * started is not enough, or something that dies a second after each start would never be parked.
 */
export function accountFault(
  row: ConvergenceRow,
  fault: FaultClass,
  moment: FaultMoment,
  config: ReconcileConfig,
): Schedule {
  const healthy = healthyMs(row, moment) >= config.healthyAfterMs;
  const attempts = (healthy ? 0 : row.attempts) + 1;
  const failures = (healthy ? 0 : row.failures) + (fault.counts ? 1 : 0);
  const notBefore = retryTime(fault, moment.now);
  const parked = isParked({ ...CLEAN_SCHEDULE, failures }, config);
  const pauseMs = parked ? config.probeIntervalMs : backoffMs(attempts, moment.random, config);
  return { attempts, failures, nextAttemptAt: Math.max(moment.now + pauseMs, notBefore ?? 0), notBefore };
}

/** For how long what is desired now has been ready, in this epoch. */
function healthyMs({ desired, observed }: ConvergenceRow, { epoch, now }: FaultMoment): number {
  if (observed === undefined || observed.readiness !== "ready") return 0;
  return observed.generation === desired.generation && observed.epoch === epoch ? now - observed.since : 0;
}

function retryTime({ retryAfterMs }: FaultClass, now: number): number | undefined {
  return retryAfterMs === undefined ? undefined : now + boundedPauseMs(retryAfterMs);
}

/** A pause that someone else asked for, as whole milliseconds from nothing to a day. */
export function boundedPauseMs(pauseMs: number): number {
  return pauseMs > 0 ? Math.min(Math.ceil(pauseMs), LONGEST_PAUSE_MS) : 0;
}
