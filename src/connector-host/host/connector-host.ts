import { setMaxListeners } from "node:events";
import type { AuthorizationStart, DisconnectResult, FlowRow, Login } from "../../auth-projection/index.js";
import type { ReconcileEvents } from "../../reconcile/index.js";
import type { AdminLink, AdminPlane, TestCallRequest, TestCallResult } from "../admin/index.js";
import { AdminWeb } from "../admin-web/index.js";
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
import { accountScope, DEVICE_SCOPE } from "./account-scope.js";
import { CloseBound, type CloseOptions, resolveCloseOptions } from "./close-bound.js";
import type { ConnectorAdmin } from "./connector-admin.js";
import type { ConnectorStatus } from "./connector-status.js";
import { noControlPlane } from "./control-plane.js";
import { createAdmin } from "./create-admin.js";
import { createPlane } from "./create-plane.js";
import { hostClosed, noAccount } from "./host-errors.js";
import { loadHostId } from "./host-identity.js";
import { type ConnectorHostOptions, resolveConnectorHostOptions } from "./host-options.js";
import { HostParts } from "./host-parts.js";
import type { HostStore } from "./host-store.js";
import { loadCatalog } from "./load-catalog.js";
import { assertProfile } from "./profiles.js";
import type { PublicationListener } from "./publication-feed.js";
import type { PublicationGates } from "./publication-gates.js";
import { reportDeclared } from "./report-declared.js";
import { type HostAgentCounts, type ServedAgents, serveAgents } from "./serve-agents.js";
import { shutDown } from "./shut-down.js";
import { startSession } from "./start-session.js";
import type { StatusListener } from "./status-feed.js";

/** For whom an agent's access is wanted. */
export type AgentSession = Omit<BindingRequest, "login">;

/** The sockets of a host. */
export interface HostSockets {
  /** Stops accepting, lets what runs be answered within `closeTimeoutMs`, and cuts the rest. Called again, the earlier end counts. */
  close(closeTimeoutMs?: number): Promise<void>;
}

/** What a host's sockets are opened on: itself, and its agents as far as they name their bindings. */
export type OpenSockets = (host: ConnectorHost, agents: Pick<LocalServer, "answerNamed">) => Promise<HostSockets>;

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
  /** Fires when the host closes. */
  readonly #ended = new AbortController();
  readonly #authorizations: AccountAuthorizations;
  readonly #web: AdminWeb;
  #server: ServedAgents | undefined;
  #sockets: HostSockets | undefined;
  /** The endings of sessions that are over. */
  readonly #ending = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;
  #bound: CloseBound | undefined;

  private constructor(parts: HostParts, issues: readonly StorageIssue[]) {
    this.#parts = parts;
    // Every removal that is waited for listens.
    setMaxListeners(0, this.#ended.signal);
    this.connectors = createAdmin(parts, { issues, signal: this.#ended.signal });
    this.#authorizations = new AccountAuthorizations(parts.catalog, () => parts.session);
    const { clock, logger, wallClock } = parts.config;
    const onFault = (error: unknown): void => logger.error("A fault of the admin plane.", { error });
    this.#web = new AdminWeb({ plane: () => this.admin, clock, wallClock, onFault });
    this.admin = createPlane(parts, {
      connectors: this.connectors,
      served: () => (this.#closing === undefined ? this.#server : undefined),
      durableBindings: () => this.durableBindings(),
      web: this.#web,
      url: () => this.url,
    });
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
      host.#beginDevice();
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
    if (this.#closing !== undefined) throw hostClosed();
    if (accountId === "") throw noAccount();
    if (this.#parts.config.controlPlane === undefined) throw noControlPlane();
    this.signOut();
    const { logins, memory, controller, gates, routes } = this.#parts;
    const login = logins.signIn(accountId);
    const scope = accountScope(accountId);
    memory.switchLogin(login.generation);
    const scopeEpoch = controller.activateScope(scope);
    routes.openScope(scope, scopeEpoch);
    gates.begin(scope);
    try {
      this.#parts.session = startSession(this.#parts, login, scopeEpoch);
    } catch (error) {
      this.#endLogin(scope);
      throw error;
    }
    return login;
  }

  /**
   * Signs the account out. When this returns, its routes are gone, its requests are aborted, its sessions' bearers are
   * refused, and no request of it gets credentials any more. Durable bindings stay, and reach nothing of the account.
   */
  signOut(): void {
    const { session } = this.#parts;
    if (session === undefined) return;
    this.#parts.session = undefined;
    this.#endLogin(session.scope);
    const ending = session.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
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
    const { force } = resolveCloseOptions(options);
    const { closeTimeoutMs, clock, logger } = this.#parts.config;
    this.#bound ??= new CloseBound(closeTimeoutMs, clock, logger);
    if (force) this.#bound.force();
    if (this.#closing !== undefined) return this.#closing;
    let end = ignore;
    // Listeners hear of the fences while it begins, and may close the host too.
    const closing = new Promise<void>((resolve) => (end = resolve));
    this.#closing = closing;
    void this.#shutDown(this.#bound).finally(end);
    return closing;
  }

  /** The scope of the device lasts from the start to the end, whoever is signed in. */
  #beginDevice(): void {
    const { controller, gates, routes } = this.#parts;
    routes.openScope(DEVICE_SCOPE, controller.activateScope(DEVICE_SCOPE));
    gates.begin(DEVICE_SCOPE);
  }

  /** The flag first, so that no request gets credentials any more; then the work; then what it had published. */
  #endLogin(scope: string): void {
    const { approvals, logins, controller, gates, routes, news, memory } = this.#parts;
    logins.signOut();
    controller.shutScope(scope);
    routes.fenceAll(scope);
    gates.end(scope);
    news.clear();
    memory.switchLogin(undefined);
    this.#server?.revokeAll();
    approvals.recheck();
  }

  #shutDown(bound: CloseBound): Promise<void> {
    this.#ended.abort(hostClosed());
    return shutDown({
      parts: this.#parts,
      bound,
      sockets: this.#outside(),
      server: this.#server,
      fenceAll: () => this.#fenceAll(),
      endings: this.#ending,
    });
  }

  /** Everything by which people and agents reach it, but for the local server. */
  #outside(): HostSockets {
    const sockets = this.#sockets;
    const close = async (closeTimeoutMs?: number): Promise<void> => {
      await Promise.all([sockets?.close(closeTimeoutMs), this.#web.close(closeTimeoutMs)]);
    };
    return { close };
  }

  /** Nothing is published any more, and everybody who asked is told why. */
  #fenceAll(): void {
    const { approvals, controller, gates, routes, status } = this.#parts;
    status.beginClosing();
    approvals.close();
    this.signOut();
    controller.shutScope(DEVICE_SCOPE);
    routes.fenceAll(DEVICE_SCOPE);
    gates.end(DEVICE_SCOPE);
    status.feed.close();
  }
}

function ignore(): void {}
