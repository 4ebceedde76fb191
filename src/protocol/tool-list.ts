import type { Diagnostic } from "./diagnostic.js";
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

const OPTIONAL_MEMBERS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["title", isString],
  ["description", isString],
  ["outputSchema", isJsonObject],
  ["annotations", isJsonObject],
  ["icons", Array.isArray],
  ["_meta", isJsonObject],
]);

/**
 * Checks the entries of one walk through `tools/list`, page by page, and keeps what calls need of them.
 *
 * An entry without a name or without an object as `inputSchema` is left out; an optional member of a wrong type is
 * removed; of entries with one name the first wins; a tool with an invalid `x-mcp-header` is left out while the others
 * stay. Each of these is a diagnostic. Source: 2026-07-28, Tools; Streamable HTTP, Schema Extension.
 */
export class ToolListCheck {
  readonly diagnostics: Diagnostic[] = [];
  /** The contract of each usable tool. */
  readonly contracts = new Map<string, ToolContract>();
  /** Why a tool can't be called, by name. */
  readonly excluded = new Map<string, { readonly path: string; readonly reason: string }>();
  /** Names that came more than once. */
  readonly duplicates = new Set<string>();
  readonly #names = new Set<string>();
  readonly #honoursHeaders: boolean;

  /** `honoursHeaders`: whether `x-mcp-header` means anything, which it does only over modern HTTP. */
  constructor(options: { readonly honoursHeaders: boolean }) {
    this.#honoursHeaders = options.honoursHeaders;
  }

  page(entries: readonly unknown[]): CheckedTools {
    const tools: Tool[] = [];
    const before = this.#names.size;
    for (const entry of entries) {
      const tool = this.#entry(entry);
      if (tool !== undefined) tools.push(tool);
    }
    return { tools, fresh: this.#names.size - before };
  }

  #entry(entry: unknown): Tool | undefined {
    if (!isJsonObject(entry) || typeof entry["name"] !== "string") {
      return this.#note("entry_dropped", "A tool without a name was left out.");
    }
    const { name } = entry;
    if (this.#names.has(name)) {
      this.duplicates.add(name);
      return this.#note("duplicate_entry", "A second tool of the same name was left out.", name);
    }
    this.#names.add(name);
    const tool = this.#withoutWrongMembers(entry, name);
    if (!isTool(tool)) {
      return this.#note("entry_dropped", "A tool without an object as inputSchema was left out.", name);
    }
    const verdict = this.#honoursHeaders
      ? readToolContract(tool.inputSchema)
      : ({ kind: "valid", contract: EMPTY_CONTRACT } as const);
    if (verdict.kind === "invalid") {
      this.excluded.set(name, { path: verdict.path, reason: verdict.reason });
      const message = `A tool was left out: its x-mcp-header is ${verdict.reason}.`;
      return this.#note("tool_excluded", message, name, verdict.path);
    }
    this.contracts.set(name, verdict.contract);
    return tool;
  }

  #withoutWrongMembers(entry: JsonObject, name: string): JsonObject {
    let kept: Record<string, unknown> | undefined;
    for (const [member, isRight] of OPTIONAL_MEMBERS) {
      const value = entry[member];
      if (value === undefined || isRight(value)) continue;
      kept ??= { ...entry };
      delete kept[member];
      if (value !== null)
        this.#note("member_removed", `The member ${member} has a wrong type and was removed.`, name, member);
    }
    return kept ?? entry;
  }

  #note(kind: Diagnostic["kind"], message: string, subject?: string, path?: string): undefined {
    this.diagnostics.push({ kind, message, subject, path });
    return undefined;
  }
}

function isTool(value: JsonObject): value is Tool {
  return typeof value["name"] === "string" && isJsonObject(value["inputSchema"]);
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}
