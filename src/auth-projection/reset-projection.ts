import type { ProjectionTx } from "./ports.js";

/**
 * Forgets which epochs and revisions an account had, so that its next snapshot is applied whatever it says. The way out by
 * hand when a server's history can't be made sense of. Its rows stay as they are until then.
 */
export async function resetProjection(tx: ProjectionTx, accountId: string): Promise<void> {
  const account = await tx.projections.account(accountId);
  if (account === undefined) return;
  await tx.projections.putAccount({ ...account, applied: undefined, pastEpochs: [], hold: undefined });
}
