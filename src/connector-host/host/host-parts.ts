import { LoginGuard, Readiness } from "../../auth-projection/index.js";
import { Controller, whenFull } from "../../reconcile/index.js";
import { ActivationMemory } from "../activation/index.js";
import type { CallApprovals } from "../approvals/index.js";
import { type ConnectorCatalog, isWanted, type KeptRules } from "../catalog/index.js";
import { DeviceReconciler } from "../device/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { RequestJournal } from "../journal/index.js";
import { Permissions } from "../permissions/index.js";
import { createStateSealer, type StateSealer } from "../rounds/index.js";
import { RouteTable } from "../routes/index.js";
import { accountLogins } from "./account-logins.js";
import { kindOfScope } from "./account-scope.js";
import type { AccountSession } from "./account-session.js";
import type { CatalogSource } from "./catalog-admin.js";
import { FactsReader } from "./facts-reader.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostStore, HostTx } from "./host-store.js";
import { createApprovals } from "./create-approvals.js";
import { createJournal } from "./create-journal.js";
import { Housekeeping } from "./housekeeping.js";
import { type ConnectorFacts, planConnector } from "./plan-connector.js";
import { PublicationFeed } from "./publication-feed.js";
import { PublicationGates } from "./publication-gates.js";
import { RemoteReconciler } from "./remote-reconciler.js";
import { RouteFaults } from "./route-faults.js";
import { RuleBook } from "./rule-book.js";
import { ScopedReconciler } from "./scoped-reconciler.js";
import { ListOmissions } from "./list-omissions.js";
import { StatusFollower } from "./follow-status.js";
import { StatusReader } from "./status-reader.js";
import { UnsettledFaults } from "./unsettled-faults.js";
import { UnwrittenNews } from "./unwritten-news.js";

/** The parts of a host, put together. What begins and ends, and when, is the host's. */
export class HostParts {
  readonly config: ConnectorHostConfig;
  /** It makes room for itself when it is full. */
  readonly store: HostStore;
  readonly catalog: ConnectorCatalog;
  readonly rules: RuleBook;
  readonly permissions: Permissions;
  readonly logins: LoginGuard;
  readonly readiness = new Readiness();
  readonly news = new UnwrittenNews();
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly memory: ActivationMemory;
  readonly controller: Controller<HostTx, ConnectorFacts>;
  readonly gates: PublicationGates;
  readonly faults: RouteFaults;
  readonly device: DeviceReconciler;
  readonly omissions = new ListOmissions();
  readonly statuses: StatusReader;
  readonly unsettled: UnsettledFaults;
  readonly status: StatusFollower;
  readonly feed: PublicationFeed;
  readonly housekeeping: Housekeeping;
  /** Seals what agents carry between the rounds of a request. */
  readonly sealer: StateSealer;
  /** Who decides on calls that ask. */
  readonly approvals: CallApprovals;
  /** Left out: requests are not written down. */
  readonly journal: RequestJournal | undefined;
  /** The catalogs of the device's connectors; `undefined` while the host starts. */
  catalogs: CatalogSource | undefined;
  /** Told of a server of the device whose tools are others than what was listed of it. */
  onRelisted: (connectorKey: string) => void = () => undefined;
  /** That of the account that is signed in. */
  session: AccountSession | undefined;

