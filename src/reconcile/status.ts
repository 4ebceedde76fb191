import type { DueVerdict } from "./due.js";
import { isParked } from "./failure-budget.js";
import type { LaneState } from "./keyed-queue.js";
import type { ReconcileConfig } from "./limits.js";
import type { ConvergenceRow, LastError, Readiness } from "./ports.js";

/**
 * What a key is at.
 *
 * - `inactive`: its scope is shut.
 * - `queued`, `running`: its turn comes, or has come, and nothing came of it yet.
 * - `starting`: someone else is at work on it and will report.
 * - `waiting`: it failed, and is tried again at `nextAttemptAt`.
 * - `parked`: it failed so often that it is only probed.
 * - `failed`: it can't be had.
 * - `converged`: it is what it should be.
 */
export type KeyActivity =
  | "inactive"
  | "queued"
  | "running"
  | "starting"
  | "waiting"
  | "parked"
  | "failed"
  | "converged";

/** One key, for people and for calls that need it. Times are epoch milliseconds. */
export interface KeyStatus {
  readonly scope: string;
  readonly key: string;
  readonly activity: KeyActivity;
  /** What is desired. */
  readonly generation: number;
  readonly enabled: boolean;
  readonly identity: string;
  /** What is observed in the scope's present epoch, of whichever generation. */
  readonly readiness: Readiness | undefined;
  /** Since when that is observed, or else when the row last changed. */
  readonly since: number;
  readonly attempts: number;
  readonly failures: number;
  /** Set when `waiting` or `parked`. */
  readonly nextAttemptAt: number | undefined;
  readonly lastError: LastError | undefined;
}

/** What beside its row tells what a key is at. */
export interface StatusFacts {
  /** `undefined` when the scope is shut. */
  readonly epoch: string | undefined;
  readonly verdict: DueVerdict;
  readonly lane: LaneState;
}

/** Describes a row. */
export function describeKey(row: ConvergenceRow, facts: StatusFacts, config: ReconcileConfig): KeyStatus {
  const { scope, key, desired, attempts, failures, lastError } = row;
  const observed = row.observed?.epoch === facts.epoch ? row.observed : undefined;
  return {
    scope,
    key,
    activity: facts.epoch === undefined ? "inactive" : activityOf(row, facts, config),
    generation: desired.generation,
    enabled: desired.enabled,
    identity: desired.identity,
    readiness: observed?.readiness,
    since: observed?.since ?? row.updatedAt,
    attempts,
    failures,
    nextAttemptAt: facts.verdict.kind === "later" ? facts.verdict.at : undefined,
    lastError,
  };
}

function activityOf(row: ConvergenceRow, { verdict, lane }: StatusFacts, config: ReconcileConfig): KeyActivity {
  // What a run has written down is so, also while it is still told of: nobody is told again when it has ended.
  if (lane === "running" && verdict.kind !== "converged") return "running";
  switch (verdict.kind) {
    case "converged":
      return row.observed?.readiness === "failed" ? "failed" : "converged";
    case "starting":
      return "starting";
    case "later":
      return isParked(row, config) ? "parked" : "waiting";
    case "run":
      return "queued";
  }
}
