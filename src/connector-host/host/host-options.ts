import {
  type AccountAuthorizer,
  parseHintUrl,
  snapshotUrl,
  systemWallClock,
  type WallClock,
} from "../../auth-projection/index.js";
import { durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import type { Implementation } from "../../protocol/index.js";
import { type Clock, parseEndpoint, systemClock } from "../../transport/index.js";
import { type DirectClientOptions, DirectFactory, type RemoteMcpClientFactory } from "../factories/index.js";
import type { AccountLogins } from "../factories/index.js";
import type { LocalServerOptions } from "../local-server/index.js";
import { createInjectiveNaming, type NamingPolicy } from "../naming/index.js";
import { carefulLogger, type HostLogger, silentLogger } from "./host-logger.js";
import { InstalledConnectors } from "./installed-connectors.js";

/** How a connector host is set up. */
export interface ConnectorHostOptions {
  /** The gateway and its control plane: https, or http on loopback; a path is kept. */
  readonly baseUrl: string | URL;
  /** The releases that this device has, as they were published. */
  readonly releases: readonly unknown[];
  /** Where the credentials of accounts are; asked anew for every request. */
  readonly accounts: AccountAuthorizer;
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
  readonly localServer?: Omit<LocalServerOptions, "directory" | "clock"> | undefined;
  /** How long an agent's list waits for one connector. Default 5,000 ms. */
  readonly listBudgetMs?: number | undefined;
  /** How long a call waits for a connector that is not there yet. Default 15,000 ms. */
  readonly wakeBudgetMs?: number | undefined;
  /** Whether a call reads its tool's contract anew or takes the last one listed. Default `reread`. */
  readonly contracts?: "reread" | "last_list" | undefined;
  readonly logger?: HostLogger | undefined;
  readonly clock?: Clock | undefined;
  readonly wallClock?: WallClock | undefined;
  readonly random?: (() => number) | undefined;
  /** A text that was never an epoch before. Default a random UUID. */
  readonly mintEpoch?: (() => string) | undefined;
}

export interface ConnectorHostConfig {
  readonly baseUrl: string;
  readonly installed: InstalledConnectors;
  readonly accounts: AccountAuthorizer;
  readonly hostInfo: Implementation;
  readonly hintsUrl: string | undefined;
  readonly factory: (logins: AccountLogins) => RemoteMcpClientFactory;
  readonly naming: NamingPolicy;
  readonly localServer: Omit<LocalServerOptions, "directory" | "clock">;
  readonly listBudgetMs: number;
  readonly wakeBudgetMs: number;
  readonly contracts: "reread" | "last_list";
  readonly logger: HostLogger;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly random: () => number;
  readonly mintEpoch: () => string;
}

const OPTION_NAMES: readonly (keyof ConnectorHostOptions)[] = [
  "accounts",
  "baseUrl",
  "client",
  "clock",
  "contracts",
  "factory",
  "hintsUrl",
  "hostInfo",
  "listBudgetMs",
  "localServer",
  "logger",
  "mintEpoch",
  "naming",
  "random",
  "releases",
  "wakeBudgetMs",
  "wallClock",
];

/** Applies the defaults. Throws `invalid_options`, `invalid_url`, `invalid_release`. */
export function resolveConnectorHostOptions(options: ConnectorHostOptions): ConnectorHostConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { contracts = "reread", hostInfo } = options;
  if (contracts !== "reread" && contracts !== "last_list") refuseOption("contracts", "must be reread or last_list");
  const baseUrl = parseEndpoint(options.baseUrl, { allowInsecureHttp: false }).href.replace(/\/+$/, "");
  // Everything that a sign-in is made of is checked here: a login that can't be served must not begin.
  snapshotUrl(baseUrl);
  const clock = options.clock ?? systemClock;
  const client = { clock, ...options.client };
  return {
    baseUrl,
    installed: new InstalledConnectors(options.releases),
    accounts: options.accounts,
    hostInfo,
    hintsUrl: resolveHintsUrl(options.hintsUrl, baseUrl),
    factory: options.factory ?? ((logins) => new DirectFactory({ baseUrl, logins, clientInfo: hostInfo, client })),
    naming: options.naming ?? createInjectiveNaming(),
    localServer: options.localServer ?? {},
    listBudgetMs: durationOption("listBudgetMs", options.listBudgetMs, 5_000),
    wakeBudgetMs: durationOption("wakeBudgetMs", options.wakeBudgetMs, 15_000),
    contracts,
    logger: options.logger === undefined ? silentLogger : carefulLogger(options.logger),
    clock,
    wallClock: options.wallClock ?? systemWallClock,
    random: options.random ?? Math.random,
    mintEpoch: options.mintEpoch ?? (() => crypto.randomUUID()),
  };
}

function resolveHintsUrl(given: string | URL | false | undefined, baseUrl: string): string | undefined {
  if (given === false) return undefined;
  return parseHintUrl(given ?? `${baseUrl.replace(/^http/, "ws")}/v1/events`).href;
}
