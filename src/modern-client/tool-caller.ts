import { deliveryOf, RemoteConnectorError } from "../errors.js";
import { choiceOption } from "../options.js";
import {
  type CallToolResult,
  type DetailedResult,
  EMPTY_CONTRACT,
  isJsonObject,
  type JsonObject,
  mirrorArguments,
  type MirroredHeader,
  type RawListPage,
  refuseArgument,
  type ToolCall,
  type ToolContract,
  toolEntries,
  type ToolList,
  ToolListCheck,
  type ToolWalkOptions,
  type ToolWalkResult,
  walkTools,
  type WithDetail,
} from "../protocol/index.js";
import type { SchemaVerdict } from "../protocol/json-schema/index.js";
import { Settlement } from "../transport/index.js";
import { type CallOptions, checkCallOptions, type ListAllToolsOptions, type ToolCallOptions } from "./call-options.js";
import type { CallOutcome, CallPlan } from "./call-plan.js";
import type { KnownContract } from "./contract-book.js";
import { ContractResolver } from "./contract-resolver.js";
import { invalidOutput, judgeOutput, unjudgedOutput } from "./output-check.js";
import { PageSource, settleFailedWalk } from "./page-source.js";
import { type OutgoingRequest, prepareToolCall } from "./request-message.js";
import {
  type DetailableOptions,
  detailed,
  identity,
  inputOf,
  NO_HEADERS,
  rejected,
  type RequestStarter,
  shapeOf,
} from "./request-starter.js";
import { startWithTasks } from "./tasks/index.js";

/** The tools of a server: their lists, and calls with the headers that a tool's definition asks for. */
export class ToolCaller {
  readonly #starter: RequestStarter;
  readonly #contracts: ContractResolver;

  constructor(starter: RequestStarter) {
    this.#starter = starter;
    this.#contracts = new ContractResolver((onPage) => this.#walk(this.#pages({ cache: "refresh" }), { onPage }));
  }

  list(cursor: string | undefined, options: DetailableOptions): Promise<unknown> {
    const params = cursor === undefined ? {} : { cursor };
    return this.#starter.callSoonOver("tools/list", params, options, (result, outcome) => {
      const check = new ToolListCheck({ honoursHeaders: this.#starter.config.honoursHeaders });
      const { tools } = check.page(toolEntries(result));
      this.#contracts.book.add(check);
      this.#starter.report(check.diagnostics, outcome);
      return { ...result, tools };
    });
  }

