import { RemoteConnectorError } from "../errors.js";
import { hashBearer, type HttpListener, listen } from "../serving/index.js";
import type { AdminRefusal } from "./admin-requests.js";
import { AdminSide } from "./admin-side.js";
import { AuthorizationChanges, subjectOf } from "./authorization-changes.js";
import type { AuthorizationChange, ChangeOutcome } from "./authorization-state.js";
import { Authorizer, type Credential, CredentialVault, SessionEndpoint } from "./authorizing/index.js";
import { ConnectorEndpoint } from "./connector-endpoint.js";
import { CredentialCare } from "./credential-care.js";
import { type Fault, FaultBook, faultShape, type GatewayFault } from "./faults.js";
import type { Gateway, GatewayFaults } from "./gateway.js";
import { HintHub } from "./hint-hub.js";
import { openHttpUpstream } from "./http-upstream.js";
import { readOrder, refuseAccount } from "./operator-order.js";
import type { GatewayConfig, GatewayOptions } from "./options.js";
import { PublicSide } from "./public-side.js";
import { resolveGatewayOptions } from "./resolve-options.js";
import { callbackPath } from "./routes.js";
import { Sessions } from "./sessions.js";
import { openStdioUpstream } from "./stdio-upstream.js";
import type { Upstream } from "./upstream.js";
import { type UpstreamOpening, UpstreamPool } from "./upstream-pool.js";

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
  readonly faults: GatewayFaults;
  readonly #config: GatewayConfig;
  readonly #pool: UpstreamPool;
  readonly #hints: HintHub;
  readonly #vault = new CredentialVault();
  readonly #faults = new FaultBook();
  readonly #authorizer: Authorizer;
  readonly #changes: AuthorizationChanges;
  readonly #care: CredentialCare;
  #public: HttpListener | undefined;
  #admin: HttpListener | undefined;
  #closing: Promise<void> | undefined;

  constructor(config: GatewayConfig) {
    this.#config = config;
    const { clock, hintPingMs, onFault, upstreamIdleMs } = config;
    const [faults, vault] = [this.#faults, this.#vault];
    this.faults = {
      add: (fault) => faults.add(parseFault(fault)),
      clear: () => faults.clear(),
      list: () => faults.list(),
    };
    const hints = new HintHub({ clock, pingMs: hintPingMs });
    const pool = new UpstreamPool({ open: (request) => this.#open(request), clock, idleMs: upstreamIdleMs, onFault });
    const authorizer = new Authorizer({
      config,
      redirectUri: (connectorId) => `${config.publicUrl ?? this.origin}${callbackPath(connectorId)}`,
      grant: (accountId, connectorId, credential) =>
        changes.change(accountId, connectorId, { kind: "grant" }, credential),
    });
    const giveUp = (connectorId: string, credential: Credential): void => authorizer.giveUp(connectorId, credential);
    const changes = new AuthorizationChanges({ config, faults, hints, pool, vault, giveUp });
    this.#hints = hints;
    this.#pool = pool;
    this.#authorizer = authorizer;
    this.#changes = changes;
    this.#care = new CredentialCare({ config, vault, pool, authorizer, changes });
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

  grant(accountId: string, connectorId: string, secret?: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, { kind: "grant" }, secret);
  }

  revoke(accountId: string, connectorId: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, { kind: "revoke" });
  }

  expire(accountId: string, connectorId: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, { kind: "expire" });
  }

  async addConnection(accountId: string, connectorId: string, secret?: string): Promise<string> {
    const change: AuthorizationChange = { kind: "add" };
    const { connection } = await this.#change(accountId, connectorId, change, secret);
    return connection === undefined ? "" : subjectOf(change, connection);
  }

  switchConnection(accountId: string, connectorId: string, connectionId?: string): Promise<ChangeOutcome> {
    return this.#change(accountId, connectorId, { kind: "switch", connectionId });
  }

  async restore(to: { readonly accountId?: string | undefined; readonly revision: bigint }): Promise<boolean> {
    this.#checkAccount(to.accountId);
    return this.#changes.restore(to.accountId, to.revision);
  }

  async resetEpoch(accountId?: string): Promise<void> {
    this.#checkAccount(accountId);
    await this.#changes.resetEpoch(accountId);
  }

  dropHintConnections(accountId?: string): void {
    this.#checkAccount(accountId);
    this.#hints.drop(accountId);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#shutDown());
  }

  async #listenPublic(): Promise<void> {
    const config = this.#config;
    const side = new PublicSide({
      config,
      sessions: new Sessions(config.sessionCookie, config.accounts),
      endpoint: new ConnectorEndpoint(config, this.#pool, this.#care),
      sessionEndpoint: new SessionEndpoint(this.#authorizer),
      authorizer: this.#authorizer,
      changes: this.#changes,
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
      changes: this.#changes,
      authorizer: this.#authorizer,
      hints: this.#hints,
      bearerHash: hashBearer(adminBearer),
    });
    this.#admin = await listen((request, response) => side.answer(request, response), { port: adminPort, onFault });
  }

  async #change(
    accountId: string,
    connectorId: string,
    change: AuthorizationChange,
    secret?: string,
  ): Promise<ChangeOutcome> {
    const order = readOrder(this.#config, accountId, connectorId, secret);
    if (order.kind === "refused") throw invalidOrder(order.refusal);
    return this.#changes.change(accountId, connectorId, change, order.credential);
  }

  #checkAccount(accountId: string | undefined): void {
    const refusal = refuseAccount(this.#config, accountId);
    if (refusal !== undefined) throw invalidOrder(refusal);
  }

  async #open({ accountId, connector, signal }: UpstreamOpening): Promise<Upstream> {
    const { clock, serverInfo: clientInfo, upstreamDeadlines: deadlines } = this.#config;
    const { connectorId, upstream } = connector;
    return this.#care.use(accountId, connectorId, (credential) =>
      upstream.kind === "http"
        ? openHttpUpstream(upstream, { clientInfo, clock, credential, deadlines })
        : openStdioUpstream(upstream, { clientInfo, clock, credential, deadlines, signal }),
    );
  }

  async #shutDown(): Promise<void> {
    this.#hints.close();
    await Promise.all([this.#authorizer.close(), this.#pool.closeAll(), this.#public?.close(), this.#admin?.close()]);
    this.#vault.clear();
  }
}

function invalidOrder({ message: reason }: AdminRefusal): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `${reason}.`,
    details: { argument: "order", reason },
  });
}

function parseFault(fault: GatewayFault): Fault {
  const parsed = faultShape.safeParse(fault);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map(String).join(".");
  const reason = `${path === "" ? "it" : path} can't be used`;
  throw new RemoteConnectorError("invalid_argument", {
    message: `This is no fault: ${reason}.`,
    details: { argument: "fault", reason },
  });
}
