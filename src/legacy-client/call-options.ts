import type { Delivery } from "../errors.js";
import { refuseUnknownOptions } from "../options.js";
import type { Diagnostic, JsonObject, Notification, Progress, ToolContract } from "../protocol/index.js";
import { type DeadlineOptions, type Deadlines, resolveDeadlines } from "../transport/index.js";

/** What one call can be told. */
export interface LegacyCallOptions extends DeadlineOptions {
  /** Ends the call: it rejects with the signal's reason, untouched and at once. */
  readonly signal?: AbortSignal | undefined;
  /** The last word, asked synchronously before the request is written: a reason refuses it (`not_admitted`, `not_sent`). */
  readonly admit?: (() => string | undefined) | undefined;
  /** Laid over the `_meta` of the request. */
  readonly meta?: JsonObject | undefined;
  /** Asks the server for progress, and is told of it in order, before the result. A promise that it returns is not awaited. */
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  /**
   * Told of every notification that arrives while the call is under way, progress aside. A server on stdio has one channel:
   * which call a notification belongs to can't be told.
   */
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  /** Means nothing to these servers, which know no headers; taken so that both clients are called alike. */
  readonly contract?: ToolContract | undefined;
  /** Give the result together with what is known about it. */
  readonly detail?: boolean | undefined;
}

/** A result, and what is known about it. */
export interface LegacyDetailedResult<T> {
  readonly result: T;
  /** The result's exact bytes, as the server wrote them. */
  readonly raw: Uint8Array;
  /** What was tolerated on the way. */
  readonly diagnostics: readonly Diagnostic[];
  readonly delivery: Delivery;
}

/** What a walk through all tools can be told. */
export interface LegacyListAllToolsOptions extends LegacyCallOptions {
  /** Keeps each definition's JSON as the server wrote it. Default false. */
  readonly definitions?: boolean | undefined;
}

/** {@link LegacyCallOptions} with nothing left open. */
export interface LegacyCallConfig extends Deadlines {
  readonly signal: AbortSignal | undefined;
  readonly admit: (() => string | undefined) | undefined;
  readonly meta: JsonObject | undefined;
  readonly onProgress: ((progress: Progress) => unknown) | undefined;
  readonly onNotification: ((notification: Notification) => unknown) | undefined;
  readonly detail: boolean;
}

const OPTION_NAMES: readonly (keyof LegacyCallOptions)[] = [
  "admit",
  "connectTimeoutMs",
  "contract",
  "detail",
  "idleTimeoutMs",
  "meta",
  "onNotification",
  "onProgress",
  "signal",
  "totalTimeoutMs",
];

/** Applies the defaults. Throws `invalid_options`. */
export function resolveLegacyCallOptions(options: LegacyCallOptions, fallback: Deadlines): LegacyCallConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  return {
    ...resolveDeadlines(options, fallback),
    signal: options.signal,
    admit: options.admit,
    meta: options.meta,
    onProgress: options.onProgress,
    onNotification: options.onNotification,
    detail: options.detail === true,
  };
}
