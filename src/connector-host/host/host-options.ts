import { type AccountAuthorizer, systemWallClock, type WallClock } from "../../auth-projection/index.js";
import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import type { Implementation } from "../../protocol/index.js";
import { createSchemaCheck, type SchemaCheck } from "../../protocol/json-schema/index.js";
import type { OAuth } from "../../oauth/index.js";
import { type Authorize, type Authorizer, type Clock, systemClock } from "../../transport/index.js";
import { type DirectClientOptions, DirectFactory, type RemoteMcpClientFactory } from "../factories/index.js";
import type { AccountLogins } from "../factories/index.js";
import { type ApprovalOptions, type ApprovalSettings, resolveApprovalOptions } from "../approvals/index.js";
import { type JournalConfig, type JournalOptions, type JournalRows, resolveJournalOptions } from "../journal/index.js";
import type { LocalServerOptions } from "../local-server/index.js";
import { type DeclaredConnectors, declareConnectors } from "../catalog/index.js";
import { createInjectiveNaming, type NamingPolicy } from "../naming/index.js";
import {
  createRegistrationMemory,
  type EnvironmentSource,
  RegistrationFactory,
  type RegistrationFactoryOptions,
  type RegistrationStore,
  type SecretSource,
} from "../device/index.js";
import { type AccessGlobs, type AccessTest, compileAccessGlobs } from "../permissions/index.js";
import {
  type Registration,
  type RegistrationPolicy,
  type ReleaseCapability,
  toolPermission,
  type ToolPermission,
} from "../registration/index.js";
import { resolveSkillSource, type SkillFolders, type SkillSource } from "../skills/index.js";
import { type ControlPlane, noControlPlane, resolveControlPlane } from "./control-plane.js";
import { type AgentProfile, type Profiles, resolveProfiles } from "./profiles.js";
import { type HeldCallConfig, resolveHeldCallLimits } from "../rounds/index.js";
import { carefulLogger, type HostLogger, silentLogger } from "./host-logger.js";
import { ServerAuthorizers } from "./server-authorizers.js";

