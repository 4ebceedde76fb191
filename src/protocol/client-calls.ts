/** What every client's calls take and give, whatever the revision and the transport. */
import type { Delivery } from "../errors.js";
import type { Diagnostic } from "./diagnostic.js";
import type { JsonObject } from "./json-rpc.js";
import type { RawJson } from "./raw-json.js";
import type { Notification, Progress, Tool } from "./results.js";
import type { ToolContract } from "./tool-contract.js";

/** What one request can be told, its deadlines aside. */
export interface RequestOptions {
  /** Ends the call, which then rejects at once with the signal's own reason, untouched. */
  readonly signal?: AbortSignal | undefined;
  /** Members of `_meta` for this request. */
  readonly meta?: JsonObject | undefined;
  /** Asks for progress. Called in order, before the call settles; a promise that it returns is not awaited. */
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  /** Told of the other notifications that belong to the call, in order; where that can't be told, of all meanwhile. */
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  /**
   * The caller's last word before the first byte is written: a reason refuses (`not_admitted`, `not_sent`), `undefined`
   * admits. Synchronous.
   */
  readonly admit?: (() => string | undefined) | undefined;
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

/** A call of a tool. */
export interface ToolCall {
  readonly name: string;
  /** An object; as {@link RawJson} its text is sent as it is, digits beyond 2^53 included. */
  readonly arguments?: JsonObject | RawJson | undefined;
}

/** Every tool of a server, checked one by one. */
export interface ToolList {
  readonly tools: readonly Tool[];
  /** How each tool's arguments are mirrored into headers; empty contracts where headers mean nothing. Immutable. */
  readonly contracts: ReadonlyMap<string, ToolContract>;
  /** Names that the server gave to more than one tool; the first of each is in `tools`. */
  readonly duplicates: ReadonlySet<string>;
  /** Each definition's JSON as the server wrote it, by name; empty unless it was asked for. */
  readonly definitions: ReadonlyMap<string, Uint8Array>;
  /** How long the server said that the list holds, in milliseconds; `undefined` when it said nothing of it. */
  readonly ttlMs?: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Every entry of a list, checked one by one, in the server's order. */
export interface EntryList<Entry> {
  readonly entries: readonly Entry[];
  /** Names that the server gave to more than one entry; the first of each is in `entries`. */
  readonly duplicates: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
}
