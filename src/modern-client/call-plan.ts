import type { RemoteConnectorError } from "../errors.js";
import { type Diagnostic, type JsonObject, memberRange, type MirroredHeader } from "../protocol/index.js";
import type { Deadlines } from "../transport/index.js";
import type { CallOptions } from "./call-options.js";
import type { Channel } from "./channel.js";
import type { ModernClientConfig } from "./client-options.js";
import type { ResponseCache } from "./response-cache.js";
import type { CallWatch, WatchScope } from "./call-watch.js";
import type { OutgoingRequest, RoundInput } from "./request-message.js";

/** What a call came to. */
export interface CallOutcome {
  readonly result: JsonObject;
  /** The whole message that holds the result, as it came: a body's or a line's bytes, or an event's data. */
  readonly message: Uint8Array | string;
  readonly diagnostics: Diagnostic[];
}

/** The exact bytes of an outcome's result. */
export function rawResultOf(outcome: CallOutcome): Uint8Array {
  const message = typeof outcome.message === "string" ? Buffer.from(outcome.message) : outcome.message;
  const range = memberRange(message, ["result"]);
  return range === undefined ? new Uint8Array() : message.subarray(range.start, range.end);
}

/** What all calls of a client share. */
export interface CallContext extends WatchScope {
  readonly config: ModernClientConfig;
  readonly channel: Channel;
  readonly cache: ResponseCache | undefined;
  /** The next request id: unique for the client's life, from 1. */
  nextId(): number;
}

/** What sets a call apart. */
export interface CallPlan<T> {
  readonly request: OutgoingRequest;
  readonly options: CallOptions;
  readonly deadlines: Deadlines;
  /** The headers that mirror the request's arguments, or how to find them. */
  readonly mirrored: readonly MirroredHeader[] | ((signal: AbortSignal) => Promise<readonly MirroredHeader[]>);
  /** Makes of the outcome what the caller gets. May throw a `RemoteConnectorError`. */
  readonly shape: (outcome: CallOutcome) => T;
  /** Makes of a result that asks for input what the caller gets; absent: the client answers it. */
  readonly shapeAsks?: ((outcome: CallOutcome) => T) | undefined;
  /** Makes of a task what the caller gets; absent: a task is an invalid answer. */
  readonly shapeTask?: ((outcome: CallOutcome) => T) | undefined;
  /** The deadline and the signal of a longer call that this one belongs to. Default: its own. */
  readonly watch?: CallWatch | undefined;
  /** The input that the request carries from its first exchange on. */
  readonly input?: RoundInput | undefined;
  /** Makes of the server's failure what the caller gets. */
  readonly refine?: ((error: RemoteConnectorError) => RemoteConnectorError) | undefined;
  /**
   * What to do when the server says that the headers don't match the body: other headers to try once more with, or
   * `undefined` to give up. The refused request was not executed.
   */
  readonly correctHeaders?: ((signal: AbortSignal) => Promise<readonly MirroredHeader[] | undefined>) | undefined;
}