/** How a connector host is set up. */
export interface ConnectorHostOptions extends ApprovalOptions {
  /**
   * The gateway and its control plane: https, or http on loopback; a path is kept. Left out, with `accounts`: a host that serves the
   * connectors of its device only, and refuses `signIn`.
   */
  readonly baseUrl?: string | URL | undefined;
  /** The releases that this device has, as they were published. */
  readonly releases?: readonly unknown[] | undefined;
  /** What connectors of releases are opened for, by key. Left out: their tools. */
  readonly capabilities?: Readonly<Record<string, readonly ReleaseCapability[]>> | undefined;
  /** Servers over HTTP that the host's own configuration declares. They are active, and their tools allowed unless they say otherwise. */
  readonly registrations?: readonly unknown[] | undefined;
  /** Programs of this machine that the host's own configuration declares, active and allowed like these servers. */
  readonly stdio?: readonly unknown[] | undefined;
  /** What is allowed in definitions of servers and programs. Default: neither plain http but to loopback, nor secrets as texts. */
  readonly registrationPolicy?: RegistrationPolicy | undefined;
  /** Servers beyond which none can be registered, those of `registrations` counted. Default 1,024. */
  readonly maxRegistrations?: number | undefined;
  /** Where registrations are kept that people make. Default: they are forgotten with the process. */
  readonly registrationStore?: RegistrationStore | undefined;
  /** Where the secrets are that registrations and programs refer to. Default: there are none. */
  readonly secrets?: SecretSource | undefined;
  /** The variables that they refer to. Default: none is set. */
  readonly environment?: EnvironmentSource | undefined;
  /**
   * Signs people in to registered servers that ask for OAuth: what `createOAuth` made, and its owner closes. Nobody is asked by the
   * requests of a host: `connectors.accounts.signIn` asks. Default: such servers are `authorization_required`.
   */
  readonly oauth?: OAuth | undefined;
  /** Gives what authorizes the requests to a registered server, in place of OAuth. Default: nothing beside its headers does. */
  readonly authorizeServer?: ((registration: Registration) => Authorize | Authorizer | undefined) | undefined;
  /** Where the eras of registered servers and programs are remembered. Default: in this process. */
  readonly eraMemory?: RegistrationFactoryOptions["eraMemory"];
  /** Where the credentials of accounts are; asked anew for every request. */
  readonly accounts?: AccountAuthorizer | undefined;
  /** Who the host says it is; its version is what a release's `minimumHostVersion` is compared with. */
  readonly hostInfo: Implementation;
  /** Where changes of authorization are announced: wss, or ws on loopback. `false`: only the poll. Default `{baseUrl}/v1/events`. */
  readonly hintsUrl?: string | URL | false | undefined;
  /** How the physical path to connectors is made. Default: straight over the gateway. */
  readonly factory?: ((logins: AccountLogins) => RemoteMcpClientFactory) | undefined;
  /** Passed on to each client of the default factory. */
  readonly client?: DirectClientOptions | undefined;
  /** How tools are named. Default: injective names with the connector's namespace. */
  readonly naming?: NamingPolicy | undefined;
  /** The local server's own options. */
  readonly localServer?: Omit<LocalServerOptions, "directory" | "clock" | "durableBindings"> | undefined;
  /** How long an agent's list waits for one connector. Default 5,000 ms. */
  readonly listBudgetMs?: number | undefined;
  /**
   * Bytes of all definitions in one list; the connectors with the largest lists are left out of one that has more. Default 15 MiB: with
   * it a list fits into an event of 16 MiB, which is what the clients of this package take.
   */
  readonly maxListBytes?: number | undefined;
  /**
   * How many URIs of lists, as many of results, and as many templates are remembered for each agent session, to know whose they
   * are. Default 16,384.
   */
  readonly maxRememberedResources?: number | undefined;
  /** Resources that servers are asked to tell of changes of, for all agents. Default 1,024. */
  readonly maxResourceSubscriptions?: number | undefined;
  /** Calls of one agent session that wait at legacy servers while it is asked. Default 8. */
  readonly maxHeldCallsPerBinding?: number | undefined;
  /** Calls of all agents that wait so. Default 256. */
  readonly maxHeldCalls?: number | undefined;
  /** How long such a call waits for the agent to go on with it; it is then cancelled at its server. Default 600,000 ms. */
  readonly heldCallTimeoutMs?: number | undefined;
  /** What a legacy server may ask for in one such call before anything of it is answered; what is beyond is refused. Default 32. */
  readonly maxWaitingAsks?: number | undefined;
  /** Bytes of all results of such calls that came while their agents were being asked, and wait for these. Default 32 MiB. */
  readonly maxHeldResultBytes?: number | undefined;
  /** Connections over which one legacy server over HTTP may ask the agents of calls, beside its plain one. Default 4. */
  readonly maxLeasedConnections?: number | undefined;
  /** Calls that wait for such a connection of one server, or for their turn on the only one of a program. Default 1,000. */
  readonly maxWaitingLeases?: number | undefined;
  /** How often a modern server may ask before it answers a call of an agent that is asked on its stream. Default 10. */
  readonly maxInputRounds?: number | undefined;
  /** How long a call waits for a connector that is not there yet. Default 15,000 ms. */
  readonly wakeBudgetMs?: number | undefined;
  /**
   * How long closing the host may take in all. What has not ended by then is given up, and logged. Default 15,000 ms: a program that
   * ignores everything but its end by force takes 4,000 ms of it.
   */
  readonly closeTimeoutMs?: number | undefined;
  /** Whether a call reads its tool's contract anew or takes the last one listed. Default `reread`. */
  readonly contracts?: "reread" | "last_list" | undefined;
  /** How requests are written down before they are sent; `false`: they are not. Means nothing without `journalRows`. */
  readonly journal?: JournalOptions | false | undefined;
  /** Where they are written. The host closes them. Default: nowhere; with a state directory, `calls.db` in it. */
  readonly journalRows?: JournalRows | undefined;
  /**
   * What agents of one kind are shown otherwise, by a name that a binding can have (`profile`): descriptions of tools, by connector key and
   * by the name that its server has for the tool. Default: there are none.
   */
  readonly profiles?: Readonly<Record<string, AgentProfile>> | undefined;
  /** What agents may reach at all: tools, prompts and resources, by globs. Default: everything that permissions allow. */
  readonly access?: AccessGlobs | undefined;
  /** What may be done with tools of releases of which nobody decided anything. Default `allow`. */
  readonly newReleaseTools?: ToolPermission | undefined;
  /** Whether tools are left out whose `inputSchema` breaks its own dialect. Providers of models refuse requests that have one. Default `omit`. */
  readonly brokenSchemas?: "omit" | "keep" | undefined;
  /**
   * Where the skills of connectors are on this machine, of any kind: absolute paths by key, or a function. They are read when a
   * connector is activated; one of a release is not activated with a folder that can't be used. Default: no connector has skills.
   */
  readonly skills?: SkillFolders | undefined;
  readonly logger?: HostLogger | undefined;
  readonly clock?: Clock | undefined;
  readonly wallClock?: WallClock | undefined;
  readonly random?: (() => number) | undefined;
  /** A text that was never an epoch before. Default a random UUID. */
  readonly mintEpoch?: (() => string) | undefined;
}

