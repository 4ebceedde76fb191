import type { OverlayRow, ProjectionRow } from "./ports.js";

/** What a connector's gateway said of the account's connection, against the snapshot. It can only lower what is connected. */
export interface Observation {
  readonly connectorKey: string;
  /** The connection that the failing request used. */
  readonly connectionId: string | undefined;
  readonly connectionVersion: bigint;
  /** What it has to be taken for. */
  readonly state: "expired" | "disconnected";
}

/** What an observation meets. */
export interface OverlayFacts {
  /** As the last applied snapshot has it. */
  readonly row: ProjectionRow | undefined;
  /** The one that is there, of whichever connection. */
  readonly overlay: OverlayRow | undefined;
  readonly accountId: string;
  /** Fetches of the account that were started so far. */
  readonly syncSeq: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What to do with an observation. */
export type OverlayVerdict =
  /** It speaks of a connection that is not the present one any more, or that is not connected anyway. */
  | { readonly kind: "drop" }
  /** It is known already. */
  | { readonly kind: "keep" }
  | { readonly kind: "put"; readonly overlay: OverlayRow };

/** What a clearing does to an overlay. */
export type ClearingVerdict =
  | { readonly kind: "keep" }
  | { readonly kind: "put"; readonly overlay: OverlayRow }
  /** There is nothing left to remember. */
  | { readonly kind: "remove" };

const FIRST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 300_000;

/**
 * Decides what an observation does: compare-and-set on the connection that the failing request used. Pure.
 *
 * The first one for a connection version is not held. One that comes back after a clearing is held for a second, then two, up
 * to five minutes: a gateway that goes on demanding what the snapshot grants is asked ever more seldom.
 */
export function decideOverlay(observation: Observation, facts: OverlayFacts): OverlayVerdict {
  const { row, overlay, accountId, syncSeq, now } = facts;
  const { connectorKey, connectionId, connectionVersion, state } = observation;
  if (row?.state !== "connected" || !isOf(observation, row)) return { kind: "drop" };
  const fresh = { accountId, connectorKey, connectionId, connectionVersion, state, syncSeq } as const;
  if (overlay === undefined || !isOf(overlay, row)) {
    return { kind: "put", overlay: { ...fresh, phase: "standing", stepMs: 0, heldUntil: undefined } };
  }
  const { phase, stepMs, heldUntil } = overlay;
  if (phase === "cleared") {
    const step = stepMs === 0 ? FIRST_HOLD_MS : Math.min(stepMs * 2, LONGEST_HOLD_MS);
    return { kind: "put", overlay: { ...fresh, phase: "standing", stepMs: step, heldUntil: now + step } };
  }
  // A fetch that started between the two observations does not clear the later one, and takes back what it had recorded.
  if (phase === "standing" && overlay.state === state && overlay.syncSeq >= syncSeq) return { kind: "keep" };
  return { kind: "put", overlay: { ...fresh, phase: "standing", stepMs, heldUntil } };
}

/**
 * Decides what becomes of an overlay when a fetch was applied or confirmed (`fetchSeq`: its number), or when only time has
 * passed (`undefined`). `row`: as it is now. Pure.
 *
 * Another connection clears at once. A fetch that started after the observation clears it when its hold is over; before that,
 * the clearing is recorded. What was cleared is remembered for as long as the connection is the same one.
 */
export function decideClearing(
  overlay: OverlayRow,
  row: ProjectionRow | undefined,
  { fetchSeq, now }: { readonly fetchSeq: number | undefined; readonly now: number },
): ClearingVerdict {
  if (row === undefined || !isOf(overlay, row)) return { kind: "remove" };
  if (overlay.phase === "cleared") return { kind: "keep" };
  const isRecorded = overlay.phase === "clearing";
  const isLater = fetchSeq !== undefined && fetchSeq > overlay.syncSeq;
  if (!isRecorded && !isLater) return { kind: "keep" };
  if (isHeld(overlay, now)) return isRecorded ? { kind: "keep" } : withPhase(overlay, "clearing");
  return withPhase(overlay, "cleared");
}

/** A row as it counts: its own state, or the lower one that was observed here. Pure. */
export function effectiveRow(row: ProjectionRow, overlay: OverlayRow | undefined): ProjectionRow {
  const isLowered =
    overlay !== undefined && overlay.phase !== "cleared" && row.state === "connected" && isOf(overlay, row);
  return isLowered ? { ...row, state: overlay.state } : row;
}

/** No hold is longer than its step: one that ends later was made before the wall was set back. */
function isHeld({ heldUntil, stepMs }: OverlayRow, now: number): boolean {
  return heldUntil !== undefined && heldUntil > now && heldUntil - now <= stepMs;
}

function isOf(
  { connectionId, connectionVersion }: Pick<OverlayRow, "connectionId" | "connectionVersion">,
  row: ProjectionRow,
): boolean {
  return connectionVersion === row.connectionVersion && connectionId === row.connectionId;
}

function withPhase(overlay: OverlayRow, phase: OverlayRow["phase"]): ClearingVerdict {
  return { kind: "put", overlay: { ...overlay, phase } };
}
