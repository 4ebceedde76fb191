import type { ConnectorCatalog } from "../catalog/index.js";
import { buildNamespaceTable, type NamespaceTable, type NamingPolicy } from "../naming/index.js";
import type { HostLogger } from "./host-logger.js";

export interface FollowingNamespacesOptions {
  readonly catalog: ConnectorCatalog;
  readonly naming: NamingPolicy;
  readonly logger: HostLogger;
}

/** The namespaces of all connectors that there are, anew after each change of the catalog. */
export function followNamespaces({ catalog, naming, logger }: FollowingNamespacesOptions): NamespaceTable {
  let built: NamespaceTable | undefined;
  const table = (): NamespaceTable => {
    if (built !== undefined) return built;
    built = buildNamespaceTable(naming, catalog.keys);
    for (const diagnostic of built.diagnostics) logger.warn("Connectors share a namespace.", { ...diagnostic });
    return built;
  };
  catalog.onChange(() => (built = undefined));
  // What is wrong from the start on is said at the start.
  table();
  return {
    policy: naming,
    namespaceOf: (connectorKey) => table().namespaceOf(connectorKey),
    locate: (exposedName) => table().locate(exposedName),
    get diagnostics() {
      return table().diagnostics;
    },
  };
}
