import { RemoteConnectorError } from "../errors.js";
import {
  EMPTY_CONTRACT,
  mirrorArguments,
  type MirroredHeader,
  type RawListPage,
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
import { Settlement } from "../transport/index.js";
import { type CallOptions, checkCallOptions, type ListAllToolsOptions, type ToolCallOptions } from "./call-options.js";
import type { KnownContract } from "./contract-book.js";
import { ContractResolver } from "./contract-resolver.js";
import { PageSource, settleFailedWalk } from "./page-source.js";
import { type OutgoingRequest, prepareToolCall } from "./request-message.js";
import {
  type DetailableOptions,
  identity,
  NO_HEADERS,
  rejected,
  type RequestStarter,
  shapeOf,
} from "./request-starter.js";

/** The tools of a server: their lists, and calls with the headers that a tool's definition asks for. */
export class ToolCaller {
  readonly #starter: RequestStarter;
  readonly #contracts: ContractResolver;

  constructor(starter: RequestStarter) {
    this.#starter = starter;
    this.#contracts = new ContractResolver((onPage) => this.#walk(this.#pages({}), { onPage }));
  }

  list(cursor: string | undefined, options: DetailableOptions): Promise<unknown> {
    const params = cursor === undefined ? {} : { cursor };
    return this.#starter.callSoonOver("tools/list", params, options, (result, outcome) => {
      const check = new ToolListCheck({ honoursHeaders: true });
      const { tools } = check.page(toolEntries(result));
      this.#contracts.book.add(check);
      this.#starter.report(check.diagnostics, outcome);
      return { ...result, tools };
    });
  }

  listAll(options: ListAllToolsOptions): Promise<ToolList> {
    const settlement = new Settlement<ToolList>();
    const source = this.#pages(options);
    this.#walk(source, { keepsDefinitions: options.definitions }).then(
      ({ tools, check, definitions }) => {
        this.#contracts.book.replace(check);
        const { contracts, duplicates, diagnostics } = check;
        settlement.resolve({ tools, contracts, duplicates, definitions, diagnostics });
      },
      (reason: unknown) => settleFailedWalk(settlement, reason, source),
    );
    return settlement.promise;
  }

  call(call: ToolCall, options: ToolCallOptions & Partial<WithDetail>): Promise<unknown> {
    try {
      checkCallOptions(options);
      const { name } = call;
      const request = prepareToolCall(name, call.arguments, options.meta);
      const known = options.contract === undefined ? this.#contracts.book.find(name) : knownContract(options.contract);
      const mirror = (found: KnownContract): readonly MirroredHeader[] => mirrorCall(contractOf(found, name), request);
      return this.#starter.start<unknown>({
        request,
        options,
        deadlines: this.#starter.deadlines(options),
        mirrored: known.kind === "unknown" ? () => this.#contracts.find(name).then(mirror) : mirror(known),
        correctHeaders: () => this.#contracts.findAnew(name).then(mirror),
        shape: shapeOf(identity, options),
      });
    } catch (error) {
      return rejected(error);
    }
  }

  async #walk(
    source: PageSource,
    wanted: Pick<ToolWalkOptions, "keepsDefinitions" | "onPage">,
  ): Promise<ToolWalkResult> {
    const { config } = this.#starter;
    const fetchPage = (cursor: string | undefined): Promise<RawListPage> => source.fetch(cursor);
    const walked = await walkTools(fetchPage, { ...wanted, limits: config.walk, honoursHeaders: true });
    for (const diagnostic of walked.check.diagnostics) config.onDiagnostic(diagnostic);
    return walked;
  }

  #pages(options: CallOptions): PageSource {
    return new PageSource(this.#starter, "tools/list", toolEntries, options);
  }
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
