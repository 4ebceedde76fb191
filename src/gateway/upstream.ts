import type { ModernStreamableHTTPClient } from "../modern-client/index.js";
import { isJsonObject, type JsonObject, type Notification, type Progress, type RawJson } from "../protocol/index.js";
import type { LogLevel } from "../serving/index.js";
import type { Credential } from "./authorizing/index.js";

/** What one upstream request can be told. */
export interface UpstreamRequestOptions {
  readonly signal: AbortSignal;
  /** The caller's members of `_meta` that travel on. */
  readonly meta: JsonObject;
}

/** What one upstream request can be told that may tell something on the way. */
export interface UpstreamCallOptions extends UpstreamRequestOptions {
  readonly logLevel: LogLevel | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly onNotification: ((notification: Notification) => void) | undefined;
}

export interface UpstreamToolCall extends UpstreamCallOptions {
  readonly name: string;
  /** With all their digits; `undefined` when the caller sent none. */
  readonly arguments: RawJson | undefined;
}

/** What a subscription is about. */
export type ListenFilter = Parameters<ModernStreamableHTTPClient["listen"]>[0];

export interface UpstreamListenOptions extends UpstreamRequestOptions {
  /** Told once of what the upstream takes part in, before it tells anything. */
  readonly onAcknowledged: (filter: ListenFilter) => void;
  readonly onNotification: (notification: Notification) => void;
}

/** A page of tools. */
export interface UpstreamPage {
  /** The exact bytes of the result. */
  readonly raw: Uint8Array;
  /** Its entries, unchecked. */
  readonly tools: readonly unknown[];
  /** A cursor is opaque: `""` is one. Absent at the end. */
  readonly nextCursor: string | undefined;
}

/**
 * A connector's server as the gateway sees it, whatever it is reached by. Requests may run side by side. They reject with
 * a `RemoteConnectorError`, or with the reason of their signal.
 */
export interface Upstream {
  /** A legacy server's results are made into those of the modern era before they go out. */
  readonly era: "legacy" | "modern";
  /** What it was opened with, for the account. */
  readonly credential?: Credential | undefined;
  listTools(cursor: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamPage>;
  /** Resolves to the exact bytes of the result. */
  callTool(call: UpstreamToolCall): Promise<Uint8Array>;
  /**
   * Sends a request of any other method and resolves to the exact bytes of its result. Params given as `RawJson` keep their
   * text. Rejects with `unsupported` (`not_sent`) for what a legacy upstream does not declare.
   */
  request(method: string, params: JsonObject, options: UpstreamCallOptions): Promise<Uint8Array>;
  /** Resolves when the subscription is over, in whatever peaceful way. Rejects with what else ended it. */
  listen(filter: ListenFilter, options: UpstreamListenOptions): Promise<void>;
  /** Resolves when the upstream is gone by itself; never for one that can't go. Never rejects. */
  readonly gone: Promise<void> | undefined;
  /** Ends it, and every request that is under way. */
  close(): Promise<void>;
}

/**
 * Reads a page from its exact bytes. The clients leave entries out that can't be used; the gateway has to know those too.
 */
export function parsePage(raw: Uint8Array): UpstreamPage {
  const page: unknown = JSON.parse(Buffer.from(raw).toString("utf8"));
  const { nextCursor, tools }: JsonObject = isJsonObject(page) ? page : {};
  return {
    raw,
    tools: Array.isArray(tools) ? tools : [],
    nextCursor: typeof nextCursor === "string" ? nextCursor : undefined,
  };
}
