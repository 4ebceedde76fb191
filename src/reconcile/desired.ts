import { CLEAN_SCHEDULE, trustedSchedule } from "./failure-budget.js";
import type { Plan } from "./host-ports.js";
import type { ConvergenceRow, Desired } from "./ports.js";

/** What a plan does to what is desired. */
export type DesiredVerdict =
  | { readonly kind: "keep" }
  | {
      readonly kind: "replace";
      /** Everything up to this generation is revoked. */
      readonly revokes: number | undefined;
      /** It is something else, not the same thing again: failures of the old don't count. */
      readonly fresh: boolean;
    };

/**
 * Decides whether a plan needs a new generation.
 *
 * It does when it differs, and also when a fence has reached the desired generation (`fencedAt`): a route of that
 * generation would be refused, which happens when the transaction that revoked it was rolled back.
 */
export function decideDesired(current: Desired | undefined, plan: Plan, fencedAt: number | undefined): DesiredVerdict {
  if (current === undefined) return { kind: "replace", revokes: undefined, fresh: true };
  if (current.enabled === plan.enabled && current.identity === plan.identity) {
    const fenced = fencedAt !== undefined && fencedAt >= current.generation;
    return fenced ? { kind: "replace", revokes: undefined, fresh: false } : { kind: "keep" };
  }
  const revoke = plan.transition === "revoke" || (current.enabled && !plan.enabled);
  return { kind: "replace", revokes: revoke ? current.generation : undefined, fresh: true };
}

/** Where a row is, what it desires from now on, and when that is. */
export interface DesiredChange {
  readonly scope: string;
  readonly key: string;
  readonly desired: Desired;
  readonly fresh: boolean;
  readonly now: number;
}

/** The row after a change of what is desired. A run that is under way loses its right to write. */
export function withDesired(row: ConvergenceRow | undefined, change: DesiredChange): ConvergenceRow {
  const { scope, key, desired, fresh, now } = change;
  const observed = row?.observed;
  const keepsRecord = row !== undefined && !fresh;
  const record = keepsRecord
    ? { ...trustedSchedule(row, now), lastError: row.lastError }
    : { ...CLEAN_SCHEDULE, lastError: undefined };
  return { ...record, scope, key, desired, observed, runToken: undefined, updatedAt: now };
}
