import { createHash } from "node:crypto";
import { RemoteConnectorError } from "../errors.js";
import { isJsonObject, type JsonObject } from "../protocol/index.js";
import { boundDiagnostics, type ProjectionDiagnostic } from "./diagnostic.js";
import { epochKey } from "./epoch-key.js";
import { isConnectorKey, isIdentifier } from "./identifiers.js";
import type { AppliedSnapshot, AuthorizationState, ProjectionRow, QuarantineReason } from "./ports.js";
import { readUnsigned } from "./unsigned.js";

/** What a snapshot says of one connector. A quarantined entry is `disconnected` and has no connection. */
export type SnapshotEntry = Pick<
  ProjectionRow,
  "connectorKey" | "connectorVersion" | "state" | "connectionId" | "connectionVersion" | "quarantined"
>;

/** The server's statement about one account. */
export interface Snapshot extends AppliedSnapshot {
  /** One per connector, ordered by key in code units. */
  readonly entries: readonly SnapshotEntry[];
  /** One per quarantined entry, bounded. */
  readonly diagnostics: readonly ProjectionDiagnostic[];
}

/** The server's words for a state, in lower case; it may write them in either. */
const STATES: ReadonlyMap<string, AuthorizationState> = new Map([
  ["connected", "connected"],
  ["reauth_required", "expired"],
  ["disconnected", "disconnected"],
]);

const MAX_ENTRIES = 50_000;

/**
 * Reads the body of an authorization snapshot.
 *
 * Any bytes give a snapshot or `invalid_snapshot` (answered), nothing else. Whole snapshots fail on what concerns all of
 * it: JSON, `revision`, `epoch`, the list itself. An entry that can't be used costs only its own connector: it is
 * quarantined, with a diagnostic. Two entries of one id are both refused, since neither is more true.
 *
 * `connectors` left out or null is an empty list: serializers that drop empty lists write it so, and to refuse it would
 * keep alive the very connection whose end it reports.
 */
export function parseSnapshot(body: Uint8Array): Snapshot {
  const root = parseJson(body);
  if (!isJsonObject(root)) throw invalid("the body is no object");
  const revision = readUnsigned(root.revision);
  if (revision === undefined) throw invalid("revision is no unsigned 64-bit integer");
  const epoch = root.epoch ?? undefined;
  if (epoch !== undefined && epoch !== "" && !isIdentifier(epoch)) throw invalid("epoch is no usable string");
  const connectors = root.connectors ?? [];
  if (!Array.isArray(connectors)) throw invalid("connectors is no list");
  if (connectors.length > MAX_ENTRIES) throw invalid(`connectors has more than ${String(MAX_ENTRIES)} entries`);
  const { entries, diagnostics } = readEntries(connectors);
  const digest = createHash("sha256").update(body).digest("hex");
  return { epoch: epochKey(epoch), revision, digest, entries, diagnostics };
}

function readEntries(connectors: readonly unknown[]): Pick<Snapshot, "entries" | "diagnostics"> {
  const byKey = new Map<string, SnapshotEntry>();
  const diagnostics: ProjectionDiagnostic[] = [];
  for (const [index, value] of connectors.entries()) {
    const read = readEntry(value);
    const { connectorKey } = read;
    const conflicting = connectorKey !== undefined && byKey.has(connectorKey);
    const fault: Fault | undefined = conflicting ? { reason: "conflict", member: "connectorId" } : read.fault;
    if (fault !== undefined) diagnostics.push({ kind: "entry_quarantined", connectorKey, index, ...fault });
    if (connectorKey === undefined) continue;
    const entry = read.entry ?? quarantine(connectorKey, read.connectorVersion, read.fault.reason);
    byKey.set(connectorKey, conflicting ? quarantine(connectorKey, undefined, "conflict") : entry);
  }
  const entries = [...byKey.values()].sort((a, b) => (a.connectorKey < b.connectorKey ? -1 : 1));
  return { entries, diagnostics: boundDiagnostics(diagnostics) };
}

interface Fault {
  readonly reason: QuarantineReason;
  readonly member: string;
}

type EntryRead =
  | { readonly connectorKey: string; readonly entry: SnapshotEntry; readonly fault: undefined }
  | {
      readonly connectorKey: string | undefined;
      readonly connectorVersion: string | undefined;
      readonly entry: undefined;
      readonly fault: Fault;
    };

function readEntry(value: unknown): EntryRead {
  const members: JsonObject = isJsonObject(value) ? value : {};
  const connectorKey = isConnectorKey(members.connectorId) ? members.connectorId : undefined;
  const connectorVersion = isIdentifier(members.connectorVersion) ? members.connectorVersion : undefined;
  const refuse = (
    member: string,
    reason: QuarantineReason = isGiven(members, member) ? "invalid_member" : "missing_member",
  ) => ({ connectorKey, connectorVersion, entry: undefined, fault: { reason, member } }) as const;

  if (connectorKey === undefined) return refuse("connectorId");
  if (connectorVersion === undefined) return refuse("connectorVersion");
  if (typeof members.state !== "string") return refuse("state");
  const state = STATES.get(members.state.toLowerCase());
  if (state === undefined) return refuse("state", "unknown_state");

  const connectionId = isIdentifier(members.connectionId) ? members.connectionId : undefined;
  if (connectionId === undefined && (state === "connected" || isGiven(members, "connectionId"))) {
    return refuse("connectionId");
  }
  const hasVersion = state !== "disconnected" || isGiven(members, "connectionVersion");
  const connectionVersion = hasVersion ? readUnsigned(members.connectionVersion) : 0n;
  if (connectionVersion === undefined) return refuse("connectionVersion");

  const entry = { connectorKey, connectorVersion, state, connectionId, connectionVersion, quarantined: undefined };
  return { connectorKey, entry, fault: undefined };
}

/** Serializers write what is not there in three ways. */
function isGiven(members: JsonObject, member: string): boolean {
  const value = members[member];
  return value !== undefined && value !== null && value !== "";
}

function quarantine(
  connectorKey: string,
  connectorVersion: string | undefined,
  quarantined: QuarantineReason,
): SnapshotEntry {
  return {
    connectorKey,
    connectorVersion,
    state: "disconnected",
    connectionId: undefined,
    connectionVersion: 0n,
    quarantined,
  };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // The parser's error quotes the body, which is not for errors.
    throw invalid("the body is no JSON in UTF-8");
  }
}

function invalid(reason: string): RemoteConnectorError<"invalid_snapshot"> {
  return new RemoteConnectorError("invalid_snapshot", {
    message: `The authorization snapshot can't be read: ${reason}`,
    delivery: "answered",
    details: { reason },
  });
}
