import { AggregatedDirectory, type CatalogFault, type ConnectorTraits, type Reach } from "../aggregation/index.js";
import { type CatalogEntry, type ConnectorCatalog, scopeKindOf } from "../catalog/index.js";
import { type AgentCounts, createLocalServer, type LocalServer } from "../local-server/index.js";
import { DEVICE_SCOPE, kindOfScope } from "./account-scope.js";
import { followedScopes, reachedScopes } from "./bound-scopes.js";
import { catalogRows } from "./catalog-rows.js";
import { describeTraits } from "./describe-traits.js";
import { durableRows } from "./durable-rows.js";
import { followNamespaces } from "./following-namespaces.js";
import type { HostParts } from "./host-parts.js";
import { hasProfile } from "./profiles.js";
import { ownDescriptions, shownDescriptions } from "./shown-descriptions.js";

/** Who uses the local server of a host, and what waits for them. */
export interface HostAgentCounts extends AgentCounts {
  /** Requests that wait at their servers, or are kept to be told, while their agents are asked. */
  readonly heldCalls: number;
  /** Calls that wait to be approved. */
  readonly pendingApprovals: number;
}

/** The local server, and what the lists that it serves are made from. */
export interface ServedAgents extends LocalServer {
  readonly counts: HostAgentCounts;
  /** Ends what waits for agents at its servers, and resolves once it is over there. */
  settleHeld(): Promise<void>;
  /** What was kept of a connector's lists is out of date. */
  invalidate(connectorKey: string): void;
  /** What people ask, whatever agents may do. */
  readonly people: Pick<AggregatedDirectory, "knownTools" | "testCall">;
}

