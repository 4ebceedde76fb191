import { deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import {
  type CallToolResult,
  type DetailedResult,
  type Diagnostic,
  type DiscoverResult,
  EMPTY_CONTRACT,
  invalidAnswer,
  isModernRevision,
  type JsonObject,
  type ListToolsResult,
  mirrorArguments,
  type MirroredHeader,
  MODERN_REVISIONS,
  type ToolContract,
  type ToolCall,
  toolEntries,
  type ToolList,
  ToolListCheck,
  type RawListPage,
  type ToolWalkOptions,
  type ToolWalkResult,
  walkTools,
  type WithDetail,
} from "../protocol/index.js";
import {
  type Deadlines,
  HttpEndpoint,
  LIFECYCLE_TIMEOUT_MS,
  resolveDeadlines,
  Settlement,
} from "../transport/index.js";
import { type CallOptions, checkCallOptions, type ListAllToolsOptions, type ToolCallOptions } from "./call-options.js";
import {
  type ModernClientConfig,
  type ModernStreamableHTTPClientOptions,
  resolveModernClientOptions,
} from "./client-options.js";
import type { KnownContract } from "./contract-book.js";
import { ContractResolver } from "./contract-resolver.js";
import { type CallContext, type CallOutcome, type CallPlan, rawResultOf } from "./call-plan.js";
import { ModernCall } from "./modern-call.js";
import { type OutgoingRequest, prepareRequest, prepareToolCall } from "./request-message.js";

/**
 * A client for one MCP server over Streamable HTTP in revision 2026-07-28: stateless, one POST per request.
 *
 * Every method rejects with a `RemoteConnectorError` that says by its `delivery` whether the server may have acted, or with
 * the caller's own `signal.reason`; `deliveryOf(promise)` gives the verdict then. Any number of calls may run at once.
 * Nothing is retried but a request that was never written or that the server refused for its headers.
 *
 * Source: 2026-07-28, Streamable HTTP.
 */
export class ModernStreamableHTTPClient {
  readonly #config: ModernClientConfig;
  readonly #endpoint: HttpEndpoint;
  readonly #context: CallContext;
  readonly #contracts: ContractResolver;
  #lastId = 0;

  /** Throws `invalid_options`, `invalid_url` or `invalid_header`. Opens no connection. */
  constructor(options: ModernStreamableHTTPClientOptions) {
    const config = resolveModernClientOptions(options);
    this.#config = config;
    this.#endpoint = new HttpEndpoint(config.url, config.transport, config.authorize);
    this.#context = { config, endpoint: this.#endpoint, nextId: () => (this.#lastId += 1) };
    this.#contracts = new ContractResolver((onPage) => this.#walk({}, { onPage }));
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
    return this.#call("server/discover", {}, options, this.#lifecycle(options), parseDiscoverResult);
  }

  /**
   * One page of the server's tools, checked: a tool that can't be used is left out with a diagnostic, the others stay.
   *
   * `cursor` is the `nextCursor` of the page before; `""` is a cursor, `null` and absent ask for the first page.
   * Source: 2026-07-28, Tools, Listing Tools; Pagination.
   */
  listTools(
    params: { readonly cursor?: string | null | undefined } | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(params?: { readonly cursor?: string | null | undefined }, options?: CallOptions): Promise<ListToolsResult>;
  listTools(
    params: { readonly cursor?: string | null | undefined } = {},
    options: CallOptions & Partial<WithDetail> = {},
  ): Promise<unknown> {
    const cursor = params.cursor ?? undefined;
    const request = cursor === undefined ? {} : { cursor };
    return this.#call("tools/list", request, options, this.#lifecycle(options), (result, outcome) => {
      const check = new ToolListCheck({ honoursHeaders: true });
      const { tools } = check.page(toolEntries(result));
      this.#contracts.book.add(check);
      for (const diagnostic of check.diagnostics) this.#report(diagnostic, outcome);
      return { ...result, tools };
    });
  }

  /**
   * All pages of the server's tools in one walk, within `maxPages`, `maxItems` and `maxListBytes`; `totalTimeoutMs` is that
   * of the whole walk.
   *
   * Rejects in addition with `no_progress` and `limit_exceeded` (both `answered`): a list is never cut silently.
   */
  listAllTools(options: ListAllToolsOptions = {}): Promise<ToolList> {
    const settlement = new Settlement<ToolList>();
    let last: Promise<unknown> | undefined;
    const onRequest = (page: Promise<unknown>): void => void (last = page);
    this.#walk(options, { keepsDefinitions: options.definitions, onRequest }).then(
      ({ tools, check, definitions }) => {
        this.#contracts.book.replace(check);
        const { contracts, duplicates, diagnostics } = check;
        settlement.resolve({ tools, contracts, duplicates, definitions, diagnostics });
      },
      (reason: unknown) => {
        // The verdict on a caller's own reason is that of the last page.
        if (isRemoteConnectorError(reason) && reason !== options.signal?.reason) settlement.fail(reason);
        else settlement.abort(reason, deliveryOf(last) ?? "not_sent");
      },
    );
    return settlement.promise;
  }

  /**
   * Calls a tool. A result with `isError: true` is an outcome of the tool: the call resolves.
   *
   * The arguments that the tool's definition marks with `x-mcp-header` travel in headers too. A tool whose definition is
   * not known is listed first. Rejects with `invalid_tool` (`not_sent`) for one whose annotations are invalid, with
   * `peer_error` (`answered`), `input_required` (`answered`), and as every method.
   *
   * Source: 2026-07-28, Tools, Calling Tools; Streamable HTTP, Custom Headers from Tool Parameters.
   */
  callTool(call: ToolCall, options: ToolCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(call: ToolCall, options?: ToolCallOptions): Promise<CallToolResult>;
  callTool(call: ToolCall, options: ToolCallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    try {
      checkCallOptions(options);
      const { name } = call;
      const request = prepareToolCall(name, call.arguments, options.meta);
      const known = options.contract === undefined ? this.#contracts.book.find(name) : knownContract(options.contract);
      const mirror = (found: KnownContract): readonly MirroredHeader[] => mirrorCall(contractOf(found, name), request);
      return this.#start<unknown>({
        request,
        options,
        deadlines: resolveDeadlines(options, this.#config.transport),
        mirrored: known.kind === "unknown" ? () => this.#contracts.find(name).then(mirror) : mirror(known),
        correctHeaders: () => this.#contracts.findAnew(name).then(mirror),
        shape: options.detail === true ? detailed(identity) : resultOf,
      });
    } catch (error) {
      return rejected(error);
    }
  }

  /** Sends a request of any method. `params._meta` and `options.meta` are merged. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: CallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject>;
  request(method: string, params: JsonObject = {}, options: CallOptions & Partial<WithDetail> = {}): Promise<unknown> {
    return this.#call(method, params, options, resolveDeadlines(options, this.#config.transport), identity);
  }

  /** Ends what runs with `cancelled` and drops all connections. Sends nothing. Idempotent. */
  close(): Promise<void> {
    return this.#endpoint.close();
  }

  #call(
    method: string,
    params: JsonObject,
    options: CallOptions & Partial<WithDetail>,
    deadlines: Deadlines,
    shape: (result: JsonObject, outcome: CallOutcome) => JsonObject,
  ): Promise<unknown> {
    try {
      checkCallOptions(options);
      return this.#start<unknown>({
        request: prepareRequest(method, params, options.meta),
        options,
        deadlines,
        mirrored: NO_HEADERS,
        shape: options.detail === true ? detailed(shape) : (outcome) => shape(outcome.result, outcome),
      });
    } catch (error) {
      return rejected(error);
    }
  }

  #start<T>(plan: CallPlan<T>): Promise<T> {
    return new ModernCall(this.#context, plan).start().promise;
  }

  #walk(options: CallOptions, wanted: WantedWalk): Promise<ToolWalkResult> {
    const { clock } = this.#config.transport;
    const startedAt = clock.now();
    const fetchPage = (cursor: string | undefined): Promise<RawListPage> => {
      checkCallOptions(options);
      const deadlines = this.#lifecycle(options);
      const totalTimeoutMs = Math.max(1, deadlines.totalTimeoutMs - (clock.now() - startedAt));
      const page = this.#start({
        request: prepareRequest("tools/list", cursor === undefined ? {} : { cursor }, options.meta),
        options,
        deadlines: { ...deadlines, totalTimeoutMs },
        mirrored: NO_HEADERS,
        shape: ({ result, message }) => ({
          entries: toolEntries(result),
          nextCursor: result["nextCursor"],
          message: typeof message === "string" ? Buffer.from(message) : message,
        }),
      });
      wanted.onRequest?.(page);
      return page;
    };
    return walkTools(fetchPage, { ...wanted, limits: this.#config.walk, honoursHeaders: true }).then((walked) => {
      for (const diagnostic of walked.check.diagnostics) this.#config.onDiagnostic(diagnostic);
      return walked;
    });
  }

  #lifecycle(options: CallOptions): Deadlines {
    const { transport } = this.#config;
    const totalTimeoutMs = Math.min(transport.totalTimeoutMs, LIFECYCLE_TIMEOUT_MS);
    return resolveDeadlines(options, { ...transport, totalTimeoutMs });
  }

  #report(diagnostic: Diagnostic, outcome: CallOutcome): void {
    outcome.diagnostics.push(diagnostic);
    this.#config.onDiagnostic(diagnostic);
  }
}

