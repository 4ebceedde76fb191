import type { RemoteConnectorError } from "../errors.js";
import {
  type CallToolResult,
  type CompleteResult,
  completionParams,
  type CompletionParams,
  type DetailedResult,
  type EntryList,
  type GetPromptResult,
  type Implementation,
  isJsonObject,
  type JsonObject,
  type LegacyRevision,
  type ListParams,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type Prompt,
  promptParams,
  type PromptParams,
  PROMPTS,
  RawJson,
  readCompletion,
  recogniseMissing,
  refuseArgument,
  type ReadResourceResult,
  type Resource,
  resourceParams,
  type ResourceParams,
  RESOURCES,
  type ResourceTemplate,
  TEMPLATES,
  type ToolCall,
  type ToolList,
  withArray,
  type WithDetail,
} from "../protocol/index.js";
import type { LegacyCallOptions, LegacyListAllToolsOptions } from "./call-options.js";
import type { LegacyClientConfig } from "./client-options.js";
import type { LegacyConnection } from "./connection.js";
import { readAll, readAllTools, readPage, readToolsPage } from "./list-reader.js";
import { RequestSender } from "./request-sender.js";

type Detailable = LegacyCallOptions & Partial<WithDetail>;

/**
 * A client for one server that was met with `initialize`, whatever carries its messages.
 *
 * Calls run side by side; their answers may come in any order. Every method rejects with a `RemoteConnectorError`, or
 * with the reason of the caller's own signal, untouched and at once; `deliveryOf(promise)` tells in both cases whether the
 * server may have acted. Common to all methods:
 *
 * - `not_sent`: `invalid_options`, `invalid_argument`; `unsupported` for what the server doesn't declare; `not_admitted`;
 *   `limit_exceeded` when too many requests wait; and whatever ended a call before it was handed over.
 * - `unknown`: `timeout`, `connection_broken`, `cancelled` (the client was closed), `limit_exceeded` (the answer is too
 *   long), `invalid_answer`, and the caller's abort. The server is told of a call that was given up.
 * - `answered`: `peer_error`.
 *
 * What the server doesn't declare is not sent: a list is empty then, everything else rejects with `unsupported`.
 */
export abstract class LegacyClient {
  readonly #connection: LegacyConnection;
  readonly #sender: RequestSender;

  /** For the clients of each transport, whose `connect` gives one that is ready. */
  constructor(connection: LegacyConnection, config: LegacyClientConfig) {
    this.#connection = connection;
    this.#sender = new RequestSender(connection, config);
  }

  /** The revision that both sides speak. */
  get revision(): LegacyRevision {
    return this.#connection.introduction.revision;
  }

  /** What the server calls itself; `undefined` when it didn't say. */
  get serverInfo(): Implementation | undefined {
    return this.#connection.introduction.serverInfo;
  }

  get capabilities(): JsonObject {
    return this.#connection.introduction.capabilities;
  }

  get instructions(): string | undefined {
    return this.#connection.introduction.instructions;
  }

