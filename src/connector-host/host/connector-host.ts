import {
  type AuthorizationStart,
  type DisconnectResult,
  type FlowRow,
  type Login,
  LoginGuard,
  Readiness,
} from "../../auth-projection/index.js";
import { Controller, type ReconcileEvents, whenFull } from "../../reconcile/index.js";
import { ActivationMemory } from "../activation/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, BindingRequest, BoundAgent, LocalServer } from "../local-server/index.js";
import { type PublicationChange, RouteTable } from "../routes/index.js";
import { AccountAuthorizations, type AuthorizeConnectorOptions } from "./account-authorizations.js";
import { accountLogins } from "./account-logins.js";
import { accountScope } from "./account-scope.js";
import type { AccountSession } from "./account-session.js";
import type { ConnectorStatus } from "./connector-status.js";
import { hostClosed, noAccount } from "./host-errors.js";
import { FactsReader } from "./facts-reader.js";
import { type ConnectorHostConfig, type ConnectorHostOptions, resolveConnectorHostOptions } from "./host-options.js";
import type { HostStore, HostTx } from "./host-store.js";
import { Housekeeping } from "./housekeeping.js";
import { type ConnectorFacts, planConnector } from "./plan-connector.js";
import { PublicationFeed, type PublicationListener } from "./publication-feed.js";
import { RemoteReconciler } from "./remote-reconciler.js";
import { RouteFaults } from "./route-faults.js";
import { serveAgents } from "./serve-agents.js";
import { type SessionParts, startSession } from "./start-session.js";
import { StatusReader } from "./status-reader.js";
import { UnwrittenNews } from "./unwritten-news.js";

/** For whom an agent's access is wanted. */
export type AgentSession = Omit<BindingRequest, "login">;

/**
 * Publishes the tools of an account's connectors on one local MCP server, and follows the account's authorization.
 *
 * Signing in makes the account's connectors run as soon as a snapshot of its authorization was applied; whatever the
 * account authorizes, revokes or changes later reaches the routes by itself. Signing out takes everything of the account
 * away at once. The store is the host's own from here on.
 */
