import type { McpClient, OpenedServer, ServerOpening } from "../../connect/index.js";
import type { RemoteConnectorError } from "../../errors.js";
import type { DiscoverResult } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { RouteToken } from "../../reconcile/index.js";
import { closedError, failureOf } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { SkillRoot, SkillSource } from "../skills/index.js";
import type { DeviceConnector } from "./device-connector.js";
import { type DeviceLeases, LeasingClient } from "./leases/index.js";
import { discoverServer, listServer, type ServerListing } from "./list-server.js";

/** A connector's server that is open. */
export interface OpenedConnector extends OpenedServer {
  /** Absent for a connector that is not opened for what its server could ask. They end with whatever they are closed by, with the client. */
  readonly leases?: DeviceLeases | undefined;
}

/** Opens the server of a connector, as `RegistrationFactory.open` does. */
export interface ServerFactory {
  open(connector: DeviceConnector, opening: ServerOpening): Promise<OpenedConnector>;
}

/** A server that is open, and what it said and listed then. */
export interface ReadyServer {
  readonly client: McpClient;
  /** What its route is published with: the client, or that with the leases of its connector. */
  readonly published: RemoteMcpClient;
  readonly discovered: DiscoverResult | undefined;
  readonly listing: ServerListing;
  /** Its skills, or why they are left out; `undefined` for a connector that has no folder of them. */
  readonly skills: { readonly root: SkillRoot } | { readonly error: unknown } | undefined;
}

/** What a server is opened, asked and judged with. */
export interface HolderPorts {
  readonly factory: ServerFactory;
  /** Tools whose schema it finds fault with are left out. */
  readonly checkSchema?: SchemaCheck | undefined;
  /** Left out: no connector has skills. */
  readonly readSkills?: SkillSource | undefined;
}

/** Who is told what becomes of a held server. Nothing is told once it is closed. */
export interface HolderEvents {
  /** It is open, and was asked for its tools. */
  onReady(holder: ServerHolder): void;
  /** It ended by itself, or could not be opened. Told once, and nothing afterwards. */
  onEnded(holder: ServerHolder, error: RemoteConnectorError): void;
  /** It says that its tools changed. */
  onChanged(holder: ServerHolder): void;
}

/**
 * One server of a connector, from the wish for it until nothing of it is left: held outside the lanes of convergence, so that
 * no run's deadline ends what is merely slow.
 */
export class ServerHolder {
  readonly connector: DeviceConnector;
  readonly token: RouteToken;
  readonly #ports: HolderPorts;
  readonly #events: HolderEvents;
  readonly #over = new AbortController();
  #opening: Promise<void> | undefined;
  #published: RemoteMcpClient | undefined;
  #ready: ReadyServer | undefined;
  #isEnded = false;
  /** Its route, once it was published. The table closes its client then, too. */
  route: Route<RemoteMcpClient> | undefined;

  constructor(connector: DeviceConnector, token: RouteToken, ports: HolderPorts, events: HolderEvents) {
    this.connector = connector;
    this.token = token;
    this.#ports = ports;
    this.#events = events;
  }

  /** There once the server is open and was listed, and after its end. */
  get ready(): ReadyServer | undefined {
    return this.#ready;
  }

  /** Fires when it is closed. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Begins, after what came before it is over. */
  start(before: Promise<unknown>): void {
    this.#opening ??= this.#open(before);
  }

  /** Ends it. Resolves when nothing is left. Rejects with what its client's `close` rejects with. */
  async close(): Promise<void> {
    this.#over.abort(closedError());
    // What is still being opened rejects when nothing of it is left.
    if (this.#published === undefined) await this.#opening;
    await this.#published?.close();
  }

  async #open(before: Promise<unknown>): Promise<void> {
    await before;
    const { signal } = this.#over;
    if (signal.aborted) return;
    const onToolsChanged = (): void => {
      if (!signal.aborted) this.#events.onChanged(this);
    };
    try {
      const { client, exited, leases } = await this.#ports.factory.open(this.connector, { signal, onToolsChanged });
      const published = leases === undefined ? client : new LeasingClient(client, leases);
      this.#published = published;
      void exited.then(this.#ended, this.#ended);
      const listed = listServer(client, this.connector, signal, this.#ports.checkSchema);
      const asked = [discoverServer(client, signal), listed, this.#readSkills()] as const;
      const [discovered, listing, skills] = await Promise.all(asked);
      if (signal.aborted || this.#isEnded) return;
      this.#ready = { client, published, discovered, listing, skills };
      this.#events.onReady(this);
    } catch (error) {
      this.#ended(error);
    }
  }

  /** A server is not ended for a folder beside it. */
  async #readSkills(): Promise<ReadyServer["skills"]> {
    const { key, digest } = this.connector;
    try {
      const root = await this.#ports.readSkills?.(key, digest, this.#over.signal);
      return root && { root };
    } catch (error) {
      return { error };
    }
  }

  readonly #ended = (error: unknown): void => {
    if (this.#over.signal.aborted || this.#isEnded) return;
    this.#isEnded = true;
    this.#events.onEnded(this, failureOf(error));
  };
}