interface WantedWalk extends Pick<ToolWalkOptions, "keepsDefinitions" | "onPage"> {
  /** Sees the request of each page. */
  readonly onRequest?: ((page: Promise<unknown>) => void) | undefined;
}

const NO_HEADERS: readonly MirroredHeader[] = [];

function resultOf({ result }: CallOutcome): JsonObject {
  return result;
}

function identity(result: JsonObject): JsonObject {
  return result;
}

function detailed<T>(shape: (result: JsonObject, outcome: CallOutcome) => T) {
  return (outcome: CallOutcome): DetailedResult<T> => ({
    result: shape(outcome.result, outcome),
    raw: rawResultOf(outcome),
    diagnostics: outcome.diagnostics,
    delivery: "answered",
  });
}

/** What can't be sent is refused like everything else: by the promise, which knows its verdict. */
function rejected(error: unknown): Promise<never> {
  const settlement = new Settlement<never>();
  settlement.abort(error, "not_sent");
  return settlement.promise;
}

/** Mirrors what was encoded, not the caller's objects, which can change or encode to something else. */
function mirrorCall(contract: ToolContract, { argumentsJson }: OutgoingRequest): readonly MirroredHeader[] {
  if (contract.parameters.length === 0 || argumentsJson === undefined) return NO_HEADERS;
  const args: unknown = JSON.parse(argumentsJson);
  return mirrorArguments(contract, args);
}

function knownContract(contract: ToolContract): KnownContract {
  return { kind: "known", contract };
}

/** A tool that no list shows is called without mirrored arguments; the server says when it misses them. */
function contractOf(known: KnownContract, tool: string): ToolContract {
  if (known.kind === "known") return known.contract;
  if (known.kind !== "excluded") return EMPTY_CONTRACT;
  const { path, reason } = known;
  throw new RemoteConnectorError("invalid_tool", {
    message: `The tool ${JSON.stringify(tool)} can't be called: an x-mcp-header in its definition is ${reason}.`,
    details: { tool, path, reason },
  });
}

function parseDiscoverResult(result: JsonObject): JsonObject {
  const supported = result["supportedVersions"];
  if (!Array.isArray(supported) || !supported.every((version) => typeof version === "string")) {
    throw invalidAnswer("server/discover without supportedVersions");
  }
  if (supported.some(isModernRevision)) return result;
  throw new RemoteConnectorError("unsupported_version", {
    message: "The server speaks no modern revision that this client speaks.",
    delivery: "answered",
    details: { supported, ours: MODERN_REVISIONS },
  });
}
