import type { LastError, Readiness } from "./ports.js";

/** Names one key. */
interface OfKey {
  readonly scope: string;
  readonly key: string;
}

/** Names one key and the generation that it is about. */
interface OfGeneration extends OfKey {
  readonly generation: number;
}

/** A change of a row. It is kept: recorded in the transaction that makes it. */
export type TransitionFact =
  /** Something new is desired. `revokes`: everything up to this generation ended with the transaction. */
  | (OfGeneration & {
      readonly kind: "planned";
      readonly enabled: boolean;
      readonly identity: string;
      readonly revokes: number | undefined;
    })
  | (OfGeneration & { readonly kind: "run_started"; readonly runToken: number })
  /** What is desired is the case. */
  | (OfGeneration & { readonly kind: "observed"; readonly readiness: Exclude<Readiness, "failed"> })
  /** Someone else is at work on it. */
  | (OfGeneration & { readonly kind: "starting" })
  | (OfGeneration & { readonly kind: "requeued"; readonly nextAttemptAt: number })
  /** It can't be had. `reason` is the reconciler's code. */
  | (OfGeneration & { readonly kind: "terminal"; readonly reason: string })
  | (OfGeneration & {
      readonly kind: "failed";
      readonly error: LastError;
      readonly counts: boolean;
      readonly attempts: number;
      readonly parked: boolean;
      readonly nextAttemptAt: number;
    })
  /** A route that was observed is gone by itself. `error`: of what, if that is known. */
  | (OfGeneration & { readonly kind: "lost"; readonly error: LastError | undefined })
  /** The row of a key that nobody knows any more is gone, or of a scope that nobody comes back to. */
  | (OfKey & { readonly kind: "removed" });

/** Something of the moment, of which nothing is kept. */
export type NoticeFact =
  | { readonly kind: "scope_activated"; readonly scope: string; readonly epoch: string }
  | { readonly kind: "scope_shut"; readonly scope: string; readonly epoch: string }
  /** Everything up to this generation was revoked; `committed` is false when its reason was rolled back. */
  | (OfGeneration & { readonly kind: "fenced"; readonly committed: boolean })
  /** A result came too late to be written. */
  | (OfGeneration & { readonly kind: "superseded" })
  /** A run was told to end and did not; it has no right to write any more. */
  | (OfGeneration & { readonly kind: "abandoned" })
  /**
   * A store or a port failed. What it was for is tried again. `key` is undefined when it is about the whole scope, and
   * `scope` too when it is about what is kept of events.
   */
  | {
      readonly kind: "trouble";
      readonly scope: string | undefined;
      readonly key: string | undefined;
      readonly error: unknown;
    }
  /** A subscriber threw, and is no longer told anything. */
  | { readonly kind: "listener_dropped"; readonly error: unknown };

/** What happened, without its place in the order. */
export type ReconcileFact = TransitionFact | NoticeFact;

/** A transition with its place in the order. */
export type TransitionEvent = TransitionFact & {
  /** 1 for the first transition of the store, and one more each time, whichever process makes it. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** A notice, and after which transition it came. */
export type NoticeEvent = NoticeFact & {
  /** Of the last transition before it that this controller has heard of; 0 as long as it has heard of none. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** What happened, and where in the order. */
export type ReconcileEvent = TransitionEvent | NoticeEvent;

/**
 * Says that events were not kept long enough for their reader. Whatever they told is in a snapshot that is read now
 * (`Controller.status`); what follows is news.
 */
export interface EventGap {
  readonly kind: "gap";
  /** The last event that was heard. */
  readonly after: number;
  /** The last event that was missed: what follows comes after it. */
  readonly seq: number;
}
