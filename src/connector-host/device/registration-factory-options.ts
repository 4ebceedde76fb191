import {
  type ConnectHttpOptions,
  type ConnectStdioOptions,
  createEraMemory,
  type EraMemory,
} from "../../connect/index.js";
import { countOption, durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import type { Diagnostic, Implementation } from "../../protocol/index.js";
import {
  type Authorize,
  type Authorizer,
  type Clock,
  LIFECYCLE_TIMEOUT_MS,
  systemClock,
} from "../../transport/index.js";
import type { Registration } from "../registration/index.js";
import type { EnvironmentSource, SecretSource } from "./device-ports.js";

/** Options of the clients of all registered servers. A registration's own deadlines go before these. */
export type RegisteredClientOptions = Pick<
  ConnectHttpOptions,
  | "connectTimeoutMs"
  | "idleTimeoutMs"
  | "lifecycleTimeoutMs"
  | "maxBodyBytes"
  | "maxConcurrentRequests"
  | "maxErrorBodyBytes"
  | "maxEventBytes"
  | "maxItems"
  | "maxListBytes"
  | "maxPages"
  | "maxQueuedRequests"
  | "maxStreamBytes"
  | "totalTimeoutMs"
>;

/** Options of all managed programs and of their clients. */
export type ProgramClientOptions = Pick<
  ConnectStdioOptions,
  | "closeGraceMs"
  | "connectTimeoutMs"
  | "idleTimeoutMs"
  | "inheritEnvironment"
  | "maxItems"
  | "maxLineBytes"
  | "maxListBytes"
  | "maxPages"
  | "maxQueuedMessages"
  | "stderrTailBytes"
  | "totalTimeoutMs"
>;

export interface RegistrationFactoryOptions {
  /** Who the host says it is. */
  readonly clientInfo: Implementation;
  /** Left out, there are no secrets: what refers to one can't be started. */
  readonly secrets?: SecretSource | undefined;
  /** Left out, no variable is set. */
  readonly environment?: EnvironmentSource | undefined;
  /** Gives what authorizes the requests to a registered server. Left out, or `undefined`: nothing beside its headers does. */
  readonly authorize?: ((registration: Registration) => Authorize | Authorizer | undefined) | undefined;
  /** Where the eras of servers are remembered. Left out: in this factory. */
  readonly eraMemory?: EraMemory | undefined;
  /** Permits plain http to hosts other than loopback, as the policy of registrations does. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  readonly http?: RegisteredClientOptions | undefined;
  readonly stdio?: ProgramClientOptions | undefined;
  /**
   * Connections over which a legacy server over HTTP may ask the agents of calls, beside its plain one, for connectors that are opened
   * for that. Default 4.
   */
  readonly maxLeasedConnections?: number | undefined;
  /** How many calls may wait for such a connection of one server, or for their turn on the only one of a program. Default 1,000. */
  readonly maxWaitingLeases?: number | undefined;
  /** Told of everything that a connector's client tolerates, as it happens. */
  readonly onDiagnostic?: ((connectorKey: string, diagnostic: Diagnostic) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** {@link RegistrationFactoryOptions} with nothing left open. */
export interface RegistrationFactoryConfig {
  readonly clientInfo: Implementation;
  readonly secrets: SecretSource;
  readonly environment: EnvironmentSource;
  readonly authorize: (registration: Registration) => Authorize | Authorizer | undefined;
  readonly eraMemory: EraMemory;
  readonly allowInsecureHttp: boolean;
  readonly http: RegisteredClientOptions;
  readonly stdio: ProgramClientOptions;
  readonly maxLeasedConnections: number;
  readonly maxWaitingLeases: number;
  readonly onDiagnostic: (connectorKey: string, diagnostic: Diagnostic) => void;
  readonly clock: Clock;
}

const OPTION_NAMES: readonly (keyof RegistrationFactoryOptions)[] = [
  "allowInsecureHttp",
  "authorize",
  "clientInfo",
  "clock",
  "environment",
  "eraMemory",
  "http",
  "maxLeasedConnections",
  "maxWaitingLeases",
  "onDiagnostic",
  "secrets",
  "stdio",
];

const HTTP_NAMES: readonly (keyof RegisteredClientOptions)[] = [
  "connectTimeoutMs",
  "idleTimeoutMs",
  "lifecycleTimeoutMs",
  "maxBodyBytes",
  "maxConcurrentRequests",
  "maxErrorBodyBytes",
  "maxEventBytes",
  "maxItems",
  "maxListBytes",
  "maxPages",
  "maxQueuedRequests",
  "maxStreamBytes",
  "totalTimeoutMs",
];

const STDIO_NAMES: readonly (keyof ProgramClientOptions)[] = [
  "closeGraceMs",
  "connectTimeoutMs",
  "idleTimeoutMs",
  "inheritEnvironment",
  "maxItems",
  "maxLineBytes",
  "maxListBytes",
  "maxPages",
  "maxQueuedMessages",
  "stderrTailBytes",
  "totalTimeoutMs",
];

const NOTHING = { read: () => undefined };

/** Fills in defaults. Throws `invalid_options`. */
export function resolveRegistrationFactoryOptions(options: RegistrationFactoryOptions): RegistrationFactoryConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { allowInsecureHttp = false, http = {}, stdio = {} } = options;
  refuseUnknownOptions(http, HTTP_NAMES);
  refuseUnknownOptions(stdio, STDIO_NAMES);
  durationOption("lifecycleTimeoutMs", http.lifecycleTimeoutMs, LIFECYCLE_TIMEOUT_MS);
  if (typeof allowInsecureHttp !== "boolean") refuseOption("allowInsecureHttp", "must be true or false");
  return {
    clientInfo: options.clientInfo,
    secrets: options.secrets ?? NOTHING,
    environment: options.environment ?? NOTHING,
    authorize: functionOption("authorize", options.authorize, () => undefined),
    eraMemory: options.eraMemory ?? createEraMemory(),
    allowInsecureHttp,
    http,
    stdio,
    maxLeasedConnections: countOption("maxLeasedConnections", options.maxLeasedConnections, 4),
    maxWaitingLeases: countOption("maxWaitingLeases", options.maxWaitingLeases, 1_000, 0),
    onDiagnostic: functionOption("onDiagnostic", options.onDiagnostic, () => undefined),
    clock: options.clock ?? systemClock,
  };
}
