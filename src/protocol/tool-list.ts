import type { Diagnostic } from "./diagnostic.js";
import { EntryCheck, type EntryRules, isText } from "./entry-check.js";
import { isJsonObject, type JsonObject } from "./json-rpc.js";
import type { Tool } from "./results.js";
import { EMPTY_CONTRACT, readToolContract, type ToolContract } from "./tool-contract.js";

/** What one page of tools holds once it is checked. */
export interface CheckedTools {
  /** The tools that can be used, in the server's order. */
  readonly tools: readonly Tool[];
  /** Names on this page that no earlier page had, of tools that were left out too. */
  readonly fresh: number;
}

const TOOL_RULES: EntryRules<Tool> = {
  noun: "tool",
  key: "name",
  optional: new Map<string, (value: unknown) => boolean>([
    ["title", isText],
    ["description", isText],
    ["outputSchema", isJsonObject],
    ["annotations", isJsonObject],
    ["icons", Array.isArray],
    ["_meta", isJsonObject],
  ]),
  isUsable: isTool,
  lacking: "an object as inputSchema",
};

/**
 * Checks the entries of one walk through `tools/list`, page by page, and keeps what calls need of them: as
 * {@link EntryCheck}, and a tool with an invalid `x-mcp-header` is left out while the others stay, with a diagnostic.
 *
 * Source: 2026-07-28, Tools; Streamable HTTP, Schema Extension.
 */
export class ToolListCheck {
  /** What each usable tool promises of its structured output, if it does. */
  readonly outputSchemas = new Map<string, JsonObject>();
  /** Why a tool can't be called, by name. */
  readonly excluded = new Map<string, { readonly path: string; readonly reason: string }>();
  readonly #entries = new EntryCheck(TOOL_RULES);
  /** The contracts that are not empty. */
  readonly #mirroring = new Map<string, ToolContract>();
  readonly #honoursHeaders: boolean;

  /** `honoursHeaders`: whether `x-mcp-header` means anything, which it does only over modern HTTP. */
  constructor(options: { readonly honoursHeaders: boolean }) {
    this.#honoursHeaders = options.honoursHeaders;
  }

  /** The names that came, of tools that were left out too. */
  get names(): ReadonlySet<string> {
    return this.#entries.names;
  }

  /** The contract of a usable tool. */
  contractOf(name: string): ToolContract | undefined {
    if (!this.#entries.isUsable(name) || this.excluded.has(name)) return undefined;
    return this.#mirroring.get(name) ?? EMPTY_CONTRACT;
  }

  /** The contract of each usable tool, in the server's order; gathered when it is asked for. */
  get contracts(): Map<string, ToolContract> {
    const contracts = new Map<string, ToolContract>();
    for (const name of this.names) {
      const contract = this.contractOf(name);
      if (contract !== undefined) contracts.set(name, contract);
    }
    return contracts;
  }

  get diagnostics(): Diagnostic[] {
    return this.#entries.diagnostics;
  }

  /** Names that came more than once. */
  get duplicates(): ReadonlySet<string> {
    return this.#entries.duplicates;
  }

  page(values: readonly unknown[]): CheckedTools {
    const { entries, fresh } = this.#entries.page(values);
    const before = this.excluded.size;
    for (const tool of entries) this.#take(tool);
    const allStay = this.excluded.size === before;
    return { tools: allStay ? entries : entries.filter(({ name }) => !this.excluded.has(name)), fresh };
  }

  #take({ name, inputSchema, outputSchema }: Tool): void {
    const verdict = this.#honoursHeaders ? readToolContract(inputSchema) : NO_HEADERS;
    if (verdict.kind === "valid") {
      if (verdict.contract !== EMPTY_CONTRACT) this.#mirroring.set(name, verdict.contract);
      if (outputSchema !== undefined) this.outputSchemas.set(name, outputSchema);
      return;
    }
    const { path, reason } = verdict;
    this.excluded.set(name, { path, reason });
    this.#entries.note("tool_excluded", `A tool was left out: its x-mcp-header is ${reason}.`, name, path);
  }
}

const NO_HEADERS = { kind: "valid", contract: EMPTY_CONTRACT } as const;

function isTool(value: JsonObject): value is JsonObject & Tool {
  return typeof value["name"] === "string" && isJsonObject(value["inputSchema"]);
}
