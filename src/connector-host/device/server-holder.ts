import type { McpClient, OpenedServer, ServerOpening } from "../../connect/index.js";
import type { RemoteConnectorError } from "../../errors.js";
import type { DiscoverResult } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { RouteToken } from "../../reconcile/index.js";
import { closedError, failureOf } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { DeviceConnector } from "./device-connector.js";
import { discoverServer, listServer, type ServerListing } from "./list-server.js";

/** Opens the server of a connector, as `RegistrationFactory.open` does. */
export interface ServerFactory {
  open(connector: DeviceConnector, opening: ServerOpening): Promise<OpenedServer>;
}

/** A server that is open, and what it said and listed then. */
export interface ReadyServer {
  readonly client: McpClient;
  readonly discovered: DiscoverResult | undefined;
  readonly listing: ServerListing;
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
  readonly #factory: ServerFactory;
  readonly #events: HolderEvents;
  readonly #checkSchema: SchemaCheck | undefined;
  readonly #over = new AbortController();
  #opening: Promise<void> | undefined;
  #client: McpClient | undefined;
  #ready: ReadyServer | undefined;
  #isEnded = false;
  /** Its route, once it was published. The table closes its client then, too. */
  route: Route<RemoteMcpClient> | undefined;

  constructor(
    connector: DeviceConnector,
    token: RouteToken,
    factory: ServerFactory,
    events: HolderEvents,
    checkSchema?: SchemaCheck,
  ) {
    this.connector = connector;
    this.token = token;
    this.#factory = factory;
    this.#events = events;
    this.#checkSchema = checkSchema;
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
    if (this.#client === undefined) await this.#opening;
    await this.#client?.close();
  }

  async #open(before: Promise<unknown>): Promise<void> {
    await before;
    const { signal } = this.#over;
    if (signal.aborted) return;
    const onToolsChanged = (): void => {
      if (!signal.aborted) this.#events.onChanged(this);
    };
    try {
      const { client, exited } = await this.#factory.open(this.connector, { signal, onToolsChanged });
      this.#client = client;
      void exited.then(this.#ended, this.#ended);
      const listed = listServer(client, this.connector, signal, this.#checkSchema);
      const [discovered, listing] = await Promise.all([discoverServer(client, signal), listed]);
      if (signal.aborted || this.#isEnded) return;
      this.#ready = { client, discovered, listing };
      this.#events.onReady(this);
    } catch (error) {
      this.#ended(error);
    }
  }

  readonly #ended = (error: unknown): void => {
    if (this.#over.signal.aborted || this.#isEnded) return;
    this.#isEnded = true;
    this.#events.onEnded(this, failureOf(error));
  };
}
