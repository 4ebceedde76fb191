import { refuseOption } from "../options.js";
import { createMemoryStore, openSqliteJournalRows, openSqliteStore } from "../store/index.js";
import { carefulLogger, silentLogger } from "../transport/index.js";
import { openAgentServer } from "./agent-socket/index.js";
import { type HostControl, openControlServer } from "./control/index.js";
import { RegistrationFiles } from "./device/index.js";
import {
  ConnectorHost,
  type ConnectorHostOptions,
  type HostLogger,
  type HostStore,
  type OpenSockets,
} from "./host/index.js";
import type { JournalRows } from "./journal/index.js";

/** {@link ConnectorHostOptions}, and where the host keeps its state. */
export interface OpenConnectorHostOptions extends ConnectorHostOptions {
  /**
   * The folder of `host.db` and `calls.db`, of registrations and of the sockets, made for its owner only. Left out: everything is forgotten with
   * the process, and there is no socket.
   */
  readonly stateDirectory?: string | undefined;
  /** Whether other processes can talk to the host over a socket in its state directory (`connectToHost`). Default true. */
  readonly controlSocket?: boolean | undefined;
  /** Whether agents can reach the host over a socket in its state directory (`serveStdio`). Default true. */
  readonly agentSocket?: boolean | undefined;
}

/**
 * Opens the store and starts a connector host on it.
 *
 * Rejects with what `ConnectorHost.start` rejects with; with `store_unavailable`, `store_full` or `store_newer_format` when the
 * store can't be opened, and with `store_in_use` when another process has it, to which `connectToHost` talks; with
 * `listen_failed` when a socket can't be opened (`path_too_long`: the path of the directory is), which `controlSocket: false`
 * and `agentSocket: false` go without.
 */
export async function openConnectorHost(options: OpenConnectorHostOptions): Promise<ConnectorHost> {
  const { stateDirectory, controlSocket = true, agentSocket = true, ...given } = options;
  if (stateDirectory === undefined) return ConnectorHost.start(given, createMemoryStore());
  // The store has another name for it.
  if (typeof stateDirectory !== "string" || stateDirectory === "") refuseOption("stateDirectory", "must be a path");
  const store = await openSqliteStore({ directory: stateDirectory });
  const logger = carefulLogger(options.logger ?? silentLogger);
  const host = {
    ...given,
    registrationStore: given.registrationStore ?? new RegistrationFiles(stateDirectory),
    journalRows: given.journalRows ?? (await openJournalRows(stateDirectory, store, options, logger)),
  };
  const onFault = (error: unknown): void => logger.error("A fault while serving a socket.", { error });
  const openSockets: OpenSockets = async (started, agents) => {
    const opened: { close(closeTimeoutMs?: number): Promise<void> }[] = [];
    const close = async (closeTimeoutMs?: number): Promise<void> => {
      await Promise.all(opened.map((socket) => socket.close(closeTimeoutMs)));
    };
    try {
      const control = controlOf(started, options);
      if (controlSocket)
        opened.push(await openControlServer({ stateDirectory, control, admin: started.admin, onFault }));
      if (agentSocket) opened.push(await openAgentServer({ stateDirectory, agents, onFault }));
    } catch (error) {
      await close();
      throw error;
    }
    return { close };
  };
  return ConnectorHost.start(host, store, openSockets);
}

/** `undefined` when there is to be none, or when the host may go on without one. Closes the store when it rejects. */
async function openJournalRows(
  directory: string,
  store: HostStore,
  { journal = {} }: ConnectorHostOptions,
  logger: HostLogger,
): Promise<JournalRows | undefined> {
  if (journal === false) return undefined;
  try {
    return await openSqliteJournalRows({ directory });
  } catch (error) {
    if (journal.onUnavailable === "go_on") {
      logger.error("The journal can't be opened: requests are not written down.", { error });
      return undefined;
    }
    await store.close();
    throw error;
  }
}

function controlOf(host: ConnectorHost, { hostInfo }: ConnectorHostOptions): HostControl {
  return {
    refresh: () => host.refresh(),
    status: async () => ({
      host: { name: hostInfo.name, version: hostInfo.version },
      processId: process.pid,
      nodeVersion: process.version,
      url: host.url,
      login: host.login,
      connectors: await host.status(),
      issues: host.connectors.registrations.issues,
      gates: { account: gateOf(host, "account"), device: gateOf(host, "device") },
      agents: host.agents,
    }),
  };
}

function gateOf({ gates }: ConnectorHost, kind: "account" | "device"): "open" | "closed" {
  return gates.isOpen(kind) ? "open" : "closed";
}

export {
  type AdminLink,
  type ManagedSignIn,
  type SignInRequest,
  type AdminPlane,
  type AdminVerbs,
  type CallQuery,
  type ManagedApproval,
  type ManagedCall,
  type ManagedCatalog,
  type ManagedConnector,
  type ManagedTool,
  type ManagementView,
  type TestCallRequest,
  type TestCallResult,
} from "./admin/index.js";
export {
  type Confirm,
  confirmAtTerminal,
  connectToHost,
  type ConnectToHostOptions,
  type ControlledAgents,
  type ControlledConnector,
  type ControlledIssue,
  type HostConnection,
  type HostStatus,
} from "./control/index.js";

