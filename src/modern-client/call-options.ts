import { choiceOption, countOption, refuseOption, refuseUnknownOptions } from "../options.js";
import {
  type CallToolResult,
  type DetailedResult,
  isJsonObject,
  type JsonObject,
  type RawJson,
  type RequestOptions,
  type ToolContract,
  type WithDetail,
} from "../protocol/index.js";
import { oddCapability } from "./merge-capabilities.js";
import type { SchemaVerdict } from "../protocol/json-schema/index.js";
import type { DeadlineOptions, SettledListener } from "../transport/index.js";
import type { Task } from "./task-types.js";

/** What one call can be told. */
export interface CallOptions extends RequestOptions, DeadlineOptions {
  /** The least severe log messages that the server should send with this request. */
  readonly logLevel?: string | undefined;
  /** Whether a kept result may be given (default), or a new one is fetched and kept in its place. */
  readonly cache?: "use" | "refresh" | undefined;
  /** Told how the call ended, with the verdict that {@link deliveryOf} gives: once, also for an abort. */
  readonly onSettled?: SettledListener | undefined;
  /** How often it is made again when it is a read and its failure may pass. Default: the client's. */
  readonly maxReadRetries?: number | undefined;
  /** Capabilities declared with this request beside the client's own. */
  readonly capabilities?: JsonObject | undefined;
  /**
   * What happens when the server asks for input: the client's handlers answer (default), or the call resolves to the
   * result that asks, an {@link InputRequiredResult}, and the caller makes it again with `inputResponses` and `requestState`.
   */
  readonly input?: "handlers" | "return" | undefined;
  /**
   * Answers to what the server asked for, by its keys; given as {@link RawJson} they are sent as its text. A call that has them is never
   * repeated by itself.
   */
  readonly inputResponses?: JsonObject | RawJson | undefined;
  /** The `requestState` of the result that asked, exactly; to be left out when it had none. */
  readonly requestState?: string | undefined;
  /**
   * Whether the request is sent again where it did not run, or is a read whose failure may pass (default, `safe`). `never`: one
   * attempt, and no other, not even where a redirect leads. The rounds in which handlers answer the server are not repetitions.
   */
  readonly repeats?: "safe" | "never" | undefined;
}

/** What a notification of ours can be told. */
export interface NotifyOptions extends DeadlineOptions {
  /** Ends the sending, which then rejects at once with the signal's own reason, untouched. */
  readonly signal?: AbortSignal | undefined;
  /** Members of the notification's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /** The caller's last word before the first byte is written: a reason refuses. Synchronous. */
  readonly admit?: (() => string | undefined) | undefined;
  /** Told how the sending ended, with the verdict that {@link deliveryOf} gives: once, also for an abort. */
  readonly onSettled?: SettledListener | undefined;
}

/** Has a result that asks for input returned. */
export interface ManualInput {
  readonly input: "return";
}