export interface ConnectorHostConfig {
  /** Left out: there are no accounts. */
  readonly controlPlane: ControlPlane | undefined;
  readonly declared: DeclaredConnectors;
  readonly registrationPolicy: RegistrationPolicy;
  readonly maxRegistrations: number;
  readonly registrationStore: RegistrationStore;
  readonly device: RegistrationFactory;
  /** What authorizes the requests to registered servers. */
  readonly authorizers: ServerAuthorizers;
  readonly accounts: AccountAuthorizer;
  readonly hostInfo: Implementation;
  readonly factory: (logins: AccountLogins) => RemoteMcpClientFactory;
  readonly naming: NamingPolicy;
  readonly localServer: Omit<LocalServerOptions, "directory" | "clock" | "durableBindings">;
  readonly listBudgetMs: number;
  readonly maxListBytes: number;
  readonly maxRememberedResources: number;
  readonly maxResourceSubscriptions: number;
  readonly heldCalls: HeldCallConfig;
  readonly maxInputRounds: number;
  readonly wakeBudgetMs: number;
  readonly closeTimeoutMs: number;
  readonly contracts: "reread" | "last_list";
  /** Left out: requests are not written down. */
  readonly journal: { readonly config: JournalConfig; readonly rows: JournalRows } | undefined;
  readonly profiles: Profiles;
  /** Left out: everything may be reached. */
  readonly isReachable: AccessTest | undefined;
  readonly newReleaseTools: ToolPermission;
  readonly approvals: ApprovalSettings;
  /** Left out: broken ones are kept. */
  readonly checkSchema: SchemaCheck | undefined;
  /** Left out: no connector has skills. */
  readonly readSkills: SkillSource | undefined;
  readonly logger: HostLogger;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly random: () => number;
  readonly mintEpoch: () => string;
  /** A new UUID. */
  readonly mintId: () => string;
}

/** Of all tools of all connectors, so that a list finds what the one before found; their text is bounded, too. */
const MAX_KNOWN_SCHEMAS = 32_768;

const OPTION_NAMES: readonly (keyof ConnectorHostOptions)[] = [
  "access",
  "accounts",
  "approvalTimeoutMs",
  "approve",
  "authorizeServer",
  "baseUrl",
  "brokenSchemas",
  "capabilities",
  "client",
  "clock",
  "closeTimeoutMs",
  "contracts",
  "environment",
  "eraMemory",
  "factory",
  "heldCallTimeoutMs",
  "hintsUrl",
  "hostInfo",
  "journal",
  "journalRows",
  "listBudgetMs",
  "localServer",
  "logger",
  "maxAllPendingApprovals",
  "maxHeldCalls",
  "maxHeldCallsPerBinding",
  "maxHeldResultBytes",
  "maxInputRounds",
  "maxLeasedConnections",
  "maxListBytes",
  "maxPendingApprovals",
  "maxRememberedResources",
  "maxRegistrations",
  "maxResourceSubscriptions",
  "maxWaitingAsks",
  "maxWaitingLeases",
  "mintEpoch",
  "naming",
  "newReleaseTools",
  "oauth",
  "operatorApprovals",
  "profiles",
  "random",
  "registrationPolicy",
  "registrationStore",
  "registrations",
  "releases",
  "secrets",
  "skills",
  "stdio",
  "wakeBudgetMs",
  "wallClock",
];

