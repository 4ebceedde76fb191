import { refuseUnknownOptions } from "../options.js";
import type { RequestOptions, ToolContract, WithDetail } from "../protocol/index.js";
import type { DeadlineOptions } from "../transport/index.js";

/** What one call can be told. */
export interface CallOptions extends RequestOptions, DeadlineOptions {
  /** The least severe log messages that the server should send with this request. */
  readonly logLevel?: string | undefined;
}

export interface ToolCallOptions extends CallOptions {
  /** The header contract for this call. Default: the one of the tool as it was last listed; listed first when unknown. */
  readonly contract?: ToolContract | undefined;
}

export interface ListAllToolsOptions extends CallOptions {
  /** Keeps each definition's JSON as the server wrote it. Default false. */
  readonly definitions?: boolean | undefined;
}

type AnyCallOptions = ToolCallOptions & ListAllToolsOptions & Partial<WithDetail>;

const OPTION_NAMES: readonly (keyof AnyCallOptions)[] = [
  "admit",
  "connectTimeoutMs",
  "contract",
  "definitions",
  "detail",
  "idleTimeoutMs",
  "logLevel",
  "meta",
  "onNotification",
  "onProgress",
  "signal",
  "totalTimeoutMs",
];

/** Throws `invalid_options` for a key that no call knows. */
export function checkCallOptions(options: object): void {
  refuseUnknownOptions(options, OPTION_NAMES);
}
