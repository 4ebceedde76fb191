import type { RemoteConnectorError } from "../errors.js";
import {
  type CallToolResult,
  type CompleteResult,
  type CompletionParams,
  completionParams,
  cursorIn,
  type DetailedResult,
  type DiscoverResult,
  type EntryList,
  type GetPromptResult,
  type JsonObject,
  type ListParams,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type Prompt,
  type PromptParams,
  promptParams,
  PROMPTS,
  readCompletion,
  type ReadResourceResult,
  type Resource,
  type ResourceParams,
  resourceParams,
  RESOURCES,
  type ResourceTemplate,
  TEMPLATES,
  type ToolCall,
  type ToolList,
  withArray,
  type WithDetail,
  recogniseMissing,
} from "../protocol/index.js";
import type {
  CallOptions,
  DetailedToolResult,
  InputRequiredResult,
  ListAllToolsOptions,
  ManualInput,
  NotifyOptions,
  TaskOptions,
  ToolCallOptions,
} from "./call-options.js";
import type { Channel, ChannelPorts } from "./channel.js";
import type { ModernClientConfig } from "./client-options.js";
import { parseDiscoverResult } from "./discover-result.js";
import { readAll, readPage, readPages } from "./list-reader.js";
import { identity, RequestStarter } from "./request-starter.js";
import type { TaskState } from "./task-types.js";
import { TaskCaller, type TaskHandle, type TaskUpdate } from "./tasks/index.js";
import type { KeepListeningOptions, KeptSubscription, ListenOptions, Subscription } from "./subscriptions/index.js";
import { type SubscriptionFilter, Subscriptions } from "./subscriptions/index.js";
import { ToolCaller } from "./tool-caller.js";

/**
 * What every client of revision 2026-07-28 can do, whatever carries its messages. It is not made by itself.
 *
 * Every method rejects with a `RemoteConnectorError` that says by its `delivery` whether the server may have acted, or with
 * the caller's own `signal.reason`; `deliveryOf(promise)` gives the verdict then. Any number of calls may run at once.
 * Nothing is made again but a request that was never written, one that the server refused for its headers or its version,
 * and a read whose failure may pass.
 */
export abstract class ModernClient {
  readonly #requests: RequestStarter;
  readonly #tools: ToolCaller;
  readonly #subscriptions: Subscriptions;
  readonly #tasks: TaskCaller;

  protected constructor(config: ModernClientConfig, open: (ports: ChannelPorts) => Channel) {
    this.#requests = new RequestStarter(config, open);
    this.#tools = new ToolCaller(this.#requests);
    this.#subscriptions = new Subscriptions(this.#requests);
    this.#tasks = new TaskCaller(this.#requests);
  }

  /**
   * Asks the server for its versions, capabilities and identity.
   *
   * Rejects with `unsupported_version` (`answered`) when it speaks no modern revision that we speak, and with
   * `invalid_answer` when it doesn't say. Source: 2026-07-28, Discovery.
   */
  discover(options: CallOptions & WithDetail): Promise<DetailedResult<DiscoverResult>>;
  discover(options?: CallOptions): Promise<DiscoverResult>;
  discover(options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#requests.callSoonOver("server/discover", {}, options, parseDiscoverResult);
  }

