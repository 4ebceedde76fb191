import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import type {
  CompletionParams,
  ListenOptions,
  ListParams,
  PromptParams,
  ResourceParams,
  Subscription,
  SubscriptionFilter,
} from "../modern-client/index.js";
import {
  type CallToolResult,
  type CompleteResult,
  type DetailedResult,
  type DiscoverResult,
  type EntryList,
  type GetPromptResult,
  isJsonObject,
  type JsonObject,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Revision,
  type ToolCall,
  type ToolList,
  type WithDetail,
} from "../protocol/index.js";
import { Settlement } from "../transport/index.js";
import { wasRefused } from "./doubts-era.js";
import type { EraKeeper } from "./era-keeper.js";
import type {
  Era,
  EraClient,
  McpCallOptions,
  McpClient,
  McpListAllToolsOptions,
  McpToolCallOptions,
} from "./mcp-client.js";

type Detailable = McpCallOptions & Partial<WithDetail>;

/** Hands every call to the client of the server's era, and makes one again that shows that the era has changed. */
export class ConnectedClient implements McpClient {
  readonly #keeper: EraKeeper;

  constructor(keeper: EraKeeper) {
    this.#keeper = keeper;
  }

  get era(): Era {
    return this.#keeper.session.era;
  }

  get revision(): Revision {
    return this.#keeper.session.revision();
  }

