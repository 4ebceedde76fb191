import { deliveryOf, RemoteConnectorError } from "../errors.js";
import type { LegacyClient } from "../legacy-client/index.js";
import type { CompletionParams, ListParams, PromptParams, ResourceParams } from "../modern-client/index.js";
import type { ListenOptions, Subscription, SubscriptionFilter } from "../modern-client/subscriptions/index.js";
import {
  type CallToolResult,
  type CompleteResult,
  type DetailedResult,
  type Diagnostic,
  type DiscoverResult,
  type EntryList,
  type GetPromptResult,
  isJsonObject,
  type JsonObject,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  MetaKey,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Tool,
  type ToolCall,
  type ToolList,
  type WithDetail,
} from "../protocol/index.js";
import { type Clock, closedError, Settlement } from "../transport/index.js";
import { askedVisits, takesVisits, visitAll, type VisitSources } from "./asked-visits.js";
import { LegacySubscriptions } from "./legacy-subscriptions.js";
import type { EraClient, McpCallOptions, McpListAllToolsOptions, McpToolCallOptions } from "./mcp-client.js";
import type { NotificationFan } from "./notification-fan.js";

type Detailable = McpCallOptions & Partial<WithDetail>;

/** What a face needs of whoever made it. */
export interface LegacyFacePorts extends VisitSources {
  /** Where the server is. */
  readonly origin: string;
  readonly clock: Clock;
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

/**
 * A legacy client as the modern era would have it: `discover` tells what the handshake did, a log level travels with the call,
 * and subscriptions are filters over what the session brings.
 */
export class LegacyFace implements EraClient {
  readonly #client: LegacyClient;
  readonly #ports: LegacyFacePorts;
  readonly #subscriptions: LegacySubscriptions;
  /** Tools that can only be called as tasks of a kind that this package doesn't speak. */
  readonly #taskTools = new Set<string>();
  readonly #closing = new AbortController();
  readonly #takesVisits: boolean;
  #logLevel: string | undefined;

  constructor(
    client: LegacyClient,
    ended: Promise<RemoteConnectorError> | undefined,
    fan: NotificationFan,
    ports: LegacyFacePorts,
  ) {
    this.#client = client;
    this.#ports = ports;
    this.#takesVisits = takesVisits(ports);
    this.#subscriptions = new LegacySubscriptions(client, fan);
    void ended?.then((error) => this.breakSubscriptions(error));
  }

  /** Nothing is to be heard of the server any more: every subscription, those to come included, ends as broken. */
  breakSubscriptions(error: RemoteConnectorError): void {
    this.#subscriptions.breakAll(error);
  }

  discover(options: McpCallOptions & WithDetail): Promise<DetailedResult<DiscoverResult>>;
  discover(options?: McpCallOptions): Promise<DiscoverResult>;
  discover(options: Detailable = {}): Promise<unknown> {
    const { revision, capabilities, instructions, serverInfo } = this.#client;
    const result: DiscoverResult = {
      supportedVersions: [revision],
      capabilities,
      ...(instructions === undefined ? {} : { instructions }),
      ...(serverInfo === undefined ? {} : { _meta: { [MetaKey.serverInfo]: serverInfo } }),
    };
    const settlement = new Settlement<unknown>(options.onSettled);
    if (options.signal?.aborted === true) {
      settlement.abort(options.signal.reason, "not_sent");
    } else if (this.#closing.signal.aborted) {
      settlement.fail(closedError());
    } else if (options.detail === true) {
      const raw = new TextEncoder().encode(JSON.stringify(result));
      settlement.resolve({ result, raw, diagnostics: [], delivery: "answered" });
    } else {
      settlement.resolve(result);
    }
    return settlement.promise;
  }

  listTools(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(params?: ListParams, options?: McpCallOptions): Promise<ListToolsResult>;
  listTools(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => {
      const listed: Promise<ListToolsResult | DetailedResult<ListToolsResult>> = this.#client.listTools(params, given);
      // Heard before whoever called hears of it.
      listed.then((page) => this.#lookAt(toolsOf(page)), ignore);
      return listed;
    });
  }

  listAllTools(options: McpListAllToolsOptions = {}): Promise<ToolList> {
    return this.#run(options, (given) => {
      const listed = this.#client.listAllTools(given);
      listed.then(({ tools }) => this.#lookAt(tools), ignore);
      return listed;
    });
  }