export class ConnectorHost {
  readonly #config: ConnectorHostConfig;
  readonly #store: HostStore;
  readonly #logins: LoginGuard;
  readonly #readiness = new Readiness();
  readonly #news = new UnwrittenNews();
  readonly #routes: RouteTable<RemoteMcpClient>;
  readonly #memory: ActivationMemory;
  readonly #facts: FactsReader;
  readonly #controller: Controller<HostTx, ConnectorFacts>;
  readonly #faults: RouteFaults;
  readonly #statuses: StatusReader;
  readonly #feed: PublicationFeed;
  readonly #authorizations: AccountAuthorizations;
  readonly #housekeeping: Housekeeping;
  #server: LocalServer | undefined;
  #control: { close(): Promise<void> } | undefined;
  #session: AccountSession | undefined;
  /** The endings of sessions that are over. */
  readonly #ending = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  private constructor(config: ConnectorHostConfig, store: HostStore) {
    const { logger, wallClock, random, mintEpoch } = config;
    this.#config = config;
    this.#store = { ...whenFull(store, () => void this.#controller.makeRoom()), close: () => store.close() };
    this.#logins = new LoginGuard(config.accounts);
    this.#feed = new PublicationFeed((error) => logger.error("A publication listener threw.", { error }));
    this.#routes = new RouteTable<RemoteMcpClient>({
      clock: config.clock,
      onDiagnostic: ({ kind, message, connectorKey, generation }) =>
        logger.warn("A route could not be cleaned up as it should.", { kind, message, connectorKey, generation }),
    });
    this.#memory = new ActivationMemory(() => this.#routes.counts.published);
    this.#facts = new FactsReader({
      installed: config.installed,
      readiness: this.#readiness,
      news: this.#news,
      epochOf: (scope) => this.#controller.epochOf(scope),
      isRefused: (scope) => this.#session?.scope === scope && this.#session.sync.state().status === "account_not_ready",
    });
    this.#controller = new Controller<HostTx, ConnectorFacts>({
      store,
      clock: wallClock,
      random,
      mintEpoch,
      planner: {
        keys: async () => config.installed.keys,
        facts: (tx, scope, key) => this.#facts.read(tx, scope, key),
        plan: planConnector,
      },
      routes: {
        fence: (scope, key, generation) => this.#routes.fence(scope, key, generation, "revoke"),
        holds: (scope, key, generation) => this.#routes.holds(scope, key, generation),
      },
      reconciler: new RemoteReconciler({
        installed: config.installed,
        logins: this.#logins,
        store,
        routes: this.#routes,
        factory: config.factory(accountLogins(this.#logins)),
        memory: this.#memory,
        hostVersion: config.hostInfo.version,
        now: () => wallClock.now(),
        onDiagnostics: (connectorKey, diagnostics) =>
          logger.warn("Tools of a connector were left out or mended.", { connectorKey, diagnostics }),
        isDenied: (scopeEpoch, used) => this.#faults.isDenied(scopeEpoch, used),
        isDoubtful: (route) => this.#faults.isDoubtful(route),
        onFailure: (scopeEpoch, used, error) => this.#faults.observe(scopeEpoch, used, error),
      }),
    });
    this.#faults = new RouteFaults({
      installed: config.installed,
      routes: this.#routes,
      news: this.#news,
      logger,
      account: () => this.#session,
      controller: this.#controller,
    });
    this.#statuses = new StatusReader({
      keys: config.installed.keys,
      store,
      facts: this.#facts,
      convergenceOf: (scope) => this.#controller.status(scope),
      isPublished: (scope, key) => this.#routes.current(key)?.scope === scope,
    });
    this.#authorizations = new AccountAuthorizations(config.installed, () => this.#session);
    const isActive = (scope: string): boolean => this.#controller.epochOf(scope) !== undefined;
    const forgetScope = (tx: HostTx, scope: string): Promise<void> => this.#controller.forgetInTx(tx, scope);
    this.#housekeeping = new Housekeeping({ store: this.#store, clock: wallClock, isActive, forgetScope, logger });
    this.#controller.events.subscribe((event) => {
      if (event.kind === "removed") this.#routes.forgetFence(event.scope, event.key);
    });
    // By itself: a logger that throws is told nothing more, and nothing else is lost with it.
    this.#controller.events.subscribe((event) => {
      if (event.kind === "failed" || event.kind === "trouble")
        logger.warn("A connector did not converge.", { ...event });
      else logger.debug("Convergence.", { ...event });
    });
    this.#routes.onPublication((changes) => this.#onPublication(changes));
    this.#feed.subscribe((event) => logger.info("A connector's route changed.", { ...event }));
  }

  /**
   * Starts the local server; nobody is signed in. The store is closed if that fails. `openControl` gives others a way to talk to
   * the host, which ends first when the host is closed.
   *
   * Rejects with `invalid_options`, `invalid_url`, `invalid_release`, with `listen_failed` when the port is taken, and with what
   * `openControl` rejects with.
   */
  static async start(
    options: ConnectorHostOptions,
    store: HostStore,
    openControl?: (host: ConnectorHost) => Promise<{ close(): Promise<void> }>,
  ): Promise<ConnectorHost> {
    let host: ConnectorHost | undefined;
    try {
      host = new ConnectorHost(resolveConnectorHostOptions(options), store);
      host.#server = await host.#serve();
      host.#control = await openControl?.(host);
      host.#housekeeping.start();
      return host;
    } catch (error) {
      await (host ?? store).close();
      throw error;
    }
  }

  /** The local server's endpoint. */
  get url(): string {
    return this.#server?.url ?? "";
  }

  get login(): Login | undefined {
    return this.#logins.current;
  }

  /**
   * Signs an account in, after signing the one before out. Its connectors come when its first snapshot was applied; until
   * then nothing of it is published. Throws `cancelled` after `close`,
   * `invalid_argument` for an empty account id.
   */
  signIn(accountId: string): Login {
    if (this.#closing !== undefined) throw hostClosed();
    if (accountId === "") throw noAccount();
    this.signOut();
    const login = this.#logins.signIn(accountId);
    const scope = accountScope(accountId);
    this.#memory.switchLogin(login.generation);
    const scopeEpoch = this.#controller.activateScope(scope);
    this.#routes.openScope(scope, scopeEpoch);
    try {
      const parts: SessionParts = {
        config: this.#config,
        store: this.#store,
        logins: this.#logins,
        readiness: this.#readiness,
        news: this.#news,
        faults: this.#faults,
        controller: this.#controller,
        statuses: this.#statuses,
        routes: this.#routes,
        feed: this.#feed,
      };
      this.#session = startSession(parts, login, scopeEpoch);
    } catch (error) {
      this.#endLogin(scope);
      throw error;
    }
    return login;
  }

  /**
   * Signs the account out. When this returns, its routes are gone, its requests are aborted, its agents' bearers are
   * refused, and no request of it gets credentials any more.
   */
  signOut(): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    this.#endLogin(session.scope);
    const ending = session.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /**
   * Gives an agent session a bearer for the local server, and ends the one that it had. It is good for the present login
   * only, and ends with it. Throws as the local server's `bind` does.
   */
  bind(session: AgentSession): BoundAgent {
    if (this.#server === undefined) throw hostClosed();
    return this.#server.bind({ ...session, login: this.#logins.current });
  }

  /** What every installed connector is at, by key. */
  status(): Promise<readonly ConnectorStatus[]> {
    return this.#statuses.all(this.#session?.scope);
  }

  /** What happens to the connectors: `subscribe` as it happens, `follow` at one's own pace, after a restart of the host too. */
  get events(): ReconcileEvents {
    return this.#controller.events;
  }

  /** Tells `listener` of every change of what is published, synchronously, until the returned function is called. */
  onPublication(listener: PublicationListener): () => void {
    return this.#feed.subscribe(listener);
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
    this.#session?.sync.wake();
  }

  /** Signs out, stops serving, waits for what runs to end, and closes the store. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** The flag first, so that no request gets credentials any more; then the work; then what it had published. */
  #endLogin(scope: string): void {
    this.#logins.signOut();
    this.#controller.shutScope(scope);
    this.#routes.fenceAll(scope);
    this.#news.clear();
    this.#memory.switchLogin(undefined);
    this.#server?.revokeAll();
  }

  async #shutDown(): Promise<void> {
    this.signOut();
    await Promise.all([this.#control?.close(), this.#server?.close()]);
    const endings = [this.#housekeeping.close(), ...this.#ending];
    await Promise.all([this.#controller.close(), this.#routes.close(CLOSE_ROUTES_MS), ...endings]);
    this.#memory.close();
    await this.#store.close();
  }

  #serve(): Promise<LocalServer> {
    return serveAgents({
      config: this.#config,
      routes: this.#routes,
      statuses: this.#statuses,
      scopesOf: (binding) => this.#scopesOf(binding),
      wake: (scopes, key) => {
        for (const scope of scopes) this.#controller.probe(scope, [key]);
      },
      onFailure: (route, error) => this.#faults.onRequest(route, error),
    });
  }

  #scopesOf({ login }: Binding): readonly string[] {
    return login !== undefined && this.#logins.isCurrent(login) ? [accountScope(login.accountId)] : [];
  }

  #onPublication(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    const scopes = new Set<string>();
    for (const { previous, current } of changes) {
      for (const route of [previous, current]) if (route !== undefined) scopes.add(route.scope);
    }
    this.#server?.notifyToolsChanged((binding) => this.#scopesOf(binding).some((scope) => scopes.has(scope)));
    this.#feed.announce(changes);
  }
}

const CLOSE_ROUTES_MS = 5_000;
