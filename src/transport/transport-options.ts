import { RemoteConnectorError } from "../errors.js";
import { countOption, durationOption, refuseOption } from "../options.js";
import { type Clock, systemClock } from "./clock.js";
import {
  CONNECTION_OPTION_NAMES,
  type ConnectionConfig,
  type ConnectionOptions,
  resolveConnectionOptions,
} from "./connection-options.js";
import { CookieJar } from "./cookie-jar.js";
import type { Exchange, ExchangeCapability } from "./exchange.js";

/** Deadlines of one request, in milliseconds; `Infinity` for none. */
export interface DeadlineOptions {
  /**
   * Until the request is handed to a connection. Default 30,000. Where an exchange lacks `connectDeadline`, only the
   * authorizer is held to it, and connecting to the deadline without a sign of life.
   */
  readonly connectTimeoutMs?: number | undefined;
  /** Without any sign of life afterwards. Default 60,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** From the call to its end, waiting for a turn included. */
  readonly totalTimeoutMs?: number | undefined;
}

/** What every client over HTTP can be told of its transport. */
export interface TransportOptions extends DeadlineOptions, ConnectionOptions {
  /** The largest body that is no stream, in bytes. Default 64 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** The longest event of a stream, in bytes. Default 16 MiB. */
  readonly maxEventBytes?: number | undefined;
  /** All bytes of one stream. Default none. */
  readonly maxStreamBytes?: number | undefined;
  /** How much of the body of a failed answer is kept, in bytes. Default 64 KiB. */
  readonly maxErrorBodyBytes?: number | undefined;
  /** Requests under way at once. Default 64. */
  readonly maxConcurrentRequests?: number | undefined;
  /** Requests that may wait for their turn. Default 1,000. */
  readonly maxQueuedRequests?: number | undefined;
  /** Permits plain http to hosts other than loopback. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /**
   * Keeps the cookies that the origin sets, for as long as the client lives, and sends them back to it: for balancers that
   * want a client to stay with one server. At most 50, of at most 4,096 bytes each, 16 KiB in all. A `Cookie` header of
   * one's own excludes it. Default false.
   */
  readonly cookies?: boolean | undefined;
  /** The exchange to use in place of undici's own. How it connects is said where it is made. */
  readonly exchange?: Exchange | undefined;
  readonly clock?: Clock | undefined;
}

export interface Deadlines {
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

export interface TransportConfig extends Deadlines {
  readonly maxBodyBytes: number;
  readonly maxEventBytes: number;
  readonly maxStreamBytes: number;
  readonly maxErrorBodyBytes: number;
  readonly maxConcurrentRequests: number;
  readonly maxQueuedRequests: number;
  readonly allowInsecureHttp: boolean;
  /** Shared by everything that is sent to the origin. */
  readonly cookies: CookieJar | undefined;
  readonly exchange: Exchange | undefined;
  /** For the exchange that is made when none is given. */
  readonly connection: ConnectionConfig;
  readonly clock: Clock;
}

/** The names of {@link TransportOptions}, for the check of unknown ones. */
export const TRANSPORT_OPTION_NAMES: readonly (keyof TransportOptions)[] = [
  ...CONNECTION_OPTION_NAMES,
  "allowInsecureHttp",
  "clock",
  "connectTimeoutMs",
  "cookies",
  "exchange",
  "idleTimeoutMs",
  "maxBodyBytes",
  "maxConcurrentRequests",
  "maxErrorBodyBytes",
  "maxEventBytes",
  "maxQueuedRequests",
  "maxStreamBytes",
  "totalTimeoutMs",
];

const MIB = 1024 * 1024;

/** How long a call may take in all: an hour. */
export const CALL_TIMEOUT_MS = 3_600_000;
/** How long a lifecycle request or a whole list walk may take. */
export const LIFECYCLE_TIMEOUT_MS = 120_000;

/**
 * Applies the defaults.
 *
 * Throws `invalid_options` for a value out of range, and `unsupported_by_exchange` for an option that the given exchange
 * can't heed.
 */
export function resolveTransportOptions(options: TransportOptions): TransportConfig {
  const deadlines = resolveDeadlines(options, {
    connectTimeoutMs: 30_000,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: CALL_TIMEOUT_MS,
  });
  const { clock = systemClock, cookies = false } = options;
  if (typeof cookies !== "boolean") refuseOption("cookies", "must be true or false");
  if (options.exchange !== undefined) checkExchange(options.exchange, options, deadlines);
  return {
    connectTimeoutMs: deadlines.connectTimeoutMs,
    idleTimeoutMs: deadlines.idleTimeoutMs,
    totalTimeoutMs: deadlines.totalTimeoutMs,
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 64 * MIB),
    maxEventBytes: countOption("maxEventBytes", options.maxEventBytes, 16 * MIB),
    maxStreamBytes: countOption("maxStreamBytes", options.maxStreamBytes, Infinity),
    maxErrorBodyBytes: countOption("maxErrorBodyBytes", options.maxErrorBodyBytes, 64 * 1024),
    maxConcurrentRequests: countOption("maxConcurrentRequests", options.maxConcurrentRequests, 64),
    maxQueuedRequests: countOption("maxQueuedRequests", options.maxQueuedRequests, 1_000, 0),
    allowInsecureHttp: options.allowInsecureHttp ?? false,
    cookies: cookies ? new CookieJar(clock) : undefined,
    exchange: options.exchange,
    connection: resolveConnectionOptions(options),
    clock,
  };
}

const NEEDS: Readonly<Record<(typeof CONNECTION_OPTION_NAMES)[number], ExchangeCapability>> = {
  allowedAddresses: "pinsAddress",
  ca: "tls",
  clientCertificate: "tls",
  http2: "http2",
  lookup: "pinsAddress",
  proxy: "proxy",
};

/** What is configured must be heeded: an exchange that is there already heeds nothing that is said of connections. */
function checkExchange({ capabilities }: Exchange, options: TransportOptions, deadlines: Deadlines): void {
  for (const option of CONNECTION_OPTION_NAMES) {
    const value = options[option];
    if (value === undefined || value === false || value === "any") continue;
    if (!capabilities.has(NEEDS[option])) refuseCapability(option, NEEDS[option]);
    refuseOption(option, "must be given where the exchange is made");
  }
  if (options.cookies === true && !capabilities.has("cookies")) refuseCapability("cookies", "cookies");
  // One that the deadline for all of it covers asks for nothing.
  const isOwn = options.connectTimeoutMs !== undefined && deadlines.connectTimeoutMs < deadlines.totalTimeoutMs;
  if (isOwn && !capabilities.has("connectDeadline")) refuseCapability("connectTimeoutMs", "connectDeadline");
}

function refuseCapability(option: string, capability: ExchangeCapability): never {
  throw new RemoteConnectorError("unsupported_by_exchange", {
    message: `The exchange that was given can't heed the option ${option}: it lacks ${capability}.`,
    details: { option, capability },
  });
}

/** Fills in the deadlines that `options` leaves out. Throws `invalid_options` for one out of range. */
export function resolveDeadlines(options: DeadlineOptions, fallback: Deadlines): Deadlines {
  return {
    connectTimeoutMs: durationOption("connectTimeoutMs", options.connectTimeoutMs, fallback.connectTimeoutMs),
    idleTimeoutMs: durationOption("idleTimeoutMs", options.idleTimeoutMs, fallback.idleTimeoutMs),
    totalTimeoutMs: durationOption("totalTimeoutMs", options.totalTimeoutMs, fallback.totalTimeoutMs),
  };
}