  callTool(call: ToolCall, options: McpToolCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(call: ToolCall, options?: McpToolCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: McpToolCallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    if (isJsonObject(call) && this.#taskTools.has(call.name))
      return this.#refuse(options, "tasks of revision 2025-11-25");
    return this.#run(options, (given) => this.#client.callTool(call, given));
  }

  listResources(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourcesResult>>;
  listResources(params?: ListParams, options?: McpCallOptions): Promise<ListResourcesResult>;
  listResources(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.listResources(params, given));
  }

  listAllResources(options: McpCallOptions = {}): Promise<EntryList<Resource>> {
    return this.#run(options, (given) => this.#client.listAllResources(given));
  }

  listResourceTemplates(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListResourceTemplatesResult>>;
  listResourceTemplates(params?: ListParams, options?: McpCallOptions): Promise<ListResourceTemplatesResult>;
  listResourceTemplates(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.listResourceTemplates(params, given));
  }

  listAllResourceTemplates(options: McpCallOptions = {}): Promise<EntryList<ResourceTemplate>> {
    return this.#run(options, (given) => this.#client.listAllResourceTemplates(given));
  }

  readResource(
    params: ResourceParams,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ReadResourceResult>>;
  readResource(params: ResourceParams, options?: McpCallOptions): Promise<ReadResourceResult>;
  readResource(params: ResourceParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.readResource(params, given));
  }

  listPrompts(
    params: ListParams | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<ListPromptsResult>>;
  listPrompts(params?: ListParams, options?: McpCallOptions): Promise<ListPromptsResult>;
  listPrompts(params?: ListParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.listPrompts(params, given));
  }

  listAllPrompts(options: McpCallOptions = {}): Promise<EntryList<Prompt>> {
    return this.#run(options, (given) => this.#client.listAllPrompts(given));
  }

  getPrompt(params: PromptParams, options: McpCallOptions & WithDetail): Promise<DetailedResult<GetPromptResult>>;
  getPrompt(params: PromptParams, options?: McpCallOptions): Promise<GetPromptResult>;
  getPrompt(params: PromptParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.getPrompt(params, given));
  }

  complete(params: CompletionParams, options: McpCallOptions & WithDetail): Promise<DetailedResult<CompleteResult>>;
  complete(params: CompletionParams, options?: McpCallOptions): Promise<CompleteResult>;
  complete(params: CompletionParams, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.complete(params, given));
  }

  request(
    method: string,
    params: JsonObject | undefined,
    options: McpCallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: McpCallOptions): Promise<JsonObject>;
  request(method: string, params?: JsonObject, options: Detailable = {}): Promise<unknown> {
    return this.#run(options, (given) => this.#client.request(method, params, given));
  }

  listen(filter: SubscriptionFilter, options: ListenOptions = {}): Subscription {
    return this.#subscriptions.open(filter, options);
  }

  async close(): Promise<void> {
    this.#closing.abort(closedWhileVisiting());
    this.#subscriptions.closeAll(closedError());
    await this.#client.close();
  }