/** A result that asks for input. Source: 2026-07-28, Multi Round-Trip Requests, InputRequiredResult. */
export interface InputRequiredResult {
  readonly resultType: "input_required";
  readonly inputRequests?: Readonly<Record<string, JsonObject>> | undefined;
  readonly requestState?: string | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

export interface ToolCallOptions extends CallOptions {
  /** The header contract for this call. Default: the one of the tool as it was last listed; listed first when unknown. */
  readonly contract?: ToolContract | undefined;
  /**
   * What becomes of the check of `structuredContent` against the tool's `outputSchema`: `report` (default) puts the verdict
   * beside a detailed result and does nothing without `detail`, `enforce` makes of anything but `valid` the error
   * `invalid_output`, `off` checks nothing. A result with `isError: true` is never checked.
   */
  readonly outputCheck?: "report" | "enforce" | "off" | undefined;
  /**
   * Told that the server made a task of the call, before anything is asked about it; what it returns is awaited. What it
   * is given is plain JSON, for `resumeTask` in any process. That it throws is a diagnostic.
   */
  readonly onTask?: ((task: Task) => unknown) | undefined;
  /** What becomes of the server's task when the call is aborted: one `tasks/cancel` (default), or nothing. */
  readonly taskOnAbort?: "cancel" | "leave" | undefined;
}

/**
 * What the following of a task can be told. Its deadlines begin anew. Its looks are never answered from the cache and tell of
 * nothing on the way: `cache`, `logLevel`, `onProgress` and `onNotification` mean nothing here.
 */
export interface TaskOptions extends CallOptions, Pick<ToolCallOptions, "taskOnAbort"> {}

/** A tool's result with all that is known of it. */
export interface DetailedToolResult extends DetailedResult<CallToolResult> {
  readonly verdicts: {
    /** Under the tool's `outputSchema`; `undefined` when there is nothing to judge, or nobody was to judge it. */
    readonly output: SchemaVerdict | undefined;
  };
}

export interface ListAllToolsOptions extends CallOptions {
  /** Keeps each definition's JSON as the server wrote it. Default false. */
  readonly definitions?: boolean | undefined;
}

type AnyCallOptions = ToolCallOptions & ListAllToolsOptions & Partial<WithDetail>;

const OPTION_NAMES: readonly (keyof AnyCallOptions)[] = [
  "admit",
  "cache",
  "capabilities",
  "connectTimeoutMs",
  "contract",
  "definitions",
  "detail",
  "idleTimeoutMs",
  "input",
  "inputResponses",
  "logLevel",
  "maxReadRetries",
  "meta",
  "onNotification",
  "onProgress",
  "onSettled",
  "onTask",
  "outputCheck",
  "repeats",
  "requestState",
  "signal",
  "taskOnAbort",
  "totalTimeoutMs",
];

const NOTIFY_OPTION_NAMES: readonly (keyof NotifyOptions)[] = [
  "admit",
  "connectTimeoutMs",
  "idleTimeoutMs",
  "meta",
  "onSettled",
  "signal",
  "totalTimeoutMs",
];

const LISTENERS = ["admit", "onNotification", "onProgress", "onSettled", "onTask"] as const;

/** Throws `invalid_options` for a key that no call knows, and for what can't be such an option. */
export function checkCallOptions(options: ToolCallOptions & ListAllToolsOptions & Partial<WithDetail>): void {
  refuseOtherOptions(options, OPTION_NAMES);
  checkValues(options);
}

/** Throws `invalid_options` for a key that no notification knows, and for what can't be such an option. */
export function checkNotifyOptions(options: NotifyOptions): void {
  refuseOtherOptions(options, NOTIFY_OPTION_NAMES);
  checkValues(options);
}

/** What is told of a call's end, if anything is. Total: what can't be options has none. */
export function listenerOf(options: Pick<CallOptions, "onSettled">): SettledListener | undefined {
  const onSettled = isJsonObject(options) ? options.onSettled : undefined;
  return typeof onSettled === "function" ? onSettled : undefined;
}

function refuseOtherOptions(options: object, known: readonly string[]): void {
  if (!isJsonObject(options)) refuseOption("options", "must be an object");
  refuseUnknownOptions(options, known);
}

function checkValues(options: ToolCallOptions): void {
  const { signal, logLevel, meta, capabilities, maxReadRetries } = options;
  if (maxReadRetries !== undefined) countOption("maxReadRetries", maxReadRetries, 0, 0);
  if (signal !== undefined && !isSignal(signal)) refuseOption("signal", "must be an AbortSignal");
  if (logLevel !== undefined && typeof logLevel !== "string") refuseOption("logLevel", "must be a string");
  for (const name of LISTENERS) {
    if (options[name] !== undefined && typeof options[name] !== "function") refuseOption(name, "must be a function");
  }
  choiceOption("cache", options.cache, ["use", "refresh"]);
  choiceOption("repeats", options.repeats, ["safe", "never"]);
  choiceOption("taskOnAbort", options.taskOnAbort, ["cancel", "leave"]);
  if (meta !== undefined && !isJsonObject(meta)) refuseOption("meta", "must be an object");
  if (capabilities !== undefined && (!isJsonObject(capabilities) || oddCapability(capabilities) !== undefined)) {
    refuseOption("capabilities", "must be an object, and its values too");
  }
}

/** By what it can do: it may be of another realm. */
function isSignal(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    typeof Reflect.get(value, "aborted") === "boolean" && typeof Reflect.get(value, "addEventListener") === "function"
  );
}
