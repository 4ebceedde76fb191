import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import type { JsonObject } from "../../protocol/index.js";
import { checkCallOptions } from "../call-options.js";
import type { ModernClientConfig } from "../client-options.js";
import { encodeMeta } from "../request-meta.js";
import { type OutgoingRequest, prepareRequest } from "../request-message.js";
import type { BufferLimits } from "./item-buffer.js";
import type { ReopenConfig } from "./plan-reopen.js";
import type { SubscriptionEnd } from "./subscription-end.js";
import { checkFilter, type SubscriptionFilter } from "./subscription-filter.js";

/** What one subscription can be told. */
export interface ListenOptions {
  /** Ends the subscription, as `cancelled` with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Members of `_meta` for this request. */
  readonly meta?: JsonObject | undefined;
  /** Capabilities declared with this request beside the client's own. */
  readonly capabilities?: JsonObject | undefined;
  /** The least severe log messages that the server should send on this subscription. */
  readonly logLevel?: string | undefined;
  /** The caller's last word before the first byte is written: a reason refuses. Synchronous. */
  readonly admit?: (() => string | undefined) | undefined;
  /** Time to connect, in milliseconds. Default: the client's. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long the stream may be silent, comments included, in milliseconds. Default `Infinity`: it has no such limit. */
  readonly idleTimeoutMs?: number | undefined;
  /** Time until the acknowledgement, from the start, in milliseconds. Default 60,000. */
  readonly acknowledgeTimeoutMs?: number | undefined;
  /** Notifications that may wait to be taken; one more ends the subscription with `limit_exceeded`. Default 1,000. */
  readonly maxBufferedNotifications?: number | undefined;
  /** Bytes of the notifications that may wait to be taken; more ends the subscription likewise. Default 16 MiB. */
  readonly maxBufferedBytes?: number | undefined;
}

/** What a subscription that is opened again can be told. The limits of {@link ListenOptions} are those of each opening. */
export interface KeepListeningOptions extends ListenOptions {
  /** The first pause after a failure, in milliseconds; it doubles with each in a row. Default 1,000. */
  readonly firstReopenDelayMs?: number | undefined;
  /** The longest pause, which also follows an end in peace, in milliseconds. Default 60,000. */
  readonly longestReopenDelayMs?: number | undefined;
  /** Told of each end that is followed by a pause, and how long it is. What it throws is ignored. */
  readonly onPause?: ((end: SubscriptionEnd, delayMs: number) => unknown) | undefined;
}

/** The request of a subscription, encoded but for its id, and its limits. */
export interface ListenPlan extends BufferLimits {
  readonly request: OutgoingRequest;
  readonly metaJson: string;
  readonly signal: AbortSignal | undefined;
  readonly admit: (() => string | undefined) | undefined;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly acknowledgeTimeoutMs: number;
}

export interface KeepListeningPlan extends ListenPlan {
  readonly reopen: ReopenConfig;
  readonly onPause: ((end: SubscriptionEnd, delayMs: number) => unknown) | undefined;
}

const LISTEN_OPTION_NAMES: readonly (keyof ListenOptions)[] = [
  "acknowledgeTimeoutMs",
  "admit",
  "capabilities",
  "connectTimeoutMs",
  "idleTimeoutMs",
  "logLevel",
  "maxBufferedBytes",
  "maxBufferedNotifications",
  "meta",
  "signal",
];

const KEEP_OPTION_NAMES: readonly (keyof KeepListeningOptions)[] = [
  ...LISTEN_OPTION_NAMES,
  "firstReopenDelayMs",
  "longestReopenDelayMs",
  "onPause",
];

/** Throws `invalid_options` or `invalid_argument` (both `not_sent`). */
export function resolveListenOptions(
  config: ModernClientConfig,
  filter: SubscriptionFilter,
  options: ListenOptions,
): ListenPlan {
  refuseUnknownOptions(options, LISTEN_OPTION_NAMES);
  return planOf(config, filter, options);
}

/** Throws `invalid_options` or `invalid_argument` (both `not_sent`). */
export function resolveKeepListeningOptions(
  config: ModernClientConfig,
  filter: SubscriptionFilter,
  options: KeepListeningOptions,
): KeepListeningPlan {
  refuseUnknownOptions(options, KEEP_OPTION_NAMES);
  const firstReopenDelayMs = finite("firstReopenDelayMs", options.firstReopenDelayMs, 1_000);
  const longestReopenDelayMs = finite(
    "longestReopenDelayMs",
    options.longestReopenDelayMs,
    Math.max(60_000, firstReopenDelayMs),
  );
  if (longestReopenDelayMs < firstReopenDelayMs) {
    refuseOption("longestReopenDelayMs", "must not be less than firstReopenDelayMs");
  }
  const { onPause } = options;
  if (onPause !== undefined && typeof onPause !== "function") refuseOption("onPause", "must be a function");
  const { random, wallNow } = config.readRetries;
  return {
    ...planOf(config, filter, options),
    reopen: { firstReopenDelayMs, longestReopenDelayMs, random, wallNow },
    onPause,
  };
}

/** Checks all but numbers. Throws `invalid_options` or `invalid_argument` (both `not_sent`). */
export function checkListenOptions(filter: SubscriptionFilter, options: ListenOptions): void {
  refuseUnknownOptions(options, LISTEN_OPTION_NAMES);
  checkCommon(filter, options);
}

/** Throws `invalid_options` (`not_sent`). */
export function resolveBufferLimits(options: ListenOptions): BufferLimits {
  return {
    maxBufferedNotifications: countOption("maxBufferedNotifications", options.maxBufferedNotifications, 1_000),
    maxBufferedBytes: countOption("maxBufferedBytes", options.maxBufferedBytes, 16 * 1024 * 1024),
  };
}

function checkCommon(filter: SubscriptionFilter, options: ListenOptions): void {
  checkFilter(filter);
  const { meta, capabilities, logLevel, signal, admit } = options;
  checkCallOptions({ meta, capabilities, logLevel, signal, admit });
}

function planOf(config: ModernClientConfig, filter: SubscriptionFilter, options: ListenOptions): ListenPlan {
  checkCommon(filter, options);
  const { meta, capabilities, logLevel, signal, admit } = options;
  return {
    request: prepareRequest("subscriptions/listen", { notifications: filter }, meta),
    metaJson: encodeMeta(config.meta, { members: meta, capabilities, logLevel }),
    signal,
    admit,
    connectTimeoutMs: durationOption("connectTimeoutMs", options.connectTimeoutMs, config.deadlines.connectTimeoutMs),
    idleTimeoutMs: durationOption("idleTimeoutMs", options.idleTimeoutMs, Infinity),
    acknowledgeTimeoutMs: durationOption("acknowledgeTimeoutMs", options.acknowledgeTimeoutMs, 60_000),
    ...resolveBufferLimits(options),
  };
}

function finite(option: string, value: number | undefined, fallback: number): number {
  const duration = durationOption(option, value, fallback);
  return duration === Infinity ? refuseOption(option, "must be finite") : duration;
}
