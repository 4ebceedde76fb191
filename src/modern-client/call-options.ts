import { refuseUnknownOptions } from "../options.js";
import type {
  CallToolResult,
  DetailedResult,
  JsonObject,
  RequestOptions,
  ToolContract,
  WithDetail,
} from "../protocol/index.js";
import type { SchemaVerdict } from "../protocol/json-schema/index.js";
import type { DeadlineOptions, SettledListener } from "../transport/index.js";

/** What one call can be told. */
export interface CallOptions extends RequestOptions, DeadlineOptions {
  /** The least severe log messages that the server should send with this request. */
  readonly logLevel?: string | undefined;
  /** Told how the call ended, with the verdict that {@link deliveryOf} gives: once, also for an abort. */
  readonly onSettled?: SettledListener | undefined;
  /** Capabilities declared with this request beside the client's own. */
  readonly capabilities?: JsonObject | undefined;
  /**
   * What happens when the server asks for input: the client's handlers answer (default), or the call resolves to the
   * result that asks, an {@link InputRequiredResult}, and the caller makes it again with `inputResponses` and `requestState`.
   */
  readonly input?: "handlers" | "return" | undefined;
  /** Answers to what the server asked for, by its keys. A call that has them is never repeated by itself. */
  readonly inputResponses?: JsonObject | undefined;
  /** The `requestState` of the result that asked, exactly; to be left out when it had none. */
  readonly requestState?: string | undefined;
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
}

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
  "capabilities",
  "connectTimeoutMs",
  "contract",
  "definitions",
  "detail",
  "idleTimeoutMs",
  "input",
  "inputResponses",
  "logLevel",
  "meta",
  "onNotification",
  "onProgress",
  "onSettled",
  "outputCheck",
  "requestState",
  "signal",
  "totalTimeoutMs",
];

/** Throws `invalid_options` for a key that no call knows. */
export function checkCallOptions(options: object): void {
  refuseUnknownOptions(options, OPTION_NAMES);
}
