import { createMemoryStore, openSqliteStore } from "../store/index.js";
import { ConnectorHost, type ConnectorHostOptions } from "./host/index.js";

/** {@link ConnectorHostOptions}, and where the host keeps its state. */
export interface OpenConnectorHostOptions extends ConnectorHostOptions {
  /** The folder of `host.db`, made for its owner only. Left out: everything is forgotten with the process. */
  readonly stateDirectory?: string | undefined;
}

/**
 * Opens the store and starts a connector host on it.
 *
 * Rejects with what `ConnectorHost.start` rejects with, and with `store_unavailable`, `store_in_use`, `store_full` or
 * `store_newer_format` when the store can't be opened.
 */
export async function openConnectorHost(options: OpenConnectorHostOptions): Promise<ConnectorHost> {
  const { stateDirectory, ...host } = options;
  const store =
    stateDirectory === undefined ? createMemoryStore() : await openSqliteStore({ directory: stateDirectory });
  return ConnectorHost.start(host, store);
}

export {
  type ActivationFault,
  type AuthorizationDemand,
  classifyActivationFault,
  readAuthorizationDemand,
} from "./activation/index.js";
export {
  type AccountLogins,
  type DirectClientOptions,
  DirectFactory,
  type DirectFactoryOptions,
  type RemoteMcpClient,
  type RemoteMcpClientFactory,
  type RemoteMcpClientRequest,
} from "./factories/index.js";
export {
  type AgentSession,
  ConnectorHost,
  type ConnectorHostOptions,
  type ConnectorState,
  type ConnectorStatus,
  type HostLogger,
  type HostStore,
  type HostTx,
  type LogFields,
  type Obstacle,
  type PublicationEvent,
  type PublicationListener,
} from "./host/index.js";
export {
  type Binding,
  type BoundAgent,
  type BoundLogin,
  createLocalServer,
  type ExposedTool,
  type Invocation,
  type LocalServer,
  type LocalServerOptions,
  type OmittedConnector,
  type ResolvedTool,
  type ToolAnswer,
  type ToolCall,
  type ToolDirectory,
  type ToolListing,
} from "./local-server/index.js";
export {
  createInjectiveNaming,
  type InjectiveNamingOptions,
  type KnownNamespaces,
  type NamingPolicy,
  type SplitName,
} from "./naming/index.js";
export { type AuthorizationKind, parseRelease, type Release, releaseDigest } from "./release/index.js";
export { type FenceKind, Route, RouteTable, type RouteTableOptions } from "./routes/index.js";
