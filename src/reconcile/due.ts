import type { ConvergenceRow } from "./ports.js";

/** What beside its row decides whether a key runs. */
export interface DueFacts {
  /** The scope's present epoch. */
  readonly epoch: string;
  readonly now: number;
  /** The route of the desired generation is there. */
  readonly holds: boolean;
  /** Someone is at work on the desired generation and will report. */
  readonly starting: boolean;
  /** Something needs the key: its own pause does not hold it back. */
  readonly probing: boolean;
}

/** Why a key is due. */
export type DueReason = "never_observed" | "desired_changed" | "other_epoch" | "route_missing";

/** Whether a key runs now. */
export type DueVerdict =
  | { readonly kind: "converged" }
  | { readonly kind: "run"; readonly why: DueReason }
  /** Due, and someone is on it. */
  | { readonly kind: "starting"; readonly why: DueReason }
  /** Due, but not before `at`. */
  | { readonly kind: "later"; readonly why: DueReason; readonly at: number };

/**
 * Decides from the row whether a key has to be worked on, and from its schedule whether that may be now.
 *
 * Being due is a property of what is stored and of what is there, never of what was queued: that is why nothing is lost
 * when a process dies.
 */
export function decideDue(row: ConvergenceRow, facts: DueFacts): DueVerdict {
  const why = dueReason(row, facts);
  if (why === undefined) return { kind: "converged" };
  if (facts.starting) return { kind: "starting", why };
  const at = Math.max(row.notBefore ?? 0, facts.probing ? 0 : (row.nextAttemptAt ?? 0));
  // Times from the future of a clock that was set back since would hold the key for as long as it was set back.
  const trusted = row.updatedAt <= facts.now;
  return trusted && at > facts.now ? { kind: "later", why, at } : { kind: "run", why };
}

function dueReason({ desired, observed }: ConvergenceRow, facts: DueFacts): DueReason | undefined {
  if (observed === undefined) return "never_observed";
  if (observed.epoch !== facts.epoch) return "other_epoch";
  const same = observed.generation === desired.generation && observed.enabled === desired.enabled;
  if (!same || observed.identity !== desired.identity) return "desired_changed";
  const wantsRoute = observed.enabled && observed.readiness !== "failed";
  return wantsRoute && !facts.holds ? "route_missing" : undefined;
}
