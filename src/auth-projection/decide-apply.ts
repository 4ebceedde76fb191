import type { HoldReason } from "./diagnostic.js";
import type { AccountSyncRow, AppliedSnapshot, HoldStreak } from "./ports.js";

/** Why a snapshot is applied. */
export type ApplyReason =
  /** An epoch that was never seen, or is longer gone than the four that are remembered. */
  | "new_epoch"
  | "greater_revision"
  /** The revision is known, the body is not. */
  | "different_body"
  /** Nothing is new but the scope epoch, whose first fetch this is. */
  | "first_fetch"
  /** It goes backwards, and so did those before it, for too long to be a straggler. */
  | "accepted_after_holds";

/** What to do with a snapshot. */
export type ApplyVerdict =
  | { readonly kind: "apply"; readonly reason: ApplyReason; readonly wentBackwards: HoldReason | undefined }
  /** It says what is known already. As good as applied. */
  | { readonly kind: "confirm" }
  /** It goes backwards: nothing changes but `hold`, the streak that includes it. */
  | { readonly kind: "hold"; readonly reason: HoldReason; readonly hold: HoldStreak };

/** What the verdict depends on besides the rows. */
export interface ApplyFacts {
  /** Nothing was applied or confirmed in the account's scope epoch yet. */
  readonly firstFetchOfScopeEpoch: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

const ACCEPTED_COUNT = 3;
const ACCEPTED_AFTER_MS = 60_000;

/**
 * Decides whether a snapshot moves an account forwards. Pure.
 *
 * A late answer of a replaced server must not undo what is known, so a snapshot of an epoch that was left behind, or of a
 * smaller revision, is held, on a first fetch too. A server that was restored says the same thing again and again: the
 * third held snapshot in a row of one epoch, none smaller than the one before, is accepted once the first of them is a
 * minute old.
 */
export function decideApply(
  stored: AccountSyncRow | undefined,
  snapshot: AppliedSnapshot,
  facts: ApplyFacts,
): ApplyVerdict {
  const backwards = goesBackwards(stored, snapshot);
  if (backwards !== undefined) {
    const hold = extendStreak(stored?.hold, snapshot, facts.now);
    const insisted = hold.count >= ACCEPTED_COUNT && facts.now - hold.since >= ACCEPTED_AFTER_MS;
    return insisted ? apply("accepted_after_holds", backwards) : { kind: "hold", reason: backwards, hold };
  }
  const applied = stored?.applied;
  if (applied === undefined || applied.epoch !== snapshot.epoch) return apply("new_epoch");
  if (snapshot.revision > applied.revision) return apply("greater_revision");
  if (snapshot.digest !== applied.digest) return apply("different_body");
  return facts.firstFetchOfScopeEpoch ? apply("first_fetch") : { kind: "confirm" };
}

function goesBackwards(stored: AccountSyncRow | undefined, snapshot: AppliedSnapshot): HoldReason | undefined {
  if (stored === undefined) return undefined;
  const { applied, pastEpochs } = stored;
  if (applied !== undefined && applied.epoch === snapshot.epoch) {
    return snapshot.revision < applied.revision ? "smaller_revision" : undefined;
  }
  return pastEpochs.includes(snapshot.epoch) ? "past_epoch" : undefined;
}

function extendStreak(streak: HoldStreak | undefined, snapshot: AppliedSnapshot, now: number): HoldStreak {
  const { epoch, revision } = snapshot;
  // A wall that was set back would keep the minute from ever passing: the streak begins again.
  const goesOn = streak !== undefined && streak.epoch === epoch && streak.revision <= revision && streak.since <= now;
  return goesOn ? { ...streak, revision, count: streak.count + 1 } : { epoch, revision, count: 1, since: now };
}

function apply(reason: ApplyReason, wentBackwards?: HoldReason): ApplyVerdict {
  return { kind: "apply", reason, wentBackwards };
}
