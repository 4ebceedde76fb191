import type { AccountSyncRow, ProjectionTx } from "./ports.js";

/** Rows of an account are kept for this long after it was last seen. */
const KEPT_UNSEEN_MS = 90 * 24 * 60 * 60_000;

/** Whether an account that was last seen at `seenAt` is one that nobody comes back to. Both in epoch milliseconds. Pure. */
export function isForgotten({ seenAt }: Pick<AccountSyncRow, "seenAt">, now: number): boolean {
  return now - seenAt >= KEPT_UNSEEN_MS;
}

/**
 * Removes everything that this folder keeps of an account, inside the caller's transaction. When the account comes back it is
 * one that was never seen: its first snapshot is applied, whatever its epoch and revision.
 */
export async function forgetAccount({ projections, overlays, flows }: ProjectionTx, accountId: string): Promise<void> {
  for (const { connectorKey } of await projections.list(accountId)) await projections.remove(accountId, connectorKey);
  for (const { connectorKey } of await overlays.list(accountId)) await overlays.remove(accountId, connectorKey);
  for (const { clientRequestId } of await flows.list(accountId)) await flows.remove(accountId, clientRequestId);
  await projections.removeAccount(accountId);
}
