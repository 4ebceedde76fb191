import { AggregatedDirectory, type ConnectorTraits, type Reach } from "../aggregation/index.js";
import { type CatalogEntry, scopeKindOf } from "../catalog/index.js";
import { createLocalServer, type LocalServer } from "../local-server/index.js";
import { DEVICE_SCOPE, kindOfScope } from "./account-scope.js";
import { followedScopes, reachedScopes } from "./bound-scopes.js";
import { describeTraits } from "./describe-traits.js";
import { durableRows } from "./durable-rows.js";
import { followNamespaces } from "./following-namespaces.js";
import type { HostParts } from "./host-parts.js";

/** The local server, and what the lists that it serves are made from. */
export interface ServedAgents extends LocalServer {
  /** What was kept of a connector's lists is out of date. */
  invalidate(connectorKey: string): void;
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
    checkSchema: config.checkSchema,
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
      onFailure(route, error) {
        if (route.scope === DEVICE_SCOPE) device.onRequest(route, error);
        else faults.onRequest(route, error);
      },
      onEntryDiagnostics,
      onNameDiagnostics,
      onOmission,
    },
  });
  rules.onChange((connectorKey, isListedAlike) => {
    if (!isListedAlike) directory.onPermissionChange(connectorKey);
  });
  const onFault = (error: unknown): void => logger.error("A fault while serving an agent.", { error });
  const durableBindings = durableRows({ store, clock: config.wallClock, logger });
  try {
    const server = await createLocalServer({ onFault, ...localServer, directory, clock, durableBindings });
    directory.listenFor(server.listeners);
    catalog.onChange((key) => {
      // What was listed of a connector goes with it.
      if (catalog.get(key) === undefined) directory.invalidate(key);
    });
    const invalidate = (connectorKey: string): void => directory.invalidate(connectorKey);
    return {
      ...server,
      get counts() {
        return server.counts;
      },
      invalidate,
      close: (ms) => server.close(ms).finally(() => directory.close()),
    };
  } catch (error) {
    directory.close();
    throw error;
  }
}