/** Applies the defaults. Throws `invalid_options`, `invalid_url`, `invalid_release`, `invalid_registration`. */
export function resolveConnectorHostOptions(options: ConnectorHostOptions): ConnectorHostConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { access, brokenSchemas = "omit", contracts = "reread", hostInfo, newReleaseTools = "allow" } = options;
  const { registrationPolicy: policy = {} } = options;
  if (contracts !== "reread" && contracts !== "last_list") refuseOption("contracts", "must be reread or last_list");
  if (brokenSchemas !== "omit" && brokenSchemas !== "keep") refuseOption("brokenSchemas", "must be omit or keep");
  if (!toolPermission.safeParse(newReleaseTools).success) {
    refuseOption("newReleaseTools", "must be off, ask or allow");
  }
  const { heldCallTimeoutMs, maxHeldCalls, maxHeldCallsPerBinding, maxHeldResultBytes, maxWaitingAsks } = options;
  const controlPlane = resolveControlPlane(options);
  const clock = options.clock ?? systemClock;
  const client = { clock, ...options.client };
  const { authorizeServer, oauth } = options;
  const authorizers = new ServerAuthorizers({ authorizeServer, oauth });
  return {
    controlPlane,
    registrationPolicy: policy,
    maxRegistrations: countOption("maxRegistrations", options.maxRegistrations, 1_024),
    registrationStore: options.registrationStore ?? createRegistrationMemory(),
    device: new RegistrationFactory({
      clientInfo: hostInfo,
      secrets: options.secrets,
      environment: options.environment,
      authorize: authorizers.authorizerOf,
      eraMemory: options.eraMemory,
      allowInsecureHttp: policy.allowInsecureHttp,
      maxLeasedConnections: options.maxLeasedConnections,
      maxWaitingLeases: options.maxWaitingLeases,
      clock,
    }),
    declared: declareConnectors({
      releases: options.releases ?? [],
      registrations: options.registrations ?? [],
      stdio: options.stdio ?? [],
      capabilities: options.capabilities ?? {},
      policy,
    }),
    authorizers,
    accounts: options.accounts ?? NOBODY,
    hostInfo,
    factory:
      options.factory ??
      ((logins) =>
        controlPlane === undefined
          ? NOWHERE
          : new DirectFactory({ baseUrl: controlPlane.baseUrl, logins, clientInfo: hostInfo, client })),
    naming: options.naming ?? createInjectiveNaming(),
    localServer: options.localServer ?? {},
    listBudgetMs: durationOption("listBudgetMs", options.listBudgetMs, 5_000),
    maxListBytes: countOption("maxListBytes", options.maxListBytes, 15 * 1024 * 1024),
    maxRememberedResources: countOption("maxRememberedResources", options.maxRememberedResources, 16_384),
    maxResourceSubscriptions: countOption("maxResourceSubscriptions", options.maxResourceSubscriptions, 1_024),
    heldCalls: resolveHeldCallLimits({
      maxHeldCallsPerBinding,
      maxHeldCalls,
      heldCallTimeoutMs,
      maxWaitingAsks,
      maxHeldResultBytes,
    }),
    maxInputRounds: countOption("maxInputRounds", options.maxInputRounds, 10),
    wakeBudgetMs: durationOption("wakeBudgetMs", options.wakeBudgetMs, 15_000),
    closeTimeoutMs: durationOption("closeTimeoutMs", options.closeTimeoutMs, 15_000),
    contracts,
    journal: resolveJournal(options),
    profiles: resolveProfiles(options.profiles),
    isReachable: access && compileAccessGlobs(access),
    newReleaseTools,
    approvals: resolveApprovalOptions(options),
    checkSchema: brokenSchemas === "omit" ? createSchemaCheck({ maxCachedSchemas: MAX_KNOWN_SCHEMAS }) : undefined,
    readSkills: resolveSkillSource(options.skills),
    logger: options.logger === undefined ? silentLogger : carefulLogger(options.logger),
    clock,
    wallClock: options.wallClock ?? systemWallClock,
    random: options.random ?? Math.random,
    mintEpoch: options.mintEpoch ?? (() => crypto.randomUUID()),
    mintId: () => crypto.randomUUID(),
  };
}

function resolveJournal({ journal = {}, journalRows }: ConnectorHostOptions): ConnectorHostConfig["journal"] {
  if (journal === false) return undefined;
  const config = resolveJournalOptions(journal);
  return journalRows && { config, rows: journalRows };
}

const NOBODY: AccountAuthorizer = { authorize: () => undefined };
const NOWHERE: RemoteMcpClientFactory = {
  create() {
    throw noControlPlane();
  },
};
