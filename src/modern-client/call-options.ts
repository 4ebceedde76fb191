import type { Delivery } from "../errors.js";
import type { Diagnostic, JsonObject, Notification, Progress, ToolContract } from "../protocol/index.js";
import type { DeadlineOptions } from "../transport/index.js";

/** What one call can be told. */
export interface CallOptions extends DeadlineOptions {
  /** Aborts the call, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Members of `_meta` for this request. */
  readonly meta?: JsonObject | undefined;
  /** The least severe log messages that the server should send with this request. */
  readonly logLevel?: string | undefined;
  /** Asks for progress. Called in order, before the call resolves; a promise that it returns is not awaited. */
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  /** Told of every other notification on the call's stream, in order. */
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  /** The caller's last word before the first byte is written: a reason refuses, `undefined` admits. Synchronous. */
  readonly admit?: (() => string | undefined) | undefined;
}

export interface ToolCallOptions extends CallOptions {
  /** The header contract for this call. Default: the one of the tool as it was last listed; listed first when unknown. */
  readonly contract?: ToolContract | undefined;
}

export interface ListAllToolsOptions extends CallOptions {
  /** Keeps each definition's JSON as the server wrote it. Default false. */
  readonly definitions?: boolean | undefined;
}

/** Asks for a {@link DetailedResult} in place of the bare result. */
export interface WithDetail {
  readonly detail: true;
}

/** A result with all that is known of it. */
export interface DetailedResult<T> {
  readonly result: T;
  /** The exact bytes of the result: numbers beyond 2^53, unknown members and their order survive in them. */
  readonly raw: Uint8Array;
  /** What was tolerated on the way. */
  readonly diagnostics: readonly Diagnostic[];
  readonly delivery: Delivery;
}
