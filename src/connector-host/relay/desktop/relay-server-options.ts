import { isIP } from "node:net";
import { countOption, durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../../../options.js";
import {
  carefulLogger,
  type Clock,
  type Deadlines,
  type DeadlineOptions,
  type Exchange,
  isLoopback,
  type Logger,
  resolveDeadlines,
  silentLogger,
  systemClock,
} from "../../../transport/index.js";
import { parseGatewayBase, resolveVersionPin, type VersionPin, type VersionPinOptions } from "../../gateway-route.js";
import type { RelayLogins } from "./relay-logins.js";

/** Where guests find the relay: an address of this machine, loopback when none is named, or a Unix socket. */
export type RelayListenOptions =
  | { readonly host?: string | undefined; readonly port?: number | undefined }
  | { readonly socketPath: string };

/** A request that is about to leave. */
export interface RelayedRequest {
  readonly leaseId: string;
  readonly accountId: string;
  readonly connectorKey: string;
  readonly method: string;
}

/** Deadlines of the requests that the relay makes are its own; the guest's, when shorter, end them by an abort. */
export interface RelayServerOptions extends VersionPinOptions, DeadlineOptions {
  /** The gateway: https, or http on loopback; a path is kept; no userinfo, query or fragment. */
  readonly baseUrl: string | URL;
  readonly logins: RelayLogins;
  readonly listen?: RelayListenOptions | undefined;
  /** The desktop's last word before a request's first byte is written: a reason refuses it. Synchronous. */
  readonly admit?: ((request: RelayedRequest) => string | undefined) | undefined;
  /** Leases at once. Default 64. */
  readonly maxLeases?: number | undefined;
  /** How long a lease is good for, unless it is granted or renewed for another time. Default an hour. */
  readonly leaseLifetimeMs?: number | undefined;
  /** Requests of one lease under way at once; one more is refused, not queued. Default 128. */
  readonly maxRequestsPerLease?: number | undefined;
  /** The body of one request. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * What of one answer may wait for its guest, where the exchange can't be told to pause; undici's can, and holds no more than
   * it has read. Default 16 MiB.
   */
  readonly maxBufferedBytes?: number | undefined;
  /** Makes the exchange with the gateway. undici's when left out. */
  readonly createExchange?: ((origin: string) => Exchange) | undefined;
  /** Told of leases and of refused requests. Silent when left out. */
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/** {@link RelayServerOptions} with nothing left open. */
export interface RelayServerConfig extends VersionPin, Deadlines {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logins: RelayLogins;
  readonly listen: RelayListenOptions;
  readonly admit: (request: RelayedRequest) => string | undefined;
  readonly maxLeases: number;
  readonly leaseLifetimeMs: number;
  readonly maxRequestsPerLease: number;
  readonly maxBodyBytes: number;
  readonly maxBufferedBytes: number;
  readonly createExchange: ((origin: string) => Exchange) | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
}

const OPTION_NAMES: readonly (keyof RelayServerOptions)[] = [
  "admit",
  "baseUrl",
  "clock",
  "connectTimeoutMs",
  "createExchange",
  "idleTimeoutMs",
  "leaseLifetimeMs",
  "listen",
  "logger",
  "logins",
  "maxBodyBytes",
  "maxBufferedBytes",
  "maxLeases",
  "maxRequestsPerLease",
  "totalTimeoutMs",
  "versionHeader",
  "versionMetaKey",
];

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

/** Fills in defaults. Throws `invalid_options`, `invalid_url` or `invalid_header`. */
export function resolveRelayServerOptions(options: RelayServerOptions): RelayServerConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  return {
    baseUrl: parseGatewayBase(options.baseUrl),
    ...resolveVersionPin(options),
    ...resolveDeadlines(options, { connectTimeoutMs: 30_000, idleTimeoutMs: 60_000, totalTimeoutMs: HOUR_MS }),
    logins: options.logins,
    listen: resolveListen(options.listen ?? {}),
    admit: functionOption("admit", options.admit, () => undefined),
    maxLeases: countOption("maxLeases", options.maxLeases, 64),
    leaseLifetimeMs: durationOption("leaseLifetimeMs", options.leaseLifetimeMs, HOUR_MS),
    maxRequestsPerLease: countOption("maxRequestsPerLease", options.maxRequestsPerLease, 128),
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 4 * MIB),
    maxBufferedBytes: countOption("maxBufferedBytes", options.maxBufferedBytes, 16 * MIB),
    createExchange: options.createExchange,
    logger: options.logger === undefined ? silentLogger : carefulLogger(options.logger),
    clock: options.clock ?? systemClock,
  };
}

/** Every interface at once is no interface that was named. */
function resolveListen(listen: RelayListenOptions): RelayListenOptions {
  refuseUnknownOptions(listen, ["host", "port", "socketPath"]);
  if ("socketPath" in listen || listen.host === undefined) return listen;
  const { host } = listen;
  const isWildcard = /^[0:.]+$/.test(host) || host === "::ffff:0.0.0.0";
  if (isWildcard || (isIP(host) === 0 && !isLoopback(host))) {
    refuseOption("listen", "must name the address of one interface");
  }
  return listen;
}