  discover(options: McpCallOptions & WithDetail): Promise<DetailedResult<DiscoverResult>>;
  discover(options?: McpCallOptions): Promise<DiscoverResult>;
  discover(options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.discover(given));
  }

  listTools(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(params?: ListParams, options?: McpCallOptions): Promise<ListToolsResult>;
  listTools(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.listTools(params, given));
  }

  listAllTools(options: McpListAllToolsOptions = {}): Promise<ToolList> {
    return this.#run(options, (client, given) => client.listAllTools(given));
  }

  callTool(call: ToolCall, options: McpToolCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(call: ToolCall, options?: McpToolCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: McpToolCallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.callTool(call, given), "acts");
  }

  listResources(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourcesResult>>;
  listResources(params?: ListParams, options?: McpCallOptions): Promise<ListResourcesResult>;
  listResources(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.listResources(params, given));
  }

  listAllResources(options: McpCallOptions = {}): Promise<EntryList<Resource>> {
    return this.#run(options, (client, given) => client.listAllResources(given));
  }

  listResourceTemplates(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourceTemplatesResult>>;
  listResourceTemplates(params?: ListParams, options?: McpCallOptions): Promise<ListResourceTemplatesResult>;
  listResourceTemplates(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.listResourceTemplates(params, given));
  }

  listAllResourceTemplates(options: McpCallOptions = {}): Promise<EntryList<ResourceTemplate>> {
    return this.#run(options, (client, given) => client.listAllResourceTemplates(given));
  }

  readResource(
    params: ResourceParams,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ReadResourceResult>>;
  readResource(params: ResourceParams, options?: McpCallOptions): Promise<ReadResourceResult>;
  readResource(params: ResourceParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.readResource(params, given));
  }

  listPrompts(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListPromptsResult>>;
  listPrompts(params?: ListParams, options?: McpCallOptions): Promise<ListPromptsResult>;
  listPrompts(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.listPrompts(params, given));
  }

  listAllPrompts(options: McpCallOptions = {}): Promise<EntryList<Prompt>> {
    return this.#run(options, (client, given) => client.listAllPrompts(given));
  }

  getPrompt(params: PromptParams, options: McpCallOptions & WithDetail): Promise<DetailedResult<GetPromptResult>>;
  getPrompt(params: PromptParams, options?: McpCallOptions): Promise<GetPromptResult>;
  getPrompt(params: PromptParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.getPrompt(params, given));
  }

  complete(params: CompletionParams, options: McpCallOptions & WithDetail): Promise<DetailedResult<CompleteResult>>;
  complete(params: CompletionParams, options?: McpCallOptions): Promise<CompleteResult>;
  complete(params: CompletionParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.complete(params, given));
  }

  request(
    method: string,
    params: JsonObject | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: McpCallOptions): Promise<JsonObject>;
  request(method: string, params?: JsonObject, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (client, given) => client.request(method, params, given), "acts");
  }

  listen(filter: SubscriptionFilter, options: ListenOptions = {}): Subscription {
    const session = this.#keeper.take();
    const release = (): void => this.#keeper.release(session, false);
    try {
      const subscription = session.client.listen(filter, options);
      void subscription.closed.then(release);
      return subscription;
    } catch (error) {
      release();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#keeper.close();
  }

  #run<T, O extends McpCallOptions>(
    options: O,
    make: (client: EraClient, options: O) => Promise<T>,
    effect: "reads" | "acts" = "reads",
  ): Promise<T> {
    const isGiven = isJsonObject(options);
    const settlement = new Settlement<T>(isGiven ? options.onSettled : undefined);
    const given = isGiven && options.onSettled !== undefined ? { ...options, onSettled: undefined } : options;
    if (isGiven) this.#attempt(settlement, given, make, effect);
    else settlement.fail(wrongType("invalid_options", "options"));
    return settlement.promise;
  }

  #attempt<T, O extends McpCallOptions>(
    settlement: Settlement<T>,
    options: O,
    make: (client: EraClient, options: O) => Promise<T>,
    effect: "reads" | "acts" | "ends",
  ): void {
    const { clock } = this.#keeper;
    const startedAt = clock.now();
    const session = this.#keeper.take();
    let call: Promise<T>;
    try {
      call = make(session.client, options);
    } catch (error) {
      this.#keeper.release(session, false);
      settlement.fail(isRemoteConnectorError(error) ? error : wrongType("invalid_argument", "params", error));
      return;
    }
    call.then(
      (value) => {
        this.#keeper.release(session, true);
        settlement.resolve(value);
      },
      (error: unknown) => {
        this.#keeper.release(session, false);
        const delivery = deliveryOf(call) ?? (isRemoteConnectorError(error) ? error.delivery : "unknown");
        if (effect === "ends" || !this.#keeper.doubts(session, error)) {
          settlement.abort(error, delivery);
          return;
        }
        if (options.repeats === "never") {
          // For the next call.
          void this.#keeper.recheck(session);
          settlement.abort(error, delivery);
          return;
        }
        const { signal, totalTimeoutMs = Infinity } = options;
        // What is known when the caller gives up meanwhile, or the call's time is over, is what led here.
        const onAbort = (): void => settlement.abort(signal?.reason, delivery);
        if (signal?.aborted === true) {
          onAbort();
          return;
        }
        const leftMs = (): number => totalTimeoutMs - (clock.now() - startedAt);
        let isOver = leftMs() <= 0;
        const onDeadline = (): void => {
          isOver = true;
          signal?.removeEventListener("abort", onAbort);
          settlement.abort(error, delivery);
        };
        if (isOver) {
          onDeadline();
          return;
        }
        const cancelDeadline = totalTimeoutMs === Infinity ? undefined : clock.schedule(leftMs(), onDeadline);
        signal?.addEventListener("abort", onAbort);
        void this.#keeper.recheck(session).then((hasChanged) => {
          signal?.removeEventListener("abort", onAbort);
          cancelDeadline?.();
          if (isOver || signal?.aborted === true) return;
          if (hasChanged && leftMs() > 0 && (effect === "reads" || wasRefused(error, delivery))) {
            const rest = totalTimeoutMs === Infinity ? options : { ...options, totalTimeoutMs: leftMs() };
            this.#attempt(settlement, rest, make, "ends");
          } else {
            settlement.abort(error, delivery);
          }
        });
      },
    );
  }
}

/** What clients throw, in place of rejecting with it, for arguments that nothing can be read of. */
function wrongType(code: "invalid_options" | "invalid_argument", name: string, cause?: unknown): RemoteConnectorError {
  const message = `The ${name} must be an object.`;
  const reason = "must be an object";
  return code === "invalid_options"
    ? new RemoteConnectorError(code, { message, details: { option: name, reason }, cause })
    : new RemoteConnectorError(code, { message, details: { argument: name, reason }, cause });
}
