import { AggregatedDirectory } from "../aggregation/index.js";
import { createLocalServer, type Binding, type LocalServer } from "../local-server/index.js";
import { buildNamespaceTable } from "../naming/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { StatusReader } from "./status-reader.js";

/** What agents are served from. */
export interface ServedParts {
  readonly config: ConnectorHostConfig;
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly statuses: StatusReader;
  /** The scopes whose routes an agent sees. */
  readonly scopesOf: (binding: Binding) => readonly string[];
  /** A call needs a connector that has no route. */
  readonly wake: (scopes: readonly string[], key: string) => void;
  /** A list or a call over a route failed. */
  readonly onFailure: (route: Route<RemoteMcpClient>, error: unknown) => void;
}

/** Starts the local server on a host's routes. Rejects with `listen_failed` when the port is taken. */
export function serveAgents({
  config,
  routes,
  statuses,
  scopesOf,
  wake,
  onFailure,
}: ServedParts): Promise<LocalServer> {
  const { clock, installed, listBudgetMs, localServer, logger, naming, wakeBudgetMs, contracts } = config;
  const namespaces = buildNamespaceTable(naming, installed.keys);
  for (const diagnostic of namespaces.diagnostics) logger.warn("Connectors share a namespace.", { ...diagnostic });
  const directory = new AggregatedDirectory({
    routes,
    namespaces,
    clock,
    listBudgetMs,
    wakeBudgetMs,
    contracts,
    reach: { scopesOf, missing: (scopes) => statuses.missing(scopes), wake, onFailure },
  });
  const onFault = (error: unknown): void => logger.error("A fault while serving an agent.", { error });
  return createLocalServer({ onFault, ...localServer, directory, clock });
}
