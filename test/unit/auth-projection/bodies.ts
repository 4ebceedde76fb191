import { parseSnapshot, type Snapshot } from "../../../src/auth-projection/index.js";

/** An entry of a snapshot's body, connected unless told otherwise. */
export function entry(connectorId: string, members: object = {}): Record<string, unknown> {
  return {
    connectorId,
    connectorVersion: "1.0.0",
    state: "connected",
    connectionId: `conn-${connectorId}`,
    connectionVersion: "1",
    ...members,
  };
}

export function bytes(body: unknown): Uint8Array {
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

export function snapshot(
  revision: number | string,
  connectors: readonly unknown[] = [],
  members: object = {},
): Snapshot {
  return parseSnapshot(bytes({ revision, connectors, ...members }));
}
