import { accountFault, boundedPauseMs, type FaultMoment } from "./failure-budget.js";
import type { FaultClass, RouteToken, RunOutcome } from "./host-ports.js";
import { boundedText, describeError } from "./last-error.js";
import type { ReconcileConfig } from "./limits.js";
import type { ConvergenceRow, Observed, Readiness } from "./ports.js";

/** A run as its result is judged: which route it was for, and its right to write. */
export interface RunRecord extends RouteToken {
  readonly runToken: number;
}

/**
 * Whether the result of a run may still be written: nothing newer is desired, no other run has begun, and no fence has
 * reached it.
 */
export function mayWrite(row: ConvergenceRow | undefined, run: RunRecord, fencedAt: number | undefined): boolean {
  if (row === undefined || row.desired.generation !== run.generation || row.runToken !== run.runToken) return false;
  return fencedAt === undefined || fencedAt < run.generation;
}

/** The row after an outcome for what it desires. `fault` is the class of the failure, for an outcome that is one. */
export function applyOutcome(
  row: ConvergenceRow,
  outcome: RunOutcome,
  moment: FaultMoment,
  config: ReconcileConfig,
  fault: FaultClass,
): ConvergenceRow {
  const ended: ConvergenceRow = { ...row, runToken: undefined, updatedAt: moment.now };
  switch (outcome.kind) {
    case "done": {
      const readiness = row.desired.enabled ? outcome.readiness : "off";
      return { ...ended, ...TRIED, lastError: undefined, observed: observe(row, readiness, moment) };
    }
    case "starting":
      return { ...ended, ...TRIED };
    case "requeue":
      return { ...ended, nextAttemptAt: moment.now + boundedPauseMs(outcome.afterMs), notBefore: undefined };
    case "terminal": {
      const lastError = { code: boundedText(outcome.reason), message: boundedText(outcome.message ?? "") };
      return { ...ended, ...TRIED, lastError, observed: observe(row, "failed", moment) };
    }
    case "fault":
      return {
        ...ended,
        ...accountFault(row, fault, moment, config),
        lastError: describeError(outcome.error),
        observed: withoutDesired(row),
      };
  }
}

const TRIED = { nextAttemptAt: undefined, notBefore: undefined };

function observe({ desired, observed }: ConvergenceRow, readiness: Readiness, moment: FaultMoment): Observed {
  const same =
    observed?.generation === desired.generation &&
    observed.epoch === moment.epoch &&
    observed.readiness === readiness &&
    observed.since <= moment.now;
  return { ...desired, epoch: moment.epoch, readiness, since: same ? observed.since : moment.now };
}

/** What failed is not observed any more; an older generation, which it was to replace, still is. */
function withoutDesired({ desired, observed }: ConvergenceRow): Observed | undefined {
  return observed?.generation === desired.generation ? undefined : observed;
}
