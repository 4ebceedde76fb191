import { deliveryOf, isRemoteConnectorError } from "../errors.js";
import {
  type CallToolResult,
  type DetailedResult,
  type Diagnostic,
  type Implementation,
  isJsonObject,
  type JsonObject,
  type LegacyRevision,
  type ListToolsResult,
  RawJson,
  type ToolCall,
  toolEntries,
  type ToolList,
  ToolListCheck,
  type RawListPage,
  walkTools,
  type WithDetail,
} from "../protocol/index.js";
import { Settlement } from "../transport/index.js";
import type { ProcessExit } from "../transport/process/index.js";
import type { LegacyCallOptions, LegacyListAllToolsOptions } from "./call-options.js";
import { refuseArgument } from "./encode-line.js";
import { type StartedServer, startServer } from "./handshake.js";
import type { ReceivedAnswer } from "./pending-call.js";
import { readToolPage } from "./read-answer.js";
import { RequestSender } from "./request-sender.js";
import type { StdioConnection } from "./stdio-connection.js";
import { type LegacyStdioConfig, type LegacyStdioOptions, resolveLegacyStdioOptions } from "./stdio-options.js";

type MaybeDetailed<T> = T | DetailedResult<T>;

/**
 * A client for one server that is a child process and speaks a revision with `initialize`.
 *
 * Calls run side by side; their answers may come in any order. Every method rejects with a `RemoteConnectorError`, or
 * with the reason of the caller's own signal, untouched and at once; `deliveryOf(promise)` tells in both cases whether the
 * server may have acted. Common to all methods:
 *
 * - `not_sent`: `invalid_options`, `invalid_argument`; `unsupported` for what the server doesn't declare; `not_admitted`;
 *   `limit_exceeded` when too many messages wait; and whatever ended a call before its line was handed to the server.
 * - `unknown`: `timeout`, `process_exited`, `connection_broken`, `cancelled` (the client was closed), `limit_exceeded` (the
 *   answer is too long), `invalid_answer`, and the caller's abort. The server is told of a call that was given up.
 * - `answered`: `peer_error`.
 *
 * Requests of the server are answered: `ping`, and "method not found" for the rest.
 *
 * Source: 2025-11-25, Lifecycle; Transports, stdio.
 */
export class LegacyStdioClient {
  /** The revision that both sides speak. */
  readonly revision: LegacyRevision;
  /** What the server calls itself; `undefined` when it didn't say. */
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly #connection: StdioConnection;
  readonly #sender: RequestSender;
  readonly #config: LegacyStdioConfig;

  /**
   * Starts the server and initializes it.
   *
   * Rejects with `invalid_options` or `spawn_failed` (both `not_sent`), `process_exited`, `timeout`, `unsupported_version`,
   * `peer_error`, `invalid_answer`, or with the reason of `options.signal`. The process is ended after a failure; the end
   * of its stderr is in the error or in its cause.
   */
  static connect(options: LegacyStdioOptions): Promise<LegacyStdioClient> {
    const settlement = new Settlement<LegacyStdioClient>();
    try {
      const config = resolveLegacyStdioOptions(options);
      void startServer(config).then((outcome) =>
        outcome.kind === "started"
          ? settlement.resolve(new LegacyStdioClient(outcome, config))
          : settlement.abort(outcome.reason, outcome.delivery),
      );
    } catch (error) {
      settlement.abort(error, "not_sent");
    }
    return settlement.promise;
  }

  private constructor({ connection, introduction }: StartedServer, config: LegacyStdioConfig) {
    this.revision = introduction.revision;
    this.serverInfo = introduction.serverInfo;
    this.capabilities = introduction.capabilities;
    this.instructions = introduction.instructions;
    this.#connection = connection;
    this.#sender = new RequestSender(connection, introduction, config);
    this.#config = config;
  }

  /** The server's process id. */
  get pid(): number | undefined {
    return this.#connection.pid;
  }

  /** How the process ended, whoever ended it. Never rejects. */
  get exited(): Promise<ProcessExit> {
    return this.#connection.exited;
  }

  /**
   * One page of tools, checked entry by entry: what can't be used is left out, with diagnostics. Without a request it is
   * empty when the server declares no tools.
   */
  listTools(
    params: { readonly cursor?: string | null | undefined } | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<ListToolsResult>>;
  listTools(
    params?: { readonly cursor?: string | null | undefined },
    options?: LegacyCallOptions,
  ): Promise<ListToolsResult>;
  listTools(
    { cursor }: { readonly cursor?: string | null | undefined } = {},
    options: LegacyCallOptions & Partial<WithDetail> = {},
  ): Promise<MaybeDetailed<ListToolsResult>> {
    return this.#sender.sendDetailed<ListToolsResult>(
      {
        method: "tools/list",
        params: cursor === undefined || cursor === null ? undefined : { cursor },
        read: (result, received) => {
          const check = new ToolListCheck({ honoursHeaders: false });
          const { tools } = check.page(toolEntries(result));
          for (const diagnostic of check.diagnostics) received?.note(diagnostic);
          return { ...result, tools };
        },
      },
      options,
    );
  }