  /**
   * One page of tools, checked entry by entry: what can't be used is left out, with diagnostics. Without a request it is
   * empty when the server declares no tools.
   */
  listTools(
    params: ListParams | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(params?: ListParams, options?: LegacyCallOptions): Promise<ListToolsResult>;
  listTools(params: ListParams = {}, options: Detailable = {}): Promise<unknown> {
    return readToolsPage(this.#sender, params, options);
  }

  /**
   * All tools, page after page, within the client's limits (`limit_exceeded`, `answered`) and `lifecycleTimeoutMs` or the
   * caller's own `totalTimeoutMs` for the whole walk. A page with a cursor and nothing new ends it with a diagnostic.
   */
  listAllTools(options: LegacyListAllToolsOptions = {}): Promise<ToolList> {
    return readAllTools(this.#sender, options);
  }

  /**
   * Calls a tool. The result is handed over whole; `isError: true` is a result. Arguments given as {@link RawJson} are sent as
   * their text, so that numbers beyond 2^53 survive.
   */
  callTool(params: ToolCall, options: LegacyCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(params: ToolCall, options?: LegacyCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: Detailable = {}): Promise<unknown> {
    const params = (): JsonObject => toolCallParams(call);
    return this.#sender.sendDetailed({ method: "tools/call", params, read: identity }, options);
  }

  /** One page of resources, as {@link listTools}. */
  listResources(
    params: ListParams | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourcesResult>>;
  listResources(params?: ListParams, options?: LegacyCallOptions): Promise<ListResourcesResult>;
  listResources(params: ListParams = {}, options: Detailable = {}): Promise<unknown> {
    return readPage(this.#sender, RESOURCES, params, options);
  }

  /** All resources, as {@link listAllTools}. */
  listAllResources(options: LegacyCallOptions = {}): Promise<EntryList<Resource>> {
    return readAll(this.#sender, RESOURCES, options);
  }

  /** One page of resource templates, as {@link listTools}. */
  listResourceTemplates(
    params: ListParams | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourceTemplatesResult>>;
  listResourceTemplates(params?: ListParams, options?: LegacyCallOptions): Promise<ListResourceTemplatesResult>;
  listResourceTemplates(params: ListParams = {}, options: Detailable = {}): Promise<unknown> {
    return readPage(this.#sender, TEMPLATES, params, options);
  }

  /** All resource templates, as {@link listAllTools}. */
  listAllResourceTemplates(options: LegacyCallOptions = {}): Promise<EntryList<ResourceTemplate>> {
    return readAll(this.#sender, TEMPLATES, options);
  }

  /** Reads a resource. Rejects with `resource_not_found` (`answered`) when the server has none of this URI. */
  readResource(
    params: ResourceParams,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<ReadResourceResult>>;
  readResource(params: ResourceParams, options?: LegacyCallOptions): Promise<ReadResourceResult>;
  readResource(params: ResourceParams, options: Detailable = {}): Promise<unknown> {
    const read = withArray("resources/read", "contents");
    const refine = (error: RemoteConnectorError): RemoteConnectorError => recogniseMissing(error, params.uri);
    const request = { method: "resources/read", params: () => uriParams(params), read, refine };
    return this.#sender.sendDetailed(request, options);
  }

  /** Asks to be told when a resource changes; `onNotification` of the client is. */
  subscribeResource(params: ResourceParams, options: LegacyCallOptions = {}): Promise<void> {
    const request = { method: "resources/subscribe", params: () => uriParams(params), read: nothing };
    return this.#sender.send(request, options);
  }

  unsubscribeResource(params: ResourceParams, options: LegacyCallOptions = {}): Promise<void> {
    const request = { method: "resources/unsubscribe", params: () => uriParams(params), read: nothing };
    return this.#sender.send(request, options);
  }

  /** One page of prompts, as {@link listTools}. */
  listPrompts(
    params: ListParams | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<ListPromptsResult>>;
  listPrompts(params?: ListParams, options?: LegacyCallOptions): Promise<ListPromptsResult>;
  listPrompts(params: ListParams = {}, options: Detailable = {}): Promise<unknown> {
    return readPage(this.#sender, PROMPTS, params, options);
  }

  /** All prompts, as {@link listAllTools}. */
  listAllPrompts(options: LegacyCallOptions = {}): Promise<EntryList<Prompt>> {
    return readAll(this.#sender, PROMPTS, options);
  }

  /** Fills a prompt in. */
  getPrompt(params: PromptParams, options: LegacyCallOptions & WithDetail): Promise<DetailedResult<GetPromptResult>>;
  getPrompt(params: PromptParams, options?: LegacyCallOptions): Promise<GetPromptResult>;
  getPrompt(prompt: PromptParams, options: Detailable = {}): Promise<unknown> {
    const params = (): JsonObject => {
      const made = promptParams(prompt);
      checkText("name", made["name"]);
      return made;
    };
    const read = withArray("prompts/get", "messages");
    return this.#sender.sendDetailed({ method: "prompts/get", params, read }, options);
  }

  /** Asks for completions of an argument of a prompt or of a resource template. */
  complete(params: CompletionParams, options: LegacyCallOptions & WithDetail): Promise<DetailedResult<CompleteResult>>;
  complete(params: CompletionParams, options?: LegacyCallOptions): Promise<CompleteResult>;
  complete(completion: CompletionParams, options: Detailable = {}): Promise<unknown> {
    const params = (): JsonObject => completionParams(completion);
    return this.#sender.sendDetailed({ method: "completion/complete", params, read: readCompletion }, options);
  }

  /** The least severe log messages that the server should send, to `onNotification`: `debug` to `emergency`. */
  setLogLevel(level: string, options: LegacyCallOptions = {}): Promise<void> {
    const check = (): void => checkText("level", level);
    return this.#sender.send({ method: "logging/setLevel", params: { level }, check, read: nothing }, options);
  }

  /** Asks for a sign of life. */
  ping(options: LegacyCallOptions = {}): Promise<void> {
    return this.#sender.send({ method: "ping", params: undefined, read: nothing }, options);
  }

  /** Sends a request of any method but `initialize` and gives its result. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: LegacyCallOptions): Promise<JsonObject>;
  request(method: string, params?: JsonObject, options: Detailable = {}): Promise<unknown> {
    const check = (): void => {
      if (typeof method !== "string" || method === "") refuseArgument("method", "must be a method's name");
      if (method === "initialize") refuseArgument("method", "must not be initialize, which was sent already");
    };
    return this.#sender.sendDetailed({ method, params, check, read: identity }, options);
  }

  /** Ends the client: open calls reject with `cancelled` at once. Never rejects; may be called again. */
  close(): Promise<void> {
    return this.#connection.close();
  }
}

function identity(result: JsonObject): JsonObject {
  return result;
}

function nothing(): undefined {
  return undefined;
}

/** Throws `invalid_argument` (`not_sent`). */
function toolCallParams(call: ToolCall): JsonObject {
  if (!isJsonObject(call)) refuseArgument("call", "must be an object");
  const { name, arguments: args } = call;
  if (typeof name !== "string") refuseArgument("name", "must be a string");
  const value = args instanceof RawJson ? args.value : args;
  if (value !== undefined && !isJsonObject(value)) refuseArgument("arguments", "must be an object");
  return { name, arguments: args };
}

/** Throws `invalid_argument` (`not_sent`). */
function uriParams(params: ResourceParams): JsonObject {
  const made = resourceParams(params);
  checkText("uri", made["uri"]);
  return made;
}

function checkText(argument: string, value: unknown): void {
  if (typeof value !== "string") refuseArgument(argument, "must be a string");
}
