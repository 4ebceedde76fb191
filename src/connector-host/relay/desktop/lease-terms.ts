import { refuseArgument } from "../../../protocol/index.js";
import { addHeaders } from "../../../transport/index.js";
import { isConnectorKey } from "../../release/index.js";

/** A connector that a guest may use, in one release. */
export interface LeasedConnector {
  readonly connectorKey: string;
  /** Of the release, as `releaseDigest` gives it. */
  readonly releaseDigest: string;
  /** Of the release. Every request is pinned to it. */
  readonly version: string;
}

/** What a guest is to be allowed. */
export interface LeaseRequest {
  /** Signed in now; the lease is for this login, and ends with it. */
  readonly accountId: string;
  readonly connectors: readonly LeasedConnector[];
  /** How long it is good for unless it is renewed, in milliseconds. The server's `leaseLifetimeMs` when left out. */
  readonly lifetimeMs?: number | undefined;
}

/** A lease as its guest is told of it. */
export interface GrantedLease {
  /** Names the lease on the desktop's side. No secret. */
  readonly leaseId: string;
  /** The guest's bearer: 32 random bytes. Only its hash is kept. */
  readonly bearer: string;
}

/** What a lease says. */
export interface LeaseTerms {
  readonly accountId: string;
  readonly loginGeneration: number;
  /** By key. */
  readonly connectors: ReadonlyMap<string, LeasedConnector>;
}

/**
 * Checks what a lease is asked for, and copies it. Throws `invalid_argument` for what is no connector, or named twice, and
 * `invalid_header` for a version that no header can carry.
 */
export function leaseConnectors(connectors: readonly LeasedConnector[]): ReadonlyMap<string, LeasedConnector> {
  const byKey = new Map<string, LeasedConnector>();
  for (const { connectorKey, releaseDigest, version } of connectors) {
    if (!isConnectorKey(connectorKey)) refuseArgument("connectors", "must have connector keys");
    if (byKey.has(connectorKey)) refuseArgument("connectors", `must name ${connectorKey} once`);
    if (releaseDigest === "" || version === "")
      refuseArgument("connectors", "must have a release's digest and version");
    addHeaders([], { "X-Version": version });
    byKey.set(connectorKey, { connectorKey, releaseDigest, version });
  }
  return byKey;
}
