import { textOf } from "./generations.js";
import { rowName } from "./journal.js";

/** A connection as rows have it. */
export interface RowConnection {
  readonly connectionId: string;
  /** In decimal. */
  readonly connectionVersion: string;
}

/** What an identity was planned for; a connector without authorization has no connection. */
export interface PlannedIdentity {
  readonly connectionId: string | null;
  readonly connectionVersion: string;
}

/** The connection of an account's connector, as its rows have it by themselves: the snapshot's, if nothing lowers it. */
export function effectiveConnection(
  rows: ReadonlyMap<string, unknown>,
  account: string,
  key: string,
): RowConnection | undefined {
  const row = rows.get(rowName("projection", account, key));
  if (row === undefined || textOf(row, "state") !== "connected") return undefined;
  const overlay = rows.get(rowName("overlay", account, key));
  const connectionId = textOf(row, "connectionId");
  const version = textOf(row, "connectionVersion");
  const isLowered =
    overlay !== undefined &&
    textOf(overlay, "phase") !== "cleared" &&
    textOf(overlay, "connectionId") === connectionId &&
    textOf(overlay, "connectionVersion") === version;
  return isLowered ? undefined : { connectionId, connectionVersion: version.replace(/n$/, "") };
}

/** Reads what the host planned; `undefined` for what is not to be published. */
export function readIdentity(identity: string | null): PlannedIdentity | undefined {
  // That of a registered server is the digest of its settings.
  const parts: unknown = identity?.startsWith("[") === true ? JSON.parse(identity) : undefined;
  if (!Array.isArray(parts) || parts.length !== 4) return undefined;
  const [, state, connectionId, version]: unknown[] = parts;
  if (state !== "connected" || typeof version !== "string") return undefined;
  return { connectionId: typeof connectionId === "string" ? connectionId : null, connectionVersion: version };
}
