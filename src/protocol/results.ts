import type { JsonObject } from "./json-rpc.js";

/** Name and version of a program, self-reported: for display, never for decisions. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly [member: string]: unknown;
}

/** A tool as its server defines it. Unknown members are kept. Source: 2026-07-28, Tools, Data Types. */
export interface Tool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** One page of tools. A cursor is opaque: `""` is one, `null` and absent end the walk. */
export interface ListToolsResult {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string | null | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** What a tool gave back. `isError: true` is an outcome of the tool, not a failure of the call. */
export interface CallToolResult {
  readonly content?: readonly JsonObject[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** What a server says of itself. Source: 2026-07-28, Discovery. */
export interface DiscoverResult {
  readonly supportedVersions: readonly string[];
  readonly capabilities: JsonObject;
  readonly instructions?: string | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** A progress notification's content. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** A notification as it arrived. */
export interface Notification {
  readonly method: string;
  readonly params: unknown;
}
