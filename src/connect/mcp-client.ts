import type {
  SubscriptionFilter,
  Subscription,
  ListenOptions,
  CompletionParams,
  ListParams,
  PromptParams,
  ResourceParams,
} from "../modern-client/index.js";
import type {
  CallToolResult,
  CompleteResult,
  DetailedResult,
  DiscoverResult,
  EntryList,
  GetPromptResult,
  JsonObject,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  Prompt,
  RawJson,
  ReadResourceResult,
  RequestOptions,
  Resource,
  ResourceTemplate,
  Revision,
  ToolCall,
  ToolContract,
  ToolList,
  WithDetail,
} from "../protocol/index.js";
import type { DeadlineOptions, SettledListener } from "../transport/index.js";

/** The two kinds of servers: those to whom every request stands for itself, and those that are met with `initialize`. */
export type Era = "modern" | "legacy";

/** What one call can be told, whatever the era. */
export interface McpCallOptions extends RequestOptions, DeadlineOptions {
  /**
   * The least severe log messages that the server should send. A modern server takes it with the request; to a legacy one it
   * is said when it changes, if it declares logging, and holds from then on for every call.
   */
  readonly logLevel?: string | undefined;
  /** Told how the call ended, with the verdict that `deliveryOf` gives: once, also for an abort. */
  readonly onSettled?: SettledListener | undefined;
  /** Capabilities declared to a modern server with this request, beside the client's own. A legacy one was told them all at its beginning. */
  readonly capabilities?: JsonObject | undefined;
  /**
   * What happens when a modern server asks for input: the client's handlers answer (default), or the call resolves to the result
   * that asks, and the caller makes it again with `inputResponses` and `requestState`. A legacy server asks whoever it was told of.
   */
  readonly input?: "handlers" | "return" | undefined;
  /** Answers to what a modern server asked for, by its keys. To a legacy server such a call is not sent (`unsupported`). */
  readonly inputResponses?: JsonObject | RawJson | undefined;
  /** The `requestState` of the result that asked, exactly. To a legacy server such a call is not sent (`unsupported`). */
  readonly requestState?: string | undefined;
  /**
   * Whether the call is made again where that is safe: after a connection that could not be made, or headers that a server refused
   * before it did anything (default, `safe`); `never`: not even then, nor where a redirect leads.
   */
  readonly repeats?: "safe" | "never" | undefined;
}

export interface McpToolCallOptions extends McpCallOptions {
  /** The header contract for this call; means nothing to legacy servers. Default: the one of the tool as it was last listed. */
  readonly contract?: ToolContract | undefined;
  /** What becomes of the check of a modern server's `structuredContent`, as its client has it. Default `report`. */
  readonly outputCheck?: "report" | "enforce" | "off" | undefined;
}

export interface McpListAllToolsOptions extends McpCallOptions {
  /** Keeps each definition's JSON as the server wrote it. Default false. */
  readonly definitions?: boolean | undefined;
}

/**
 * One server, whatever its era and its transport.
 *
 * Every method rejects with a `RemoteConnectorError` that says by its `delivery` whether the server may have acted, or with
 * the caller's own `signal.reason`; `deliveryOf(promise)` gives the verdict then. Any number of calls may run at once. What a
 * legacy server doesn't declare is not sent: a list is empty then, everything else rejects with `unsupported` (`not_sent`).
 */
export interface McpClient {
  /** May change, when the server turns out to have been replaced by one of the other era. */
  readonly era: Era;
  /** The revision that both sides speak. */
  readonly revision: Revision;
  /** The server's versions, capabilities and identity; of a legacy one what it said in answer to `initialize`, in this form. */
  discover(options: McpCallOptions & WithDetail): Promise<DetailedResult<DiscoverResult>>;
  discover(options?: McpCallOptions): Promise<DiscoverResult>;
  listTools(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(params?: ListParams, options?: McpCallOptions): Promise<ListToolsResult>;
  listAllTools(options?: McpListAllToolsOptions): Promise<ToolList>;
  callTool(call: ToolCall, options: McpToolCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(call: ToolCall, options?: McpToolCallOptions): Promise<CallToolResult>;
  listResources(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourcesResult>>;
  listResources(params?: ListParams, options?: McpCallOptions): Promise<ListResourcesResult>;
  listAllResources(options?: McpCallOptions): Promise<EntryList<Resource>>;
  listResourceTemplates(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourceTemplatesResult>>;
  listResourceTemplates(params?: ListParams, options?: McpCallOptions): Promise<ListResourceTemplatesResult>;
  listAllResourceTemplates(options?: McpCallOptions): Promise<EntryList<ResourceTemplate>>;
  readResource(
    params: ResourceParams,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ReadResourceResult>>;
  readResource(params: ResourceParams, options?: McpCallOptions): Promise<ReadResourceResult>;
  listPrompts(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListPromptsResult>>;
  listPrompts(params?: ListParams, options?: McpCallOptions): Promise<ListPromptsResult>;
  listAllPrompts(options?: McpCallOptions): Promise<EntryList<Prompt>>;
  getPrompt(params: PromptParams, options: McpCallOptions & WithDetail): Promise<DetailedResult<GetPromptResult>>;
  getPrompt(params: PromptParams, options?: McpCallOptions): Promise<GetPromptResult>;
  complete(params: CompletionParams, options: McpCallOptions & WithDetail): Promise<DetailedResult<CompleteResult>>;
  complete(params: CompletionParams, options?: McpCallOptions): Promise<CompleteResult>;
  /** Sends a request of any method, as the server's era has it. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: McpCallOptions): Promise<JsonObject>;
  /**
   * Subscribes. Of a legacy server what its session brings is filtered, and resources are subscribed to one by one.
   * Throws `invalid_options` or `invalid_argument`; the handle tells the rest.
   */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Subscription;
  /** Ends what runs with `cancelled`. Never rejects because of the server. Idempotent. */
  close(): Promise<void>;
}

/** What of an {@link McpClient} does not depend on finding the era. */
export type EraClient = Omit<McpClient, "era" | "revision">;