  constructor(
    config: ConnectorHostConfig,
    store: HostStore,
    catalog: ConnectorCatalog,
    kept: ReadonlyMap<string, KeptRules | undefined>,
    hostId: string,
  ) {
    const { logger, wallClock, random, mintEpoch } = config;
    this.config = config;
    this.catalog = catalog;
    this.journal = createJournal(config);
    this.rules = new RuleBook({ catalog, kept, newReleaseTools: config.newReleaseTools });
    this.permissions = new Permissions(this.rules, config.isReachable);
    for (const [connectorKey, rules] of kept) {
      const message = "What was decided about a connector's tools can't be read: all are off.";
      if (rules === undefined) logger.warn(message, { connectorKey });
    }
    this.store = { ...whenFull(store, () => void this.controller.makeRoom()), close: () => store.close() };
    this.logins = new LoginGuard(config.accounts);
    this.sealer = createStateSealer({ hostId });
    this.approvals = createApprovals(this);
    this.feed = new PublicationFeed((error) => logger.error("A publication listener threw.", { error }));
    this.routes = new RouteTable<RemoteMcpClient>({
      clock: config.clock,
      mayPublish({ connectorKey }) {
        const entry = catalog.get(connectorKey);
        return entry !== undefined && isWanted(entry);
      },
      onDiagnostic: ({ kind, message, connectorKey, generation }) =>
        logger.warn("A route could not be cleaned up as it should.", { kind, message, connectorKey, generation }),
    });
    this.memory = new ActivationMemory(() => this.routes.counts.published);
    const facts = new FactsReader({
      catalog,
      readiness: this.readiness,
      news: this.news,
      epochOf: (scope) => this.controller.epochOf(scope),
      isRefused: (scope) => this.session?.scope === scope && this.session.sync.state().status === "account_not_ready",
    });
    this.controller = new Controller<HostTx, ConnectorFacts>({
      store,
      clock: wallClock,
      random,
      mintEpoch,
      planner: {
        keys: async (_tx, scope) => catalog.keysIn(kindOfScope(scope)),
        facts: (tx, scope, key) => facts.read(tx, scope, key),
        plan: planConnector,
      },
      routes: {
        fence: (scope, key, generation) => this.routes.fence(scope, key, generation, "revoke"),
        holds: (scope, key, generation) => this.routes.holds(scope, key, generation),
      },
      reconciler: {
        reconcile: (context) => scoped.reconcile(context),
        classifyFault: (error) => scoped.classifyFault(error),
      },
    });
    this.gates = new PublicationGates({ routes: this.routes, controller: this.controller });
    this.unsettled = new UnsettledFaults({
      now: () => wallClock.now(),
      onChange: (connectorKey) => this.status.onUnsettled(connectorKey),
    });
    const { scoped, device } = this.#reconcilers(store);
    this.device = device;
    this.faults = new RouteFaults({
      catalog,
      routes: this.routes,
      news: this.news,
      unsettled: this.unsettled,
      logger,
      account: () => this.session,
      controller: this.controller,
    });
    this.statuses = new StatusReader({
      catalog,
      store,
      facts,
      convergenceOf: (scope, keys) => this.controller.status(scope, keys),
      isPublished: (scope, key) => this.routes.current(key)?.scope === scope,
      omissionOf: (key) => this.omissions.of(this.routes.current(key)),
      unsettledOf: (key) => this.unsettled.of(key),
    });
    this.status = new StatusFollower({
      catalog,
      events: this.controller.events,
      routes: this.routes,
      publications: this.feed,
      omissions: this.omissions,
      unsettled: this.unsettled,
      statuses: this.statuses,
      accountScope: () => this.session?.scope,
      clock: wallClock,
      logger,
    });
    const isActive = (scope: string): boolean => this.controller.epochOf(scope) !== undefined;
    const forgetScope = (tx: HostTx, scope: string): Promise<void> => this.controller.forgetInTx(tx, scope);
    this.housekeeping = new Housekeeping({ store: this.store, clock: wallClock, isActive, forgetScope, logger });
    this.controller.events.subscribe((event) => {
      if (event.kind === "removed") this.routes.forgetFence(event.scope, event.key);
    });
    // By itself: a logger that throws is told nothing more, and nothing else is lost with it.
    this.controller.events.subscribe((event) => {
      if (event.kind === "failed" || event.kind === "trouble")
        logger.warn("A connector did not converge.", { ...event });
      else logger.debug("Convergence.", { ...event });
    });
    this.feed.subscribe((event) => logger.debug("A connector's route changed.", { ...event }));
  }

  #reconcilers(store: HostStore): { readonly scoped: ScopedReconciler; readonly device: DeviceReconciler } {
    const { config, catalog, logins, routes, memory, controller } = this;
    const { factory, hostInfo, logger, wallClock } = config;
    const now = (): number => wallClock.now();
    const account = new RemoteReconciler({
      catalog,
      logins,
      store,
      routes,
      factory: factory(accountLogins(logins)),
      memory,
      hostVersion: hostInfo.version,
      checkSchema: config.checkSchema,
      readSkills: config.readSkills,
      now,
      onDiagnostics: (connectorKey, diagnostics) =>
        logger.warn("Tools of a connector were left out or mended.", { connectorKey, diagnostics }),
      isDenied: (scopeEpoch, used) => this.faults.isDenied(scopeEpoch, used),
      isDoubtful: (route) => this.faults.isDoubtful(route),
      onFailure: (scopeEpoch, used, error) => this.faults.observe(scopeEpoch, used, error),
    });
    const device = new DeviceReconciler({
      find(key) {
        const entry = catalog.get(key);
        return entry?.kind === "release" ? undefined : entry?.connector;
      },
      routes,
      factory: config.device,
      controller: {
        report: (token, outcome) => scoped.control(controller).report(token, outcome),
        exited: (token, error) => {
          this.unsettled.lost(token.key, error);
          scoped.control(controller).exited(token, error);
        },
      },
      onRelisted: (connectorKey) => this.onRelisted(connectorKey),
      onIncident: (incident) => logger.warn("Something happened to a connector of the device.", { ...incident }),
      now,
      clock: config.clock,
      checkSchema: config.checkSchema,
      readSkills: config.readSkills,
    });
    const scoped = new ScopedReconciler({ account, device });
    return { scoped, device };
  }
}
