import type { ApplyReason } from "./decide-apply.js";
import type { HoldReason, ProjectionDiagnostic } from "./diagnostic.js";
import type { Snapshot } from "./parse-snapshot.js";

/** A snapshot that counts: what it was, and what it changed. */
export interface SyncedSnapshot {
  /** In the stored form of an epoch. */
  readonly epoch: string;
  readonly revision: bigint;
  /** The fetch's number in the account; `undefined` when the store could not count it. */
  readonly syncSeq: number | undefined;
  /** Connectors whose effective state or identity changed, sorted. Planned already, in the same transaction. */
  readonly changed: readonly string[];
  /** It was the first of the scope epoch: the account is ready from now on, and everything of it wants planning. */
  readonly becameReady: boolean;
  readonly diagnostics: readonly ProjectionDiagnostic[];
}

/** What came of one fetch, told after its transaction ended. */
export type SyncEvent =
  | (SyncedSnapshot & { readonly kind: "applied"; readonly reason: ApplyReason })
  | (SyncedSnapshot & { readonly kind: "confirmed" })
  /** It goes backwards. Nothing changed; it is fetched again soon. */
  | {
      readonly kind: "held";
      readonly reason: HoldReason;
      readonly diagnostics: readonly ProjectionDiagnostic[];
      /** Epoch milliseconds. */
      readonly nextFetchAt: number;
    }
  /** Nothing changed. `error` is what the source, the store or the planner rejected with. */
  | {
      readonly kind: "failed";
      readonly during: "fetch" | "apply";
      readonly error: unknown;
      /**
       * What the store could not take in, and says more than what it has: whatever the snapshot does not grant has ended all the
       * same. `undefined` when nothing was fetched, and for a snapshot that goes backwards.
       */
      readonly unapplied: Snapshot | undefined;
      /** Failures in a row. */
      readonly failures: number;
      /** Epoch milliseconds. */
      readonly nextFetchAt: number;
    };

/** Where a sync is. */
export interface SyncState {
  /**
   * - `starting`: nothing was fetched yet.
   * - `synchronized`: the last fetch was applied or confirmed.
   * - `held`: the last snapshot went backwards.
   * - `account_not_ready`: the account's credentials are missing or refused. Nothing new is to be published.
   * - `failing`: the last fetch failed in another way.
   * - `closed`: its login ended, or its owner closed it.
   */
  readonly status: "starting" | "synchronized" | "held" | "account_not_ready" | "failing" | "closed";
  /** A snapshot was applied or confirmed in this scope epoch. Failures afterwards don't take that back. */
  readonly ready: boolean;
  readonly fetching: boolean;
  /** Failures in a row. */
  readonly failures: number;
  /** The error of the last fetch, if it failed. */
  readonly error: unknown;
  /** Epoch milliseconds; `undefined` while fetching and when closed. */
  readonly nextFetchAt: number | undefined;
  /** When a snapshot was last applied or confirmed, in epoch milliseconds. */
  readonly synchronizedAt: number | undefined;
}
