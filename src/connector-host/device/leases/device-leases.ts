import type { McpClient } from "../../../connect/index.js";
import type { LegacyRevision } from "../../../protocol/index.js";
import type { InputRelay } from "../../../protocol/input/index.js";
import type { CallLeases, RemoteMcpClient } from "../../factories/index.js";

/** The leases of one open server. */
export interface DeviceLeases extends CallLeases<RemoteMcpClient> {
  /** Whoever waits is refused (`cancelled`, `not_sent`), and the connections that were opened for leases end. Never rejects. Idempotent. */
  close(): Promise<void>;
}

/** A connection that was opened for leases. */
export interface LeasedServer {
  readonly client: McpClient;
  /** Resolves when it ended by itself; stays open where nobody can know. */
  readonly exited: Promise<unknown>;
}

/** Opens another connection to a server that is known to speak `revision`. Rejects when nothing of it is left, soon after the signal fired. */
export type OpenLeased = (relay: InputRelay, revision: LegacyRevision, signal: AbortSignal) => Promise<LeasedServer>;
