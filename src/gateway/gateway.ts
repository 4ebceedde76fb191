import { hashBearer, type HttpListener, listen } from "../serving/index.js";
import { AdminSide } from "./admin-side.js";
import type { AuthorizationChange, ChangeOutcome } from "./authorization-state.js";
import { ConnectorEndpoint } from "./connector-endpoint.js";
import { FaultBook } from "./faults.js";
import { HintHub } from "./hint-hub.js";
import { openHttpUpstream } from "./http-upstream.js";
import type { GatewayConfig, GatewayConnector, GatewayOptions } from "./options.js";
import { PublicSide } from "./public-side.js";
import { resolveGatewayOptions } from "./resolve-options.js";
import { Sessions } from "./sessions.js";
import { openStdioUpstream } from "./stdio-upstream.js";
import type { Upstream } from "./upstream.js";
import { UpstreamPool } from "./upstream-pool.js";

/** A gateway that serves. */
export interface Gateway {
  /** Where the public side listens: `http://127.0.0.1:1234`, without a path. */
  readonly origin: string;
  /** Where the admin side listens; `undefined` without an admin bearer. */
  readonly adminOrigin: string | undefined;
  /** What `POST /admin/grant` does: connects an account, or gives its connection a new credential. */
  grant(accountId: string, connectorId: string): Promise<ChangeOutcome>;
  /** What `POST /admin/revoke` does. Calls under way end with `-33001`. */
  revoke(accountId: string, connectorId: string): Promise<ChangeOutcome>;
  /** What `POST /admin/expire` does: the account has to authorize again. Calls under way end with `-33002`. */
  expire(accountId: string, connectorId: string): Promise<ChangeOutcome>;
  /** Ends everything, child processes included. May be called again. */
  close(): Promise<void>;
}

/**
 * Starts the reference gateway: the server half of the connector contract, in front of real MCP servers.
 *
 * Rejects with `invalid_options`, or with `listen_failed` when an address is taken; then nothing is left behind.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new ReferenceGateway(resolveGatewayOptions(options));
  await gateway.listen();
  return gateway;
}

class ReferenceGateway implements Gateway {
  readonly #config: GatewayConfig;
  readonly #pool: UpstreamPool;
  readonly #hints: HintHub;
  readonly #faults = new FaultBook();
  #public: HttpListener | undefined;
  #admin: HttpListener | undefined;
  #closing: Promise<void> | undefined;

  constructor(config: GatewayConfig) {
    this.#config = config;
    const { clock, hintPingMs, onFault, upstreamIdleMs } = config;
    this.#hints = new HintHub({ clock, pingMs: hintPingMs });
    this.#pool = new UpstreamPool({
      open: (connector, signal) => this.#open(connector, signal),
      clock,
      idleMs: upstreamIdleMs,
      onFault,
    });
  }

  get origin(): string {
    return this.#public?.origin ?? "";
  }

  get adminOrigin(): string | undefined {
    return this.#admin?.origin;
  }

  async listen(): Promise<void> {
    try {
      await this.#listenPublic();
      await this.#listenAdmin();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  grant(accountId: string, connectorId: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, "grant");
  }

  revoke(accountId: string, connectorId: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, "revoke");
  }

  expire(accountId: string, connectorId: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, "expire");
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#shutDown());
  }

  async #listenPublic(): Promise<void> {
    const config = this.#config;
    const side = new PublicSide({
      config,
      sessions: new Sessions(config.sessionCookie, config.accounts),
      endpoint: new ConnectorEndpoint(config, this.#pool),
      hints: this.#hints,
      faults: this.#faults,
    });
    const { host, onFault, port } = config;
    this.#public = await listen((request, response) => side.answer(request, response), {
      host,
      port,
      onFault,
      onUpgrade: (request, socket, head) => side.upgrade(request, socket, head),
    });
  }

  async #listenAdmin(): Promise<void> {
    const { adminBearer, adminPort, onFault } = this.#config;
    if (adminBearer === undefined) return;
    const side = new AdminSide({
      config: this.#config,
      faults: this.#faults,
      pool: this.#pool,
      change: (accountId, connectorId, change) => this.#change(accountId, connectorId, change),
      bearerHash: hashBearer(adminBearer),
    });
    this.#admin = await listen((request, response) => side.answer(request, response), { port: adminPort, onFault });
  }

  /** The state is the truth, so it changes first; what runs on the old one ends next, and the hint goes out last. */
  async #change(accountId: string, connectorId: string, change: AuthorizationChange): Promise<ChangeOutcome> {
    const outcome = await this.#config.state.change(accountId, connectorId, change);
    if (!outcome.changed) return outcome;
    if (change !== "grant") void this.#pool.close(accountId, connectorId);
    this.#hints.publish(accountId, connectorId, outcome.revision);
    return outcome;
  }

  async #open(connector: GatewayConnector, signal: AbortSignal): Promise<Upstream> {
    const { clock, serverInfo: clientInfo, upstreamDeadlines: deadlines } = this.#config;
    const { upstream } = connector;
    return upstream.kind === "http"
      ? openHttpUpstream(upstream, { clientInfo, clock, deadlines })
      : openStdioUpstream(upstream, { clientInfo, clock, deadlines, signal });
  }

  async #shutDown(): Promise<void> {
    this.#hints.close();
    await Promise.all([this.#pool.closeAll(), this.#public?.close(), this.#admin?.close()]);
  }
}
