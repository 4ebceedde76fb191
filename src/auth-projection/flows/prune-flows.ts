import type { FlowRow, FlowRows, ProjectionTx } from "../ports.js";
import { isFinished } from "./decide-flow.js";

const KEPT_MS = 24 * 3_600_000;
const KEPT = 100;

/**
 * Removes the account's finished flows after 24 hours, and the oldest of those that are more than a hundred. Flows that are not
 * over stay: they are at most one for each connector. Answers how many went.
 */
export async function pruneFlows(
  { flows }: Pick<ProjectionTx, "flows">,
  accountId: string,
  now: number,
): Promise<number> {
  const finished = (await flows.list(accountId)).filter(isFinished).sort((a, b) => b.updatedAt - a.updatedAt);
  // One that is from the future was written before the wall was set back; it goes when they are many.
  const gone = finished.filter(({ updatedAt }, index) => index >= KEPT || now - updatedAt >= KEPT_MS);
  await removeAll(flows, gone);
  return gone.length;
}

async function removeAll(flows: FlowRows, rows: readonly FlowRow[]): Promise<void> {
  for (const { accountId, clientRequestId } of rows) await flows.remove(accountId, clientRequestId);
}
