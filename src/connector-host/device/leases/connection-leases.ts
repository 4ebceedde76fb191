import type { McpClient } from "../../../connect/index.js";
import { RemoteConnectorError } from "../../../errors.js";
import { isLegacyRevision, type JsonObject } from "../../../protocol/index.js";
import { type Clock, closedError } from "../../../transport/index.js";
import type { CallLease, CallLeaseRequest, RemoteMcpClient } from "../../factories/index.js";
import { canonicalJson } from "../../release/index.js";
import type { DeviceLeases, OpenLeased } from "./device-leases.js";
import { FairTurns } from "./fair-turns.js";
import { commonCapabilities } from "./lease-capabilities.js";
import { LeasedConnection } from "./leased-connection.js";

export interface ConnectionLeasesPorts {
  /** The shared client, to which nothing is declared. */
  readonly plain: McpClient;
  /** What the connector is opened for, as client capabilities. */
  readonly offered: JsonObject;
  readonly open: OpenLeased;
  /** Connections beside the plain one. */
  readonly maxLeasedConnections: number;
  readonly maxWaitingLeases: number;
  readonly clock: Clock;
}

/** How long a connection that no call has is kept for the next one of its holder. */
const IDLE_MS = 60_000;

/**
 * The connections of a server over HTTP beside its plain one, opened when they are wanted and ended when nobody wanted them for a minute.
 *
 * Each one has declared what the call that it was opened for could be asked, and is given again only to the same holder with the same:
 * what one agent was asked, and what it answered, may be in the server's session.
 */
export class ConnectionLeases implements DeviceLeases {
  readonly #ports: ConnectionLeasesPorts;
  readonly #turns: FairTurns;
  /** Those that a call has, and those that wait for one, in the order in which they were last released. */
  readonly #connections = new Set<LeasedConnection>();
  /** Ends that are under way. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #over = new AbortController();

  constructor(ports: ConnectionLeasesPorts) {
    const { maxLeasedConnections: turns, maxWaitingLeases } = ports;
    this.#ports = ports;
    this.#turns = new FairTurns({ turns, maxWaitingLeases });
  }

  /** Rejects as {@link FairTurns.take} does, and with what opening a connection rejects with, which is `not_sent` to the call. */
  async acquire(request: CallLeaseRequest): Promise<CallLease<RemoteMcpClient>> {
    const { plain, offered } = this.#ports;
    const capabilities = commonCapabilities(offered, request.capabilities);
    if (Object.keys(capabilities).length === 0) return { client: plain, release: nothing };
    await this.#turns.take(request.signal);
    try {
      return this.#leaseOf(await this.#connect(request, capabilities));
    } catch (error) {
      this.#turns.give();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#over.abort(closedError());
    this.#turns.close();
    for (const connection of this.#connections) this.#drop(connection);
    await Promise.all(this.#leaving);
  }

  #leaseOf(connection: LeasedConnection): CallLease<RemoteMcpClient> {
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      connection.endCall();
      if (connection.isUsable && this.#connections.has(connection)) this.#keep(connection);
      else this.#drop(connection);
      this.#turns.give();
    };
    return { client: connection.client, release };
  }

  async #connect(request: CallLeaseRequest, capabilities: JsonObject): Promise<LeasedConnection> {
    const { signal } = request;
    signal.throwIfAborted();
    this.#over.signal.throwIfAborted();
    const declared = canonicalJson(capabilities);
    for (const idle of this.#connections) {
      if (!idle.isIdle || idle.holder !== request.holder || idle.declared !== declared) continue;
      if (idle.isUsable) {
        idle.beginCall(request.answer);
        return idle;
      }
      this.#drop(idle);
    }
    const { maxLeasedConnections, open, plain } = this.#ports;
    const { revision } = plain;
    if (plain.era !== "legacy" || !isLegacyRevision(revision)) throw eraChanged();
    if (this.#connections.size >= maxLeasedConnections) this.#dropOldestIdle();
    const { holder, answer } = request;
    const connection = new LeasedConnection({ holder, declared, capabilities, onBroken: () => this.#lose(connection) });
    this.#connections.add(connection);
    try {
      const ends = AbortSignal.any([signal, this.#over.signal]);
      await connection.open((relay) => open(relay, revision, ends), answer);
      // The signal may have fired when it was open already.
      ends.throwIfAborted();
      return connection;
    } catch (error) {
      connection.endCall();
      this.#drop(connection);
      throw signal.aborted ? signal.reason : connection.openingFailure(error);
    }
  }

  #keep(connection: LeasedConnection): void {
    // The most recently used one is the last to be closed.
    this.#connections.delete(connection);
    this.#connections.add(connection);
    connection.waitForCall(this.#ports.clock, IDLE_MS, () => this.#drop(connection));
  }

  #dropOldestIdle(): void {
    for (const connection of this.#connections) {
      if (!connection.isIdle) continue;
      this.#drop(connection);
      return;
    }
  }

  /** It ended by itself. A call that has it finds that out, and gives it back. */
  #lose(connection: LeasedConnection): void {
    if (connection.isIdle) this.#drop(connection);
  }

  #drop(connection: LeasedConnection): void {
    if (!this.#connections.delete(connection)) return;
    const leaving = connection.close().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

/** What was asked for while the server was of another era is not asked there: nothing is told to such a server beforehand. */
function eraChanged(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The server turned out to be of another era before the call was made.",
    details: { reason: "the server is of another era now" },
  });
}

function nothing(): void {
  // The plain connection belongs to everybody.
}
