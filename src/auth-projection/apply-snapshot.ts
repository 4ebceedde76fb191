import type { ChangePlanner } from "./change-planner.js";
import { type ApplyFacts, type ApplyVerdict, decideApply } from "./decide-apply.js";
import { effectiveRow } from "./decide-overlay.js";
import { boundDiagnostics, type ProjectionDiagnostic } from "./diagnostic.js";
import { byKey, clearOverlays } from "./overlays.js";
import type { Snapshot, SnapshotEntry } from "./parse-snapshot.js";
import type { AccountSyncRow, OverlayRow, ProjectionRow, ProjectionTx } from "./ports.js";

/** One snapshot for one account. */
export interface SnapshotApplication<Tx> extends ApplyFacts {
  readonly accountId: string;
  readonly snapshot: Snapshot;
  /** The number of the fetch that brought it: it clears what was observed before that fetch began. Without one, it clears nothing. */
  readonly fetchSeq?: number | undefined;
  readonly onChanged: ChangePlanner<Tx>;
}

/** What became of a snapshot. */
export interface SnapshotOutcome {
  readonly verdict: ApplyVerdict;
  /** Connectors whose effective state or identity changed, local observations included, sorted. */
  readonly changed: readonly string[];
  /** Those of the snapshot included. Bounded. */
  readonly diagnostics: readonly ProjectionDiagnostic[];
  /** When a clearing that is recorded takes effect, in epoch milliseconds. Not looked at when the snapshot was held. */
  readonly nextClearingAt: number | undefined;
}

/** An account's rows by connector, before and after a snapshot, and what was observed beside those before. */
interface AccountRows {
  readonly before: ReadonlyMap<string, ProjectionRow>;
  readonly after: ReadonlyMap<string, ProjectionRow>;
  readonly overlays: ReadonlyMap<string, OverlayRow>;
}

const EPOCHS_KEPT = 4;

/**
 * Applies a snapshot to the rows of its account, or confirms or holds it, inside the caller's transaction.
 *
 * A connector that had a row and is not in an applied snapshot becomes `disconnected`; a row that says so already is
 * removed instead, so that an account has no more rows than its last two snapshots have connectors. A row is written as
 * the snapshot has it even where its connection version is smaller than before: no row is kept more permissive.
 */
export async function applySnapshot<Tx extends ProjectionTx>(
  tx: Tx,
  application: SnapshotApplication<Tx>,
): Promise<SnapshotOutcome> {
  const { accountId, snapshot } = application;
  const stored = await tx.projections.account(accountId);
  const account = stored ?? emptyAccount(accountId, application.now);
  const verdict = decideApply(stored, snapshot, application);
  if (verdict.kind === "hold") {
    const { reason, hold } = verdict;
    await tx.projections.putAccount({ ...account, hold });
    const held = { kind: "snapshot_held", reason, revision: snapshot.revision, count: hold.count } as const;
    return { verdict, changed: [], diagnostics: [held], nextClearingAt: undefined };
  }
  const overlays = byKey(await tx.overlays.list(accountId));
  if (verdict.kind === "confirm") {
    if (account.hold !== undefined) await tx.projections.putAccount({ ...account, hold: undefined });
    // The rows stay as they are, and are only looked at for what was observed beside them.
    const rows = overlays.size === 0 ? new Map<string, ProjectionRow>() : byKey(await tx.projections.list(accountId));
    const settled = await settle(tx, application, { before: rows, after: rows, overlays });
    return { verdict, diagnostics: snapshot.diagnostics, ...settled };
  }
  const before = byKey(await tx.projections.list(accountId));
  const noted: ProjectionDiagnostic[] = [];
  if (verdict.wentBackwards !== undefined) {
    noted.push({ kind: "hold_accepted", reason: verdict.wentBackwards, revision: snapshot.revision });
  }
  await tx.projections.putAccount(advance(account, snapshot));
  const after = await writeRows(tx, application, { before, epochBefore: account.applied?.epoch, noted });
  const settled = await settle(tx, application, { before, after, overlays });
  return { verdict, diagnostics: boundDiagnostics([...noted, ...snapshot.diagnostics]), ...settled };
}