  /**
   * One page of the server's tools, checked: a tool that can't be used is left out with a diagnostic, the others stay.
   *
   * `cursor` is the `nextCursor` of the page before; `""` is a cursor, `null` and absent ask for the first page.
   * Source: 2026-07-28, Tools, Listing Tools; Pagination.
   */
  listTools(
    params: ListParams | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(params?: ListParams, options?: CallOptions): Promise<ListToolsResult>;
  listTools(params?: ListParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#tools.list(cursorIn(params), options);
  }

  /**
   * All pages of the server's tools in one walk, within `maxPages`, `maxItems` and `maxListBytes`; `totalTimeoutMs` is that
   * of the whole walk.
   *
   * Rejects in addition with `no_progress` and `limit_exceeded` (both `answered`): a list is never cut silently.
   */
  listAllTools(options: ListAllToolsOptions = {}): Promise<ToolList> {
    return this.#tools.listAll(options);
  }

  /**
   * Calls a tool. A result with `isError: true` is an outcome of the tool: the call resolves.
   *
   * Over HTTP the arguments that the tool's definition marks with `x-mcp-header` travel in headers too, and a tool whose
   * definition is not known is listed first. Rejects with `invalid_tool` (`not_sent`) for one whose annotations are invalid, with
   * `peer_error`, `input_required` and `handler_failed` (all `answered`), with `invalid_output` (`answered`) when
   * `outputCheck` is `enforce`, and as every method.
   *
   * Source: 2026-07-28, Tools, Calling Tools; Streamable HTTP, Custom Headers from Tool Parameters.
   */
  callTool(call: ToolCall, options: ToolCallOptions & WithDetail): Promise<DetailedToolResult>;
  callTool(call: ToolCall, options: ToolCallOptions & ManualInput): Promise<CallToolResult | InputRequiredResult>;
  callTool(call: ToolCall, options?: ToolCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: ToolCallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#tools.call(call, options);
  }

  /** One page of the server's resources, as {@link listTools}. Source: 2026-07-28, Resources, Listing Resources. */
  listResources(
    params: ListParams | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourcesResult>>;
  listResources(params?: ListParams, options?: CallOptions): Promise<ListResourcesResult>;
  listResources(params?: ListParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return readPage(this.#requests, RESOURCES, cursorIn(params), options);
  }

  /** All resources in one walk, as {@link listAllTools}. */
  listAllResources(options: CallOptions = {}): Promise<EntryList<Resource>> {
    return readAll(this.#requests, RESOURCES, options);
  }

  /**
   * The resources page by page, each page asked for when the one before was taken; the caps of {@link listAllResources}
   * hold, and `totalTimeoutMs` is that of each page. A cursor that the server refuses ends it with the server's error.
   */
  resourcePages(options: CallOptions = {}): AsyncGenerator<readonly Resource[], void, undefined> {
    return readPages(this.#requests, RESOURCES, options);
  }

  /** One page of the server's resource templates, as {@link listTools}. Source: 2026-07-28, Resources, Resource Templates. */
  listResourceTemplates(
    params: ListParams | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourceTemplatesResult>>;
  listResourceTemplates(params?: ListParams, options?: CallOptions): Promise<ListResourceTemplatesResult>;
  listResourceTemplates(params?: ListParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return readPage(this.#requests, TEMPLATES, cursorIn(params), options);
  }

  /** All resource templates in one walk, as {@link listAllTools}. */
  listAllResourceTemplates(options: CallOptions = {}): Promise<EntryList<ResourceTemplate>> {
    return readAll(this.#requests, TEMPLATES, options);
  }

  /** The resource templates page by page, as {@link resourcePages}. */
  resourceTemplatePages(options: CallOptions = {}): AsyncGenerator<readonly ResourceTemplate[], void, undefined> {
    return readPages(this.#requests, TEMPLATES, options);
  }

  /**
   * Reads a resource. Rejects with `resource_not_found` (`answered`) when the server has none of this URI.
   *
   * Source: 2026-07-28, Resources, Reading Resources; Error Handling.
   */
  readResource(params: ResourceParams, options: CallOptions & WithDetail): Promise<DetailedResult<ReadResourceResult>>;
  readResource(
    params: ResourceParams,
    options: CallOptions & ManualInput,
  ): Promise<ReadResourceResult | InputRequiredResult>;
  readResource(params: ResourceParams, options?: CallOptions): Promise<ReadResourceResult>;
  readResource(params: ResourceParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    const refine = (error: RemoteConnectorError): RemoteConnectorError => recogniseMissing(error, params.uri);
    const shape = withArray("resources/read", "contents");
    return this.#requests.call("resources/read", () => resourceParams(params), options, shape, { refine });
  }

  /** One page of the server's prompts, as {@link listTools}. Source: 2026-07-28, Prompts, Listing Prompts. */
  listPrompts(
    params: ListParams | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<ListPromptsResult>>;
  listPrompts(params?: ListParams, options?: CallOptions): Promise<ListPromptsResult>;
  listPrompts(params?: ListParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return readPage(this.#requests, PROMPTS, cursorIn(params), options);
  }

  /** All prompts in one walk, as {@link listAllTools}. */
  listAllPrompts(options: CallOptions = {}): Promise<EntryList<Prompt>> {
    return readAll(this.#requests, PROMPTS, options);
  }

  /** The prompts page by page, as {@link resourcePages}. */
  promptPages(options: CallOptions = {}): AsyncGenerator<readonly Prompt[], void, undefined> {
    return readPages(this.#requests, PROMPTS, options);
  }

  /** Fills a prompt in. Source: 2026-07-28, Prompts, Getting a Prompt. */
  getPrompt(params: PromptParams, options: CallOptions & WithDetail): Promise<DetailedResult<GetPromptResult>>;
  getPrompt(params: PromptParams, options: CallOptions & ManualInput): Promise<GetPromptResult | InputRequiredResult>;
  getPrompt(params: PromptParams, options?: CallOptions): Promise<GetPromptResult>;
  getPrompt(params: PromptParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    const shape = withArray("prompts/get", "messages");
    return this.#requests.call("prompts/get", () => promptParams(params), options, shape);
  }

  /** Asks for completions of an argument of a prompt or of a resource template. Source: 2026-07-28, Completion. */
  complete(params: CompletionParams, options: CallOptions & WithDetail): Promise<DetailedResult<CompleteResult>>;
  complete(params: CompletionParams, options?: CallOptions): Promise<CompleteResult>;
  complete(params: CompletionParams, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#requests.call("completion/complete", () => completionParams(params), options, readCompletion);
  }

  /**
   * Follows a task that `onTask` told of, here or in another process, to what the call would have returned.
   *
   * Rejects as a `callTool` whose task it is, always `answered` and with `details.taskId`: with `peer_error`,
   * `task_cancelled`, `task_expired` and `task_not_found` among others. All methods about tasks need the option `tasks`. Source: ext-tasks, Task Polling.
   */
  resumeTask(task: TaskHandle, options: TaskOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  resumeTask(task: TaskHandle, options?: TaskOptions): Promise<CallToolResult>;
  resumeTask(task: TaskHandle, options: TaskOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#tasks.resume(task, options);
  }

  /** How a task stands. Rejects with `task_not_found` (`answered`). Source: ext-tasks, Task Polling. */
  getTask(task: TaskHandle, options: CallOptions & WithDetail): Promise<DetailedResult<TaskState>>;
  getTask(task: TaskHandle, options?: CallOptions): Promise<TaskState>;
  getTask(task: TaskHandle, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#tasks.get(task, options);
  }

  /**
   * Answers what a task asks, all of it or a part; never repeated by itself. The server may show it later.
   *
   * Rejects with `task_not_found` (`answered`). Source: ext-tasks, Task Update Requests.
   */
  updateTask(update: TaskUpdate, options: CallOptions = {}): Promise<void> {
    return this.#tasks.update(update, options);
  }

  /**
   * Asks the server to end a task, which it may do later or not at all.
   *
   * Rejects with `task_not_found` (`answered`). Source: ext-tasks, Task Cancellation.
   */
  cancelTask(task: TaskHandle, options: CallOptions = {}): Promise<void> {
    return this.#tasks.cancel(task, options);
  }

  /** Sends a request of any method. `params._meta` and `options.meta` are merged. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject>;
  request(method: string, params: JsonObject = {}, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#requests.call(method, params, options, identity);
  }

  /**
   * Sends a notification, which only extensions have. Resolves when the server has taken it: over HTTP with any success,
   * whose body is not read; over stdio when its whole line is in the pipe. Sent once, but once more when no connection could
   * be made.
   *
   * Rejects as every method; `totalTimeoutMs` is 120,000 by default. Source: 2026-07-28, Streamable HTTP, Sending Messages.
   */
  notify(method: string, params?: JsonObject, options: NotifyOptions = {}): Promise<void> {
    return this.#requests.notify(method, params, options);
  }

  /** Subscribes. Throws `invalid_options` or `invalid_argument`; the handle tells the rest. Source: 2026-07-28, Subscriptions. */
  listen(filter: SubscriptionFilter, options: ListenOptions = {}): Subscription {
    return this.#subscriptions.listen(filter, options);
  }

  /** As {@link listen}, but opened again after a pause whenever it ends, with one `refresh` after every gap. */
  keepListening(filter: SubscriptionFilter, options: KeepListeningOptions = {}): KeptSubscription {
    return this.#subscriptions.keepListening(filter, options);
  }

  /** Ends what runs with `cancelled`, and what carried it: connections, the server's process. Sends nothing. Idempotent. */
  close(): Promise<void> {
    const closing = this.#requests.close();
    // After what carries them, so that nothing is said of their end. It ends those that wait to be opened again.
    this.#subscriptions.close();
    return closing;
  }
}