  listAll(options: ListAllToolsOptions): Promise<ToolList> {
    try {
      checkCallOptions(options);
    } catch (error) {
      return rejected(error, options);
    }
    const settlement = new Settlement<ToolList>(options.onSettled);
    const source = this.#pages(options);
    this.#walk(source, { keepsDefinitions: options.definitions }).then(
      ({ tools, check, definitions, ttlMs }) => {
        this.#contracts.book.replace(check);
        const { contracts, duplicates, diagnostics } = check;
        settlement.resolve({ tools, contracts, duplicates, definitions, ttlMs, diagnostics });
      },
      (reason: unknown) => settleFailedWalk(settlement, reason, source),
    );
    return settlement.promise;
  }

  call(call: ToolCall, options: ToolCallOptions & Partial<WithDetail>): Promise<unknown> {
    try {
      checkCallOptions(options);
      if (!isJsonObject(call)) refuseArgument("call", "must be an object");
      const { name } = call;
      const outputCheck = choiceOption("outputCheck", options.outputCheck, ["report", "enforce", "off"]);
      if (outputCheck === "enforce" || (outputCheck === "report" && options.detail === true)) {
        return this.#callAndJudge(call, options);
      }
      return this.#start<unknown>({
        request: prepareToolCall(name, call.arguments, options.meta),
        name,
        known: this.#find(name, options),
        options,
        shape: shapeOf(identity, options),
      });
    } catch (error) {
      return rejected(error, options);
    }
  }

  /** As {@link call}, with the verdict on the tool's output. What it is judged by is what the call was made with. */
  #callAndJudge(call: ToolCall, options: ToolCallOptions & Partial<WithDetail>): Promise<unknown> {
    const { name } = call;
    const { loadValidator } = this.#starter.config.input;
    let used = this.#find(name, options);
    const watch = this.#starter.watch(this.#starter.deadlines(options), options.signal);
    const calling = this.#start<DetailedResult<CallToolResult>>({
      request: prepareToolCall(name, call.arguments, options.meta),
      name,
      known: used,
      options: { ...options, detail: true, onSettled: undefined },
      shape: detailed(identity),
      onFound: (found) => void (used = found),
    });
    const schemaOf = (): JsonObject | undefined => {
      const known = options.contract === undefined ? used : this.#contracts.book.find(name);
      return known.kind === "known" ? known.outputSchema : undefined;
    };
    // While the server works. That it fails is said when it is needed.
    if (schemaOf() !== undefined) loadValidator().catch(ignore);
    const settlement = new Settlement<unknown>(options.onSettled);
    calling.then(
      (answer) => {
        const conclude = (output: SchemaVerdict | undefined): void => {
          const failure = options.outputCheck === "enforce" && output !== undefined && invalidOutput(name, output);
          if (failure) settlement.fail(failure);
          else settlement.resolve(options.detail === true ? { ...answer, verdicts: { output } } : answer.result);
        };
        const failed = (reason: string, cause?: unknown): void => {
          // The tool was run, and its answer is here: only who insists on the verdict loses it.
          if (options.outputCheck === "enforce") settlement.fail(unjudgedOutput(name, reason, cause));
          else conclude(undefined);
        };
        watch.wait(
          {
            begin: () => judgeOutput(schemaOf(), answer.result, loadValidator),
            onValue: conclude,
            onError: (cause) => failed("the validator failed", cause),
            onAbort: (reason) => settlement.abort(reason, "answered"),
            onDeadline: () => failed("the deadline passed before the verdict"),
            onClosed: () => failed("the client was closed before the verdict"),
          },
          { untimed: false },
        );
      },
      (error: unknown) => settlement.abort(error, deliveryOf(calling) ?? "unknown"),
    );
    return settlement.promise;
  }

  #find(tool: string, { contract }: ToolCallOptions): KnownContract {
    return contract === undefined || !this.#starter.config.honoursHeaders
      ? this.#contracts.book.find(tool)
      : { kind: "known", contract };
  }

  #start<T>({ request, name, known, options, shape, onFound = ignore }: ToolRequest<T>): Promise<T> {
    const mirror = (found: KnownContract): readonly MirroredHeader[] => {
      onFound(found);
      return mirrorCall(contractOf(found, name), request);
    };
    const { honoursHeaders, unknownTools } = this.#starter.config;
    const { input, shapeAsks } = inputOf(options, shape);
    const isToBeFound = known.kind === "unknown" && unknownTools === "list";
    const plan: CallPlan<T> = {
      request,
      options,
      deadlines: this.#starter.deadlines(options),
      mirrored: isToBeFound ? (signal: AbortSignal) => this.#contracts.find(name, signal).then(mirror) : mirror(known),
      correctHeaders: honoursHeaders
        ? (signal: AbortSignal) => this.#contracts.findAnew(name, signal).then(mirror)
        : undefined,
      input,
      shapeAsks,
      shape,
    };
    return startWithTasks(this.#starter, plan, options);
  }

  async #walk(
    source: PageSource,
    wanted: Pick<ToolWalkOptions, "keepsDefinitions" | "onPage">,
  ): Promise<ToolWalkResult> {
    const { config } = this.#starter;
    const fetchPage = (cursor: string | undefined): Promise<RawListPage> => source.fetch(cursor);
    const walked = await walkTools(fetchPage, {
      ...wanted,
      limits: config.walk,
      honoursHeaders: config.honoursHeaders,
    });
    for (const diagnostic of walked.check.diagnostics) config.onDiagnostic(diagnostic);
    return walked;
  }

  #pages(options: CallOptions): PageSource {
    return new PageSource(this.#starter, "tools/list", toolEntries, options);
  }
}

interface ToolRequest<T> {
  readonly request: OutgoingRequest;
  readonly name: string;
  readonly known: KnownContract;
  readonly options: ToolCallOptions & Partial<WithDetail>;
  readonly shape: (outcome: CallOutcome) => T;
  /** Told of each contract that the call is made with. */
  readonly onFound?: ((found: KnownContract) => void) | undefined;
}

/** Mirrors what was encoded, not the caller's objects, which can change or encode to something else. */
function mirrorCall(contract: ToolContract, { argumentsJson }: OutgoingRequest): readonly MirroredHeader[] {
  if (contract.parameters.length === 0 || argumentsJson === undefined) return NO_HEADERS;
  const args: unknown = JSON.parse(argumentsJson);
  return mirrorArguments(contract, args);
}

function ignore(): void {}

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
