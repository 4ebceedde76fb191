import type { AuthorizationStart, DisconnectResult, FlowRow, Login } from "../../auth-projection/index.js";
import type { ReconcileEvents } from "../../reconcile/index.js";
import type { AdminLink, AdminPlane, TestCallRequest, TestCallResult } from "../admin/index.js";
import type { AdminWeb } from "../admin-web/index.js";
import type { OperatorApprovals } from "../approvals/index.js";
import type { JournalReader } from "../journal/index.js";
import type {
  BindingRequest,
  BoundAgent,
  DurableAgent,
  DurableBinding,
  DurableBindingRequest,
  LocalServer,
} from "../local-server/index.js";
import type { StorageIssue } from "../registration/index.js";
import type { SkillRoot } from "../skills/index.js";
import { AccountAuthorizations, type AuthorizeConnectorOptions } from "./account-authorizations.js";
import type { CloseBound, CloseOptions } from "./close-bound.js";
import type { ConnectorAdmin } from "./connector-admin.js";
import type { ConnectorStatus } from "./connector-status.js";
import { createAdmin } from "./create-admin.js";
import { createPlane } from "./create-plane.js";
import { HostEnding } from "./host-ending.js";
import { hostClosed } from "./host-errors.js";
import { loadHostId } from "./host-identity.js";
import { type ConnectorHostOptions, resolveConnectorHostOptions } from "./host-options.js";
import { HostParts } from "./host-parts.js";
import { HostScopes } from "./host-scopes.js";
import type { HostStore } from "./host-store.js";
import { loadCatalog } from "./load-catalog.js";
import { assertProfile } from "./profiles.js";
import type { PublicationListener } from "./publication-feed.js";
import type { PublicationGates } from "./publication-gates.js";
import { reportDeclared } from "./report-declared.js";
import { type HostAgentCounts, type ServedAgents, serveAgents } from "./serve-agents.js";
import { type Closable, shutDown } from "./shut-down.js";
import type { StatusListener } from "./status-feed.js";

/** For whom an agent's access is wanted. */
export type AgentSession = Omit<BindingRequest, "login">;

/** What a host's sockets are opened on: itself, and its agents as far as they name their bindings. */
export type OpenSockets = (host: ConnectorHost, agents: Pick<LocalServer, "answerNamed">) => Promise<Closable>;

/**
 * Publishes the tools of an account's connectors on one local MCP server, and follows the account's authorization.
 *
 * Signing in makes the account's connectors run as soon as a snapshot of its authorization was applied; whatever the
 * account authorizes, revokes or changes later reaches the routes by itself. Signing out takes everything of the account
 * away at once. The store is the host's own from here on.
 */
export class ConnectorHost {
  /** What is installed, registered and switched on. */
  readonly connectors: ConnectorAdmin;
  /** What a person administers it by. Whoever holds it may do everything: it is nothing for agents. */
  readonly admin: AdminPlane;
  readonly #parts: HostParts;
  readonly #scopes: HostScopes;
  readonly #ending: HostEnding;
  readonly #authorizations: AccountAuthorizations;
  readonly #web: AdminWeb;
  #server: ServedAgents | undefined;
  #sockets: Closable | undefined;

