import type { ChangePlanner } from "./change-planner.js";
import {
  decideClearing,
  decideOverlay,
  effectiveRow,
  type Observation,
  type OverlayVerdict,
} from "./decide-overlay.js";
import type { OverlayRow, ProjectionRow, ProjectionTx } from "./ports.js";

/** What a look at an account's overlays did. */
export interface OverlayClearing {
  /** Those that are left, by connector. */
  readonly left: ReadonlyMap<string, OverlayRow>;
  /** When the next recorded clearing takes effect, in epoch milliseconds; `undefined` when none is recorded. */
  readonly nextClearingAt: number | undefined;
}

/** An observation, and whose it is. */
export interface ObservationWrite<Tx> {
  readonly accountId: string;
  readonly observation: Observation;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly onChanged: ChangePlanner<Tx>;
}

/** Writes an observation beside its row, inside the caller's transaction, and plans the connector if that lowers it. */
export async function writeObservation<Tx extends ProjectionTx>(
  tx: Tx,
  { accountId, observation, now, onChanged }: ObservationWrite<Tx>,
): Promise<OverlayVerdict> {
  const { connectorKey } = observation;
  const row = await tx.projections.get(accountId, connectorKey);
  const overlay = await tx.overlays.get(accountId, connectorKey);
  const syncSeq = (await tx.projections.account(accountId))?.syncSeq ?? 0;
  const verdict = decideOverlay(observation, { row, overlay, accountId, syncSeq, now });
  if (verdict.kind !== "put" || row === undefined) return verdict;
  await tx.overlays.put(verdict.overlay);
  const isLower = effectiveRow(row, verdict.overlay).state !== effectiveRow(row, overlay).state;
  if (isLower) await onChanged(tx, [connectorKey]);
  return verdict;
}

/**
 * Clears the account's overlays as far as they can be, by its rows as they are now. `fetchSeq`: the number of the fetch that
 * was applied or confirmed; `undefined`: only time has passed. Plans nothing.
 */
export async function clearOverlays(
  { overlays }: ProjectionTx,
  rows: ReadonlyMap<string, ProjectionRow>,
  before: Iterable<OverlayRow>,
  facts: { readonly fetchSeq: number | undefined; readonly now: number },
): Promise<OverlayClearing> {
  const left = new Map<string, OverlayRow>();
  let nextClearingAt: number | undefined;
  for (const overlay of before) {
    const { accountId, connectorKey } = overlay;
    const verdict = decideClearing(overlay, rows.get(connectorKey), facts);
    if (verdict.kind === "remove") {
      await overlays.remove(accountId, connectorKey);
      continue;
    }
    const after = verdict.kind === "put" ? verdict.overlay : overlay;
    if (verdict.kind === "put") await overlays.put(after);
    left.set(connectorKey, after);
    if (after.phase !== "clearing") continue;
    const at = after.heldUntil ?? facts.now;
    if (nextClearingAt === undefined || at < nextClearingAt) nextClearingAt = at;
  }
  return { left, nextClearingAt };
}

/** Lets recorded clearings whose time has come take effect, and plans what they bring back. Answers when the next one does. */
export async function clearDueOverlays<Tx extends ProjectionTx>(
  tx: Tx,
  accountId: string,
  now: number,
  onChanged: ChangePlanner<Tx>,
): Promise<number | undefined> {
  const rows = byKey(await tx.projections.list(accountId));
  const before = byKey(await tx.overlays.list(accountId));
  const { left, nextClearingAt } = await clearOverlays(tx, rows, before.values(), { fetchSeq: undefined, now });
  const changed = [...rows.values()]
    .filter((row) => {
      const { connectorKey } = row;
      return effectiveRow(row, before.get(connectorKey)).state !== effectiveRow(row, left.get(connectorKey)).state;
    })
    .map(({ connectorKey }) => connectorKey);
  if (changed.length > 0) await onChanged(tx, changed);
  return nextClearingAt;
}

/** Rows of one account by connector. */
export function byKey<Row extends { readonly connectorKey: string }>(rows: Iterable<Row>): Map<string, Row> {
  return new Map(Array.from(rows, (row) => [row.connectorKey, row]));
}
