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

/** A resource that a server lists. Source: 2026-07-28, Resources, Data Types. */
export interface Resource {
  readonly uri: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** A family of resources, by RFC 6570 template. */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** A prompt that a server lists. Source: 2026-07-28, Prompts, Data Types. */
export interface Prompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?: readonly JsonObject[] | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** One page of a list. A cursor is opaque: `""` is one, `null` and absent end the walk. */
export interface ListPage {
  readonly nextCursor?: string | null | undefined;
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

export interface ListResourcesResult extends ListPage {
  readonly resources: readonly Resource[];
}

export interface ListResourceTemplatesResult extends ListPage {
  readonly resourceTemplates: readonly ResourceTemplate[];
}

export interface ListPromptsResult extends ListPage {
  readonly prompts: readonly Prompt[];
}

/** What a resource holds: text or base64 of each part. */
export interface ReadResourceResult {
  readonly contents: readonly JsonObject[];
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** A prompt, filled in. */
export interface GetPromptResult {
  readonly description?: string | undefined;
  readonly messages: readonly JsonObject[];
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}

/** Completions for an argument. Source: 2026-07-28, Completion. */
export interface CompleteResult {
  readonly completion: {
    readonly values: readonly string[];
    readonly total?: number | undefined;
    readonly hasMore?: boolean | undefined;
    readonly [member: string]: unknown;
  };
  readonly _meta?: JsonObject | undefined;
  readonly [member: string]: unknown;
}