  private constructor(parts: HostParts, issues: readonly StorageIssue[]) {
    this.#parts = parts;
    this.#scopes = new HostScopes(parts, () => this.#server?.revokeAll());
    this.#ending = new HostEnding(parts.config, (bound) => this.#shutDown(bound));
    this.connectors = createAdmin(parts, { issues, signal: this.#ending.signal });
    this.#authorizations = new AccountAuthorizations(parts.catalog, () => parts.session);
    const { admin, web } = createPlane(parts, {
      connectors: this.connectors,
      served: () => (this.#ending.hasBegun ? undefined : this.#server),
      durableBindings: () => this.durableBindings(),
      url: () => this.url,
      ended: this.#ending.signal,
    });
    this.admin = admin;
    this.#web = web;
    parts.routes.onPublication((changes) => parts.feed.announce(changes));
  }

  /**
   * Starts the local server; nobody is signed in. The store is closed if that fails. `openSockets` gives others ways to talk to
   * the host, which end first when the host is closed.
   *
   * Rejects with `invalid_options`, `invalid_url`, `invalid_release`, `invalid_registration`, with `duplicate_connector` when two
   * connectors have one key, with `listen_failed` when the port is taken, and with what the stores and `openSockets` reject with.
   */
  static async start(
    options: ConnectorHostOptions,
    store: HostStore,
    openSockets?: OpenSockets,
  ): Promise<ConnectorHost> {
    let host: ConnectorHost | undefined;
    try {
      const config = resolveConnectorHostOptions(options);
      const { catalog, rules, issues } = await loadCatalog(config, store);
      reportDeclared(config.declared, issues, config.logger);
      const hostId = await loadHostId(config, store);
      host = new ConnectorHost(new HostParts(config, store, catalog, rules, hostId), issues);
      const server = await serveAgents(host.#parts);
      host.#server = server;
      host.#parts.onRelisted = (connectorKey) => server.invalidate(connectorKey);
      host.#scopes.beginDevice();
      host.#sockets = await openSockets?.(host, host.#server);
      host.#parts.housekeeping.start();
      return host;
    } catch (error) {
      await (host ?? store).close();
      if (host === undefined) await options.journalRows?.close();
      throw error;
    }
  }

  /** The local server's endpoint. */
  get url(): string {
    return this.#server?.url ?? "";
  }

  get login(): Login | undefined {
    return this.#parts.logins.current;
  }

  /**
   * Signs an account in, after signing the one before out. Its connectors come when its first snapshot was applied; until
   * then nothing of it is published. Throws `cancelled` after `close`, `invalid_argument` for an empty account id, and
   * `invalid_options` on a host that was started without `baseUrl` and `accounts`.
   */
  signIn(accountId: string): Login {
    if (this.#ending.hasBegun) throw hostClosed();
    return this.#scopes.signIn(accountId);
  }

  /**
   * Signs the account out. When this returns, its routes are gone, its requests are aborted, its sessions' bearers are
   * refused, and no request of it gets credentials any more. Durable bindings stay, and reach nothing of the account.
   */
  signOut(): void {
    this.#scopes.signOut();
  }

  /**
   * Gives an agent session a bearer for the local server, and ends the one that it had. It is good for the present login
   * only, and ends with it. Throws as the local server's `bind` does, and `invalid_argument` for a profile that there is not.
   */
  bind(session: AgentSession): BoundAgent {
    if (this.#server === undefined) throw hostClosed();
    assertProfile(this.#parts.config.profiles, session.profile);
    return this.#server.bind({ ...session, login: this.#parts.logins.current });
  }

  /**
   * Gives a name a bearer for the local server, and ends the one that the name had. It is good until it is revoked, over logins
   * and restarts: for the connectors of the device always, for those of `accountId` while that account is signed in. Programs of
   * the same user need no bearer for it: they name it over the socket of the state directory (`serveStdio`).
   *
   * Rejects as the local server's `bindDurable` does, and with `invalid_argument` for a profile that there is not.
   */
  async bindDurable(request: DurableBindingRequest): Promise<DurableAgent> {
    if (this.#server === undefined) throw hostClosed();
    assertProfile(this.#parts.config.profiles, request.profile);
    return this.#server.bindDurable(request);
  }

  /** The durable bindings, by name. */
  durableBindings(): readonly DurableBinding[] {
    return this.#server?.durableBindings() ?? [];
  }

  /** Ends a durable binding at once; whether there was one. Rejects with `store_*`: it is back after a restart then. */
  async revokeDurable(name: string): Promise<boolean> {
    if (this.#server === undefined) throw hostClosed();
    return this.#server.revokeDurable(name);
  }

  /** Who uses the local server now; `undefined` while the host starts. */
  get agents(): HostAgentCounts | undefined {
    return this.#server?.counts;
  }

  /** What every installed connector is at, by key. */
  status(): Promise<readonly ConnectorStatus[]> {
    return this.#parts.statuses.all(this.#parts.session?.scope);
  }

  /** The calls of agents that wait for an operator's decision, where `operatorApprovals` says that they do. */
  get approvals(): OperatorApprovals {
    return this.#parts.approvals.operator;
  }

  /**
   * Calls a tool by the authority of the person who asks for it. Resolves and rejects as {@link AdminPlane.testCall} does; what agents may
   * do with the tool neither counts nor changes.
   */
  testCall(request: TestCallRequest): Promise<TestCallResult> {
    return this.admin.testCall(request);
  }

  /**
   * Makes a link that opens the status page in a browser, once and within two minutes. Its listener is there while it is needed. Rejects
   * with `listen_failed`, and with `cancelled` after `close`.
   */
  adminLink(): Promise<AdminLink> {
    return this.admin.adminLink();
  }

  /**
   * The skills of the connectors that are published, as their folders held them when each was activated, by key. They permit nothing:
   * what is called for them goes the same way as every call.
   */
  skills(): readonly SkillRoot[] {
    const found = this.#parts.routes.list().flatMap(({ skills }) => skills ?? []);
    return found.toSorted((one, other) => (one.connectorKey < other.connectorKey ? -1 : 1));
  }

  /** What happens to the connectors: `subscribe` as it happens, `follow` at one's own pace, after a restart of the host too. */
  get events(): ReconcileEvents {
    return this.#parts.controller.events;
  }

  /** What happened to requests; `undefined` for a host that does not write them down. */
  get journal(): JournalReader | undefined {
    return this.#parts.journal?.reader;
  }

  /** Holds back what is published of the account and of the device. */
  get gates(): Pick<PublicationGates, "close" | "open" | "isOpen" | "waiting"> {
    return this.#parts.gates;
  }

  /** Tells `listener` of every change of what is published, synchronously, until the returned function is called. */
  onPublication(listener: PublicationListener): () => void {
    return this.#parts.feed.subscribe(listener);
  }

  /**
   * Tells `listener` of every change of what a connector is at, synchronously and in order, until the returned function is called. Each
   * is told once, and before the failure of a request that follows from it. What connectors are at to begin with is in `status`, of
   * which changes are the continuation; `since` alone is no change.
   */
  onStatus(listener: StatusListener): () => void {
    return this.#parts.status.feed.subscribe(listener);
  }

  /**
   * Begins to authorize an installed connector for the account that is signed in: says what the person has to do, and promises
   * the result, with the route published or why it is not. A flow that the process leaves behind is gone on with at the account's
   * next login.
   *
   * Rejects with `unknown_connector`, with `account_not_ready` when nobody is signed in, with `invalid_argument` for a connector
   * that needs none, and as `AuthorizationFlows.start` does.
   */
  authorize(connectorKey: string, options: AuthorizeConnectorOptions = {}): Promise<AuthorizationStart> {
    return this.#authorizations.authorize(connectorKey, options);
  }

  /** Gives the secret that a flow waits for; bytes are overwritten. Rejects as `AuthorizationFlows.submitSecret` does. */
  submitSecret(connectorKey: string, secret: Uint8Array | string): Promise<void> {
    return this.#authorizations.submitSecret(connectorKey, secret);
  }

  /** Gives the connector's flow up, if there is one. */
  cancelAuthorization(connectorKey: string): Promise<void> {
    return this.#authorizations.cancel(connectorKey);
  }

  /**
   * Takes the account's authorization of a connector away, and its route with it. Resolves when that was observed, or after two
   * minutes with the reason. Rejects as `AuthorizationFlows.disconnect` does, and with `account_not_ready`.
   */
  disconnect(connectorKey: string): Promise<DisconnectResult> {
    return this.#authorizations.disconnect(connectorKey);
  }

  /** The account's authorization flows, the latest first; those that are over for 24 hours. */
  authorizations(): Promise<readonly FlowRow[]> {
    return this.#authorizations.list();
  }

  /** Asks the control plane for the account's authorization now, as a hint would. */
  refresh(): void {
    this.#parts.session?.sync.wake();
  }

  /**
   * Stops accepting, fences everything, has the calls that are thereby aborted answered, ends routes and programs, writes what became
   * of requests, and closes the store: each after the one before, all of it within `closeTimeoutMs`. What has not ended by then is given up and logged. A call in
   * flight is answered with how far it got before its connection goes.
   *
   * Idempotent: called again it is the same closing, and `force` then holds for what is left of it. Never rejects; throws
   * `invalid_options`.
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#ending.close(options);
  }

  #shutDown(bound: CloseBound): Promise<void> {
    return shutDown({
      parts: this.#parts,
      bound,
      outside: [this.#sockets, this.#web],
      server: this.#server,
      fenceAll: () => this.#scopes.fenceAll(),
      endings: this.#scopes.endings,
    });
  }
}
