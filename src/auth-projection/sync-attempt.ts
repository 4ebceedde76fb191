import { applySnapshot, type SnapshotOutcome } from "./apply-snapshot.js";
import type { Snapshot } from "./parse-snapshot.js";
import type { ProjectionTx } from "./ports.js";
import type { SnapshotSyncConfig } from "./snapshot-sync-options.js";

/** A fetch whose snapshot was given a verdict, in a transaction that was committed. */
export interface SettledAttempt {
  readonly kind: "settled";
  readonly snapshot: Snapshot;
  readonly outcome: SnapshotOutcome;
  readonly syncSeq: number | undefined;
}

/** A fetch that changed nothing. */
export type FailedAttempt =
  | { readonly kind: "failed"; readonly during: "fetch"; readonly error: unknown }
  | { readonly kind: "failed"; readonly during: "apply"; readonly error: unknown; readonly snapshot: Snapshot };

export type SyncAttempt =
  | SettledAttempt
  | FailedAttempt
  /** The login ended meanwhile: nothing was written, and nobody is to be told. */
  | { readonly kind: "dropped" };

/**
 * Fetches a snapshot and applies it. Never rejects.
 *
 * `isLive` is asked again inside the transaction, which may have waited for its turn while the login ended.
 */
export async function attemptSync<Tx extends ProjectionTx>(
  config: SnapshotSyncConfig<Tx>,
  signal: AbortSignal,
  isLive: () => boolean,
): Promise<SyncAttempt> {
  const { clock, login, onChanged, readiness, scopeEpoch, source, store } = config;
  const { accountId } = login;
  const syncSeq = await countFetch(config);
  let snapshot: Snapshot;
  try {
    snapshot = await source.fetch(signal);
  } catch (error) {
    return isLive() ? { kind: "failed", during: "fetch", error } : { kind: "dropped" };
  }
  try {
    const outcome = await store.write(async (tx) => {
      if (!isLive()) return undefined;
      const firstFetchOfScopeEpoch = !readiness.isReady(accountId, scopeEpoch);
      const now = clock.now();
      return applySnapshot(tx, { accountId, snapshot, fetchSeq: syncSeq, firstFetchOfScopeEpoch, now, onChanged });
    });
    return outcome === undefined ? { kind: "dropped" } : { kind: "settled", snapshot, outcome, syncSeq };
  } catch (error) {
    return { kind: "failed", during: "apply", error, snapshot };
  }
}

/**
 * Numbers the fetch. A store that can't, full for example, does not prevent it: what the snapshot takes away has to be
 * planned even when the plan can't be written.
 */
async function countFetch<Tx extends ProjectionTx>(config: SnapshotSyncConfig<Tx>): Promise<number | undefined> {
  const { clock, login, store } = config;
  try {
    return await store.write((tx) => tx.projections.nextSyncSeq(login.accountId, clock.now()));
  } catch {
    return undefined;
  }
}