/** Clears what was observed before the fetch began, and plans what counts otherwise than before. */
async function settle<Tx extends ProjectionTx>(
  tx: Tx,
  { fetchSeq, now, onChanged }: SnapshotApplication<Tx>,
  { before, after, overlays }: AccountRows,
): Promise<Pick<SnapshotOutcome, "changed" | "nextClearingAt">> {
  const { left, nextClearingAt } = await clearOverlays(tx, after, overlays.values(), { fetchSeq, now });
  const changed: string[] = [];
  for (const [key, row] of after) {
    const was = before.get(key);
    if (isChange(was && effectiveRow(was, overlays.get(key)), effectiveRow(row, left.get(key)))) changed.push(key);
  }
  changed.sort();
  if (changed.length > 0) await onChanged(tx, changed);
  return { changed, nextClearingAt };
}

/** What a snapshot is written over. */
interface PresentRows {
  readonly before: ReadonlyMap<string, ProjectionRow>;
  /** The epoch that the account was in. */
  readonly epochBefore: string | undefined;
  readonly noted: ProjectionDiagnostic[];
}

/** Answers the account's rows as they are now. */
async function writeRows<Tx extends ProjectionTx>(
  { projections }: Tx,
  { accountId, snapshot, now }: SnapshotApplication<Tx>,
  { before: present, epochBefore, noted }: PresentRows,
): Promise<ReadonlyMap<string, ProjectionRow>> {
  const { epoch, revision } = snapshot;
  const left = new Map(present);
  const rows = new Map(present);

  const write = async (before: ProjectionRow | undefined, entry: SnapshotEntry): Promise<void> => {
    const differs = isChange(before, entry);
    // Of thousands of connectors few change with a revision: the others cost no write.
    if (!differs && before !== undefined && before.quarantined === entry.quarantined) return;
    const updatedAt = differs || before === undefined ? now : before.updatedAt;
    const row = { ...entry, accountId, epoch, revision, updatedAt };
    rows.set(entry.connectorKey, row);
    await projections.put(row);
  };

  for (const entry of snapshot.entries) {
    const before = left.get(entry.connectorKey);
    left.delete(entry.connectorKey);
    if (before !== undefined && epochBefore === epoch && hasFallen(before, entry)) {
      const { connectorKey, connectionVersion: to } = entry;
      noted.push({ kind: "connection_version_decreased", connectorKey, from: before.connectionVersion, to });
    }
    await write(before, entry);
  }
  for (const row of left.values()) {
    if (row.state === "disconnected") {
      rows.delete(row.connectorKey);
      await projections.remove(accountId, row.connectorKey);
    } else await write(row, gone(row));
  }
  return rows;
}

/** A connector without a row is as good as one that was never connected. */
function isChange(before: ProjectionRow | undefined, entry: SnapshotEntry): boolean {
  return (
    (before?.state ?? "disconnected") !== entry.state ||
    before?.connectionId !== entry.connectionId ||
    (before?.connectionVersion ?? 0n) !== entry.connectionVersion ||
    before?.connectorVersion !== entry.connectorVersion
  );
}

function hasFallen(before: ProjectionRow, entry: SnapshotEntry): boolean {
  return (
    before.state === "connected" &&
    entry.state === "connected" &&
    before.connectionId === entry.connectionId &&
    entry.connectionVersion < before.connectionVersion
  );
}

function gone({ connectorKey, connectorVersion }: ProjectionRow): SnapshotEntry {
  return {
    connectorKey,
    connectorVersion,
    state: "disconnected",
    connectionId: undefined,
    connectionVersion: 0n,
    quarantined: undefined,
  };
}

function advance(account: AccountSyncRow, { epoch, revision, digest }: Snapshot): AccountSyncRow {
  const leaving = account.applied?.epoch;
  const past = leaving === undefined ? account.pastEpochs : [leaving, ...account.pastEpochs];
  // An epoch that is left and entered again is in the list once, and never while it is the current one.
  const pastEpochs = [...new Set(past)].filter((other) => other !== epoch).slice(0, EPOCHS_KEPT);
  return { ...account, applied: { epoch, revision, digest }, pastEpochs, hold: undefined };
}

function emptyAccount(accountId: string, now: number): AccountSyncRow {
  return { accountId, syncSeq: 0, applied: undefined, pastEpochs: [], hold: undefined, seenAt: now };
}