  /**
   * All tools, page after page, within the client's limits (`limit_exceeded`, `answered`) and `lifecycleTimeoutMs` or the
   * caller's own `totalTimeoutMs` for the whole walk. A page with a cursor and nothing new ends it with a diagnostic.
   */
  listAllTools({ definitions: keepsDefinitions, ...options }: LegacyListAllToolsOptions = {}): Promise<ToolList> {
    const settlement = new Settlement<ToolList>();
    const { clock, lifecycleDeadlines, walk: limits } = this.#config;
    const endsAt = clock.now() + (options.totalTimeoutMs ?? lifecycleDeadlines.totalTimeoutMs);
    const tolerated: Diagnostic[] = [];
    let last: Promise<unknown> | undefined;
    const read = (result: JsonObject, received: ReceivedAnswer | undefined): RawListPage => {
      tolerated.push(...(received?.diagnostics ?? []));
      return readToolPage(result, received);
    };
    const fetchPage = (cursor: string | undefined): Promise<RawListPage> => {
      const params = cursor === undefined ? undefined : { cursor };
      const page = this.#sender.send({ method: "tools/list", params, read, endsAt }, options);
      last = page;
      return page;
    };
    walkTools(fetchPage, { limits, honoursHeaders: false, stall: "ends", keepsDefinitions }).then(
      ({ tools, check, definitions }) => {
        for (const diagnostic of check.diagnostics) this.#connection.report(diagnostic);
        const { contracts, duplicates } = check;
        const diagnostics = [...tolerated, ...check.diagnostics];
        settlement.resolve({ tools, contracts, duplicates, definitions, diagnostics });
        return undefined;
      },
      (reason: unknown) => {
        if (isRemoteConnectorError(reason) && reason !== options.signal?.reason) settlement.fail(reason);
        else settlement.abort(reason, deliveryOf(last) ?? "not_sent");
      },
    );
    return settlement.promise;
  }

  /**
   * Calls a tool. The result is handed over whole; `isError: true` is a result. Arguments given as {@link RawJson} are sent as
   * their text, so that numbers beyond 2^53 survive.
   */
  callTool(params: ToolCall, options: LegacyCallOptions & WithDetail): Promise<DetailedResult<CallToolResult>>;
  callTool(params: ToolCall, options?: LegacyCallOptions): Promise<CallToolResult>;
  callTool(
    params: ToolCall,
    options: LegacyCallOptions & Partial<WithDetail> = {},
  ): Promise<MaybeDetailed<CallToolResult>> {
    const { name, arguments: args } = params;
    return this.#sender.sendDetailed<CallToolResult>(
      {
        method: "tools/call",
        params: { name, arguments: args },
        check: () => {
          if (typeof name !== "string") refuseArgument("name", "must be a string");
          const value = args instanceof RawJson ? args.value : args;
          if (value !== undefined && !isJsonObject(value)) refuseArgument("arguments", "must be an object");
        },
        read: (result) => result,
      },
      options,
    );
  }

  /** Asks for a sign of life. */
  ping(options: LegacyCallOptions = {}): Promise<void> {
    return this.#sender.send({ method: "ping", params: undefined, read: () => undefined }, options);
  }

  /**
   * Sends a request of any method but `initialize` and gives its result. What the server doesn't declare is not sent: a list
   * is empty then, everything else rejects with `unsupported` (`not_sent`).
   */
  request(
    method: string,
    params: JsonObject | undefined,
    options: LegacyCallOptions & WithDetail,
  ): Promise<DetailedResult<JsonObject>>;
  request(method: string, params?: JsonObject, options?: LegacyCallOptions): Promise<JsonObject>;
  request(
    method: string,
    params?: JsonObject,
    options: LegacyCallOptions & Partial<WithDetail> = {},
  ): Promise<MaybeDetailed<JsonObject>> {
    const check = (): void => {
      if (typeof method !== "string" || method === "") refuseArgument("method", "must be a method's name");
      if (method === "initialize") refuseArgument("method", "must not be initialize, which was sent already");
    };
    return this.#sender.sendDetailed<JsonObject>({ method, params, check, read: (result) => result }, options);
  }

  /**
   * Ends the client: open calls reject with `cancelled` at once; the process is asked to end, and ended after
   * `closeGraceMs`. Resolves when nothing of it is left. Never rejects; may be called again.
   */
  close(): Promise<void> {
    return this.#connection.close();
  }
}