  /** Makes the call, after the log level that it asks for was said. */
  #run<T, O extends McpCallOptions>(options: O, make: (given: Omit<O, OfModern>) => Promise<T>): Promise<T> {
    // Nothing is declared with a call here, and the server asks whoever it was told of.
    const { logLevel, capabilities: _capabilities, input: _input, inputResponses, requestState, ...given } = options;
    if (inputResponses !== undefined || requestState !== undefined) {
      return this.#refuse(options, "answers to a result that asks, by a legacy server");
    }
    const isSaid = logLevel === undefined || logLevel === this.#logLevel || !this.#logs;
    if (isSaid) return this.#makeOrVisit(given, make);
    const { signal, connectTimeoutMs, idleTimeoutMs, totalTimeoutMs, onSettled } = options;
    const settlement = new Settlement<T>(onSettled);
    const startedAt = this.#ports.clock.now();
    this.#client.setLogLevel(logLevel, { signal, connectTimeoutMs, idleTimeoutMs, totalTimeoutMs }).then(
      () => {
        this.#logLevel = logLevel;
        const spentMs = this.#ports.clock.now() - startedAt;
        const call = this.#makeOrVisit({ ...lessTime(given, spentMs), onSettled: undefined }, make);
        call.then(
          (value) => settlement.resolve(value),
          (error: unknown) => settlement.abort(error, deliveryOf(call) ?? "unknown"),
        );
      },
      // What was asked for was not sent.
      (error: unknown) => settlement.abort(error, "not_sent"),
    );
    return settlement.promise;
  }

  /** Makes the call, and once more when the server wanted pages to be visited first, and the person consented. */
  #makeOrVisit<T, G extends McpCallOptions>(given: G, make: (given: G) => Promise<T>): Promise<T> {
    // After a visit the request is sent again.
    if (!this.#takesVisits || given.repeats === "never") return make(given);
    const { origin } = this.#ports;
    const settlement = new Settlement<T>(given.onSettled);
    const quiet = { ...given, onSettled: undefined };
    const { clock } = this.#ports;
    const startedAt = clock.now();
    const first = make(quiet);
    first.then(
      (value) => settlement.resolve(value),
      (error: unknown) => {
        const delivery = deliveryOf(first) ?? "unknown";
        const spentMs = clock.now() - startedAt;
        const visits = askedVisits(error, this.#ports);
        if (visits === undefined) {
          settlement.abort(error, delivery);
          return;
        }
        const closing = this.#closing.signal;
        const signal = given.signal === undefined ? closing : AbortSignal.any([given.signal, closing]);
        const onAbort = (): void => settlement.abort(signal.reason, delivery);
        if (signal.aborted) {
          onAbort();
          return;
        }
        signal.addEventListener("abort", onAbort);
        void visitAll(visits, { server: { origin, info: this.#client.serverInfo }, signal }).then((isConsent) => {
          signal.removeEventListener("abort", onAbort);
          if (signal.aborted) return;
          if (!isConsent) {
            settlement.abort(error, delivery);
            return;
          }
          // The person's time is not the call's.
          const second = make(lessTime(quiet, spentMs));
          second.then(
            (value) => settlement.resolve(value),
            (failure: unknown) => settlement.abort(failure, deliveryOf(second) ?? "unknown"),
          );
        });
      },
    );
    return settlement.promise;
  }

  get #logs(): boolean {
    return isJsonObject(this.#client.capabilities["logging"]);
  }

  #lookAt(tools: readonly Tool[]): void {
    for (const { name, execution } of tools) {
      const isTask = isJsonObject(execution) && execution["taskSupport"] === "required";
      if (!isTask) {
        this.#taskTools.delete(name);
      } else if (!this.#taskTools.has(name)) {
        this.#taskTools.add(name);
        const message = "The tool can only be called as a task of revision 2025-11-25, which is not spoken here.";
        this.#ports.onDiagnostic({ kind: "tool_not_callable", message, subject: name });
      }
    }
  }

  #refuse({ onSettled }: McpCallOptions, feature: string): Promise<never> {
    const settlement = new Settlement<never>(onSettled);
    settlement.fail(
      new RemoteConnectorError("unsupported", { message: `Not spoken here: ${feature}.`, details: { feature } }),
    );
    return settlement.promise;
  }
}

/** What only modern servers are told. */
type OfModern = "capabilities" | "input" | "inputResponses" | "logLevel" | "requestState";

/** The options of a second request of one call, which has what is left of the call's time. */
function lessTime<O extends McpCallOptions>(options: O, spentMs: number): O {
  const { totalTimeoutMs } = options;
  return totalTimeoutMs === undefined ? options : { ...options, totalTimeoutMs: Math.max(1, totalTimeoutMs - spentMs) };
}

/** A page may have a member of any name: what tells a detailed one is that its result is a page. */
function toolsOf(page: ListToolsResult | DetailedResult<ListToolsResult>): readonly Tool[] {
  return isPage(page) ? page.tools : page.result.tools;
}

function isPage(page: ListToolsResult | DetailedResult<ListToolsResult>): page is ListToolsResult {
  return "tools" in page;
}

/** The server's refusal is known; the call was not made again. */
function closedWhileVisiting(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The client is closed.",
    delivery: "answered",
    details: { reason: "client closed" },
  });
}

function ignore(): void {
  // Whoever called hears of it.
}
