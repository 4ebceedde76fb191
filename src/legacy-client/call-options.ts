import { choiceOption, refuseUnknownOptions } from "../options.js";
import type {
  JsonObject,
  Notification,
  Progress,
  RequestOptions,
  ToolContract,
  WithDetail,
} from "../protocol/index.js";
import { type DeadlineOptions, type Deadlines, resolveDeadlines, type SettledListener } from "../transport/index.js";

/** What one call can be told. */
export interface LegacyCallOptions extends RequestOptions, DeadlineOptions {
  /** Means nothing to these servers, which know no headers; taken so that both clients are called alike. */
  readonly contract?: ToolContract | undefined;
  /** Nothing that these servers answer is checked against its tool's schema; taken for the same reason. */
  readonly outputCheck?: "report" | "enforce" | "off" | undefined;
  /**
   * Whether the request is sent again where it did not run, or is a read that failed in passing (default, `safe`): `never`: not in a new
   * session either, nor where a redirect leads. A stream that broke off is still taken up again.
   */
  readonly repeats?: "safe" | "never" | undefined;
  /** Told how the call ended, with the verdict that {@link deliveryOf} gives: once, also for an abort. */
  readonly onSettled?: SettledListener | undefined;
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
  readonly onSettled: SettledListener | undefined;
  readonly detail: boolean;
  /** Whether it is sent once and no more. */
  readonly isSentOnce: boolean;
}

const OPTION_NAMES: readonly (keyof (LegacyCallOptions & WithDetail))[] = [
  "admit",
  "connectTimeoutMs",
  "contract",
  "detail",
  "idleTimeoutMs",
  "meta",
  "onNotification",
  "onProgress",
  "onSettled",
  "outputCheck",
  "repeats",
  "signal",
  "totalTimeoutMs",
];

/** Applies the defaults. Throws `invalid_options`. */
export function resolveLegacyCallOptions(
  options: LegacyCallOptions & Partial<WithDetail>,
  fallback: Deadlines,
): LegacyCallConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  choiceOption("outputCheck", options.outputCheck, ["report", "enforce", "off"]);
  return {
    ...resolveDeadlines(options, fallback),
    signal: options.signal,
    admit: options.admit,
    meta: options.meta,
    onProgress: options.onProgress,
    onNotification: options.onNotification,
    onSettled: options.onSettled,
    detail: options.detail === true,
    isSentOnce: choiceOption("repeats", options.repeats, ["safe", "never"]) === "never",
  };
}