/** Starts the local server of a host. Rejects with `listen_failed` when the port is taken. */
export async function serveAgents(parts: HostParts): Promise<ServedAgents> {
  const {
    catalog,
    config,
    controller,
    device,
    faults,
    logins,
    omissions,
    permissions,
    routes,
    rules,
    statuses,
    store,
  } = parts;
  const { clock, listBudgetMs, localServer, logger, maxListBytes, naming, random, wakeBudgetMs, contracts } = config;
  const namespaces = followNamespaces({ catalog, naming, logger });
  // Asked at every call: an entry never changes.
  const described = new WeakMap<CatalogEntry, ConnectorTraits>();
  const describe = (connectorKey: string): ConnectorTraits | undefined => {
    const entry = catalog.get(connectorKey);
    if (entry === undefined) return undefined;
    const known = described.get(entry);
    if (known !== undefined) return known;
    const traits = describeTraits(entry, contracts);
    described.set(entry, traits);
    return traits;
  };
  const onNameDiagnostics: Reach["onNameDiagnostics"] = (connectorKey, diagnostics) =>
    logger.warn("Tools of a connector are left out of lists.", { connectorKey, diagnostics });
  const onEntryDiagnostics: Reach["onEntryDiagnostics"] = ({ connectorKey }, diagnostics) =>
    logger.warn("Prompts or resources of a connector were left out or mended.", { connectorKey, diagnostics });
  const onOmission: Reach["onOmission"] = (route, reason) => {
    const { connectorKey } = route;
    omissions.note(route, reason);
    if (reason === undefined) logger.info("Lists have a connector again.", { connectorKey });
    else logger.warn("A list left a connector out.", { connectorKey, reason });
  };
  const directory = new AggregatedDirectory({
    routes,
    namespaces,
    clock,
    listBudgetMs,
    wakeBudgetMs,
    contracts,
    maxListBytes,
    maxRememberedResources: config.maxRememberedResources,
    maxResourceSubscriptions: config.maxResourceSubscriptions,
    random,
    journal: parts.journal,
    sealer: parts.sealer,
    heldCalls: config.heldCalls,
    maxInputRounds: config.maxInputRounds,
    approvals: parts.approvals,
    checkSchema: config.checkSchema,
    catalogs: catalogRows({ store, clock: config.wallClock, catalog }),
    now: () => config.wallClock.now(),
    reach: {
      access: permissions,
      admitsEntry: (connectorKey, name) => permissions.admitsEntry(connectorKey, name),
      scopesOf: (binding) => reachedScopes(binding, logins.current),
      followedBy: followedScopes,
      describe,
      missing: (scopes) => statuses.missing(scopes),
      missingOne: (scopes, key) => statuses.missingOne(scopes, key),
      wake(scopes, key) {
        const entry = catalog.get(key);
        const kind = entry && scopeKindOf(entry);
        for (const scope of scopes) if (kindOfScope(scope) === kind) controller.probe(scope, [key]);
      },
      onStatus: (key, run) =>
        parts.status.feed.subscribe(({ status }) => {
          if (status.connectorKey === key) run();
        }),
      onFailure(route, error) {
        if (route.scope === DEVICE_SCOPE) device.onRequest(route, error);
        else faults.onRequest(route, error);
      },
      onEntryDiagnostics,
      onNameDiagnostics,
      onOmission,
      descriptionsOf: (key, { profile }) => shownDescriptions(catalog.get(key), config.profiles, profile),
      onUnfitDescriptions: (connectorKey, diagnostics) =>
        logger.warn("Tools of a connector are left out: what is to be said of them does not fit.", {
          connectorKey,
          diagnostics,
        }),
      onCatalogFault: ({ kind, connectorKey, reason, error }) =>
        logger.warn(CATALOG_FAULTS[kind], { connectorKey, reason, error }),
    },
  });
  parts.feed.subscribe(({ connectorKey }) => parts.approvals.recheck(connectorKey));
  rules.onChange((connectorKey, isListedAlike) => {
    parts.approvals.recheck(connectorKey);
    if (!isListedAlike) directory.onPermissionChange(connectorKey);
  });
  const onFault = (error: unknown): void => logger.error("A fault while serving an agent.", { error });
  const durableBindings = durableRows({ store, clock: config.wallClock, logger });
  try {
    const server = await createLocalServer({ onFault, ...localServer, directory, clock, durableBindings });
    directory.listenFor(server.listeners);
    for (const { name, profile } of server.durableBindings()) {
      const message = "The profile of a durable binding is none of the configuration: it is shown as without one.";
      if (profile !== undefined && !hasProfile(config.profiles, profile)) logger.warn(message, { name, profile });
    }
    parts.catalogs = directory;
    followListed(catalog, directory);
    const invalidate = (connectorKey: string): void => directory.outdate(connectorKey);
    return {
      ...server,
      get counts() {
        return {
          ...server.counts,
          heldCalls: directory.heldCalls,
          pendingApprovals: parts.approvals.counts.pending,
        };
      },
      invalidate,
      people: directory,
      settleHeld: () => directory.settleHeld(),
      close: (ms) => server.close(ms).finally(() => directory.close()),
    };
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** What was listed of a connector goes with it, and with its settings; other descriptions are told. */
function followListed(catalog: ConnectorCatalog, directory: AggregatedDirectory): void {
  const before = new Map(catalog.keys.map((key) => [key, catalog.get(key)]));
  catalog.onChange((key) => {
    const [last, entry] = [before.get(key), catalog.get(key)];
    if (entry === undefined) before.delete(key);
    else before.set(key, entry);
    if (listedBy(last) !== undefined && listedBy(last) !== listedBy(entry)) directory.forget(key);
    if (ownDescriptions(last) !== ownDescriptions(entry)) directory.onPermissionChange(key);
  });
}

/** What a connector's catalog is bound to; `undefined` for one without catalogs. */
function listedBy(entry: CatalogEntry | undefined): string | undefined {
  return entry === undefined || entry.kind === "release" ? undefined : entry.connector.digest;
}

const CATALOG_FAULTS: Readonly<Record<CatalogFault["kind"], string>> = {
  not_kept: "The catalog of a connector could not be kept: it is in memory only.",
  too_large: "The catalog of a connector is too large to be kept: it is in memory only.",
  dropped: "What was kept as a connector's catalog is none of it, and was dropped.",
  not_read: "The catalog of a connector could not be read.",
  not_removed: "The catalog of a connector could not be removed.",
};
