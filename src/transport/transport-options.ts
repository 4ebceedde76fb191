import { countOption, durationOption } from "../options.js";
import { type Clock, systemClock } from "./clock.js";
import type { Exchange } from "./exchange.js";

/** Deadlines of one request, in milliseconds; `Infinity` for none. */
export interface DeadlineOptions {
  /** Until the request is handed to a connection. Default 30,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Without any sign of life afterwards. Default 60,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** From the call to its end, waiting for a turn included. */
  readonly totalTimeoutMs?: number | undefined;
}

/** What every client over HTTP can be told of its transport. */
export interface TransportOptions extends DeadlineOptions {
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
  /** The exchange to use in place of undici's. */
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
  readonly exchange: Exchange | undefined;
  readonly clock: Clock;
}

/** The names of {@link TransportOptions}, for the check of unknown ones. */
export const TRANSPORT_OPTION_NAMES: readonly (keyof TransportOptions)[] = [
  "allowInsecureHttp",
  "clock",
  "connectTimeoutMs",
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

/** Applies the defaults. Throws `invalid_options` for a value out of range. */
export function resolveTransportOptions(options: TransportOptions): TransportConfig {
  return {
    ...resolveDeadlines(options, {
      connectTimeoutMs: 30_000,
      idleTimeoutMs: 60_000,
      totalTimeoutMs: CALL_TIMEOUT_MS,
    }),
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 64 * MIB),
    maxEventBytes: countOption("maxEventBytes", options.maxEventBytes, 16 * MIB),
    maxStreamBytes: countOption("maxStreamBytes", options.maxStreamBytes, Infinity),
    maxErrorBodyBytes: countOption("maxErrorBodyBytes", options.maxErrorBodyBytes, 64 * 1024),
    maxConcurrentRequests: countOption("maxConcurrentRequests", options.maxConcurrentRequests, 64),
    maxQueuedRequests: countOption("maxQueuedRequests", options.maxQueuedRequests, 1_000, 0),
    allowInsecureHttp: options.allowInsecureHttp ?? false,
    exchange: options.exchange,
    clock: options.clock ?? systemClock,
  };
}

/** Fills in the deadlines that `options` leaves out. Throws `invalid_options` for one out of range. */
export function resolveDeadlines(options: DeadlineOptions, fallback: Deadlines): Deadlines {
  return {
    connectTimeoutMs: durationOption("connectTimeoutMs", options.connectTimeoutMs, fallback.connectTimeoutMs),
    idleTimeoutMs: durationOption("idleTimeoutMs", options.idleTimeoutMs, fallback.idleTimeoutMs),
    totalTimeoutMs: durationOption("totalTimeoutMs", options.totalTimeoutMs, fallback.totalTimeoutMs),
  };
}
