import { AggregatedDirectory, type ConnectorTraits, type Reach } from "../aggregation/index.js";
import { createLocalServer, type Binding, type DurableBindingRows, type LocalServer } from "../local-server/index.js";
import type { CatalogEntry, ConnectorCatalog } from "../catalog/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Permissions } from "../permissions/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { followedScopes } from "./bound-scopes.js";
import { describeTraits } from "./describe-traits.js";
import { followNamespaces } from "./following-namespaces.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { RuleBook } from "./rule-book.js";
import type { ListOmissions } from "./list-omissions.js";
import type { StatusReader } from "./status-reader.js";

/** What agents are served from. */
export interface ServedParts {
  readonly catalog: ConnectorCatalog;
  readonly config: ConnectorHostConfig;
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly statuses: StatusReader;
  readonly omissions: ListOmissions;
  readonly permissions: Permissions;
  readonly rules: Pick<RuleBook, "onChange">;
  readonly durableBindings: DurableBindingRows;
  /** The scopes whose routes an agent sees. */
  readonly scopesOf: (binding: Binding) => readonly string[];
  /** A call needs a connector that has no route. */
  readonly wake: (scopes: readonly string[], key: string) => void;
  /** A list or a call over a route failed. */
  readonly onFailure: (route: Route<RemoteMcpClient>, error: unknown) => void;
}

/** The local server, and what the lists that it serves are made from. */
export interface ServedAgents extends LocalServer {
  /** What was kept of a connector's lists is out of date. */
  invalidate(connectorKey: string): void;
}

/** Starts the local server on a host's routes. Rejects with `listen_failed` when the port is taken. */
export async function serveAgents({
  catalog,
  config,
  routes,
  statuses,
  omissions,
  permissions,
  rules,
  durableBindings,
  scopesOf,
  wake,
  onFailure,
}: ServedParts): Promise<ServedAgents> {
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
      scopesOf,
      followedBy: followedScopes,
      describe,
      missing: (scopes) => statuses.missing(scopes),
      missingOne: (scopes, key) => statuses.missingOne(scopes, key),
      wake,
      onFailure,
      onEntryDiagnostics,
      onNameDiagnostics,
      onOmission,
    },
  });
  rules.onChange((connectorKey, isListedAlike) => {
    if (!isListedAlike) directory.onPermissionChange(connectorKey);
  });
  const onFault = (error: unknown): void => logger.error("A fault while serving an agent.", { error });
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