export {
  type ActivationFault,
  type AuthorizationDemand,
  classifyActivationFault,
  readAuthorizationDemand,
} from "./activation/index.js";
export type { ApprovalDecision, ApprovalRequest, Approve, OperatorApprovals } from "./approvals/index.js";
export {
  createRegistrationMemory,
  type EnvironmentSource,
  RegistrationFiles,
  type RegistrationStore,
  type SecretSource,
} from "./device/index.js";
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
  type AgentProfile,
  type AgentSession,
  type AuthorizeConnectorOptions,
  type CatalogOptions,
  type CatalogTool,
  type CatalogView,
  type CloseOptions,
  ConnectorHost,
  type ConnectorAdmin,
  type ConnectorHostOptions,
  type ConnectorStatus,
  type HostLogger,
  type HostStore,
  type HostTx,
  type InstallOptions,
  type ListedConnector,
  type LogFields,
  type Obstacle,
  type PublicationEvent,
  type PublicationListener,
  type RegistrationAdmin,
  type ServerAccounts,
  type ServerSignInOptions,
  type StalePermission,
  type StatusChange,
  type StatusListener,
} from "./host/index.js";
export {
  type JournalCounts,
  type JournaledRequest,
  type JournalFilter,
  type JournalOptions,
  type JournalQuery,
  type JournalReader,
  type JournalRows,
  type RedactBody,
  redactJson,
  type RequestKind,
} from "./journal/index.js";
export {
  type Binding,
  type BoundAgent,
  type BoundLogin,
  type DurableAgent,
  type DurableBinding,
  type DurableBindingRequest,
  type DurableBindingRow,
  type DurableBindingRows,
  createLocalServer,
  type ExposedTool,
  type Invocation,
  type LocalServer,
  type LocalServerOptions,
  type OmittedConnector,
  type ResolvedTool,
  type UnmadeRequest,
  type UpstreamAnswer,
  type ToolCall,
  type ToolDirectory,
  type ToolListing,
} from "./local-server/index.js";
export {
  type AliasableTool,
  type AliasOptions,
  type AliasTable,
  assignAliases,
  createInjectiveNaming,
  createRawNaming,
  type InjectiveNamingOptions,
  keepAdvertised,
  type KnownNamespaces,
  type NameDiagnostic,
  type NamingPolicy,
  type RawNamingOptions,
  type SplitName,
  type ToolIdentity,
} from "./naming/index.js";
export type { AccessGlobs } from "./permissions/index.js";
export {
  createRelayServer,
  type GrantedLease,
  type LeasedConnector,
  type LeaseRequest,
  type RelayAddress,
  type RelayedRequest,
  RelayFactory,
  type RelayFactoryOptions,
  type RelayListenOptions,
  type RelayLogins,
  relayLogins,
  type RelayServer,
  type RelayServerOptions,
} from "./relay/index.js";
export {
  CAPABILITIES,
  type Capability,
  type ConfiguredValue,
  type ConnectionSettings,
  type OAuthSettings,
  createRegistration,
  declareRegistration,
  declareStdioConnector,
  type DescriptionOverride,
  type EnvironmentRef,
  joinKeySpace,
  type KeyedConnector,
  type KeySpaceSources,
  type LoadedRegistrations,
  loadRegistrations,
  type ManagedStdioConnector,
  parseRegistration,
  parseStdioConnector,
  type PermissionRules,
  type ProtocolPreference,
  readRegistration,
  type Registration,
  registrationFileName,
  type RegistrationPolicy,
  type RegistrationRequest,
  type ReleaseCapability,
  replaceSettings,
  type SecretRef,
  settingsDigest,
  type SettingsReplacement,
  type StorageIssue,
  type StoredFile,
  type Table,
  type ToolPermission,
  type ToolRules,
  type ValuePart,
  writeRegistration,
} from "./registration/index.js";
export { type AuthorizationKind, parseRelease, type Release, releaseDigest } from "./release/index.js";
export { type FenceKind, Route, RouteTable, type RouteTableOptions } from "./routes/index.js";
export {
  ImportedSecret,
  type ImportedServer,
  type ImportNote,
  type ImportNoteKind,
  type ImportOptions,
  type ImportRefusal,
  type ImportResult,
  importServers,
  type MissingSecret,
} from "./server-import/index.js";
export type { Skill, SkillFolders, SkillRoot } from "./skills/index.js";
export * from "../result-projection/index.js";
export { serveStdio, type ServeStdioOptions } from "./stdio-shim/index.js";
export {
  composerStatusOf,
  type ComposerStatus,
  type ConnectorState,
  readConnectorState,
  type ReportedConnector,
  reportStatus,
  type StatusReport,
  type StatusReportOptions,
  type StatusRow,
} from "./status/index.js";
