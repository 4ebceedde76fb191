import type { ListWalkLimits } from "./list-walk.js";
import type { Tool } from "./results.js";
import { toolDefinitions } from "./tool-definitions.js";
import { ToolListCheck } from "./tool-list.js";
import { type FetchPage, type Gathering, type RawListPage, walkList } from "./walk-list.js";

/** Every tool of a server, checked. */
export interface ToolWalkResult {
  readonly tools: readonly Tool[];
  readonly check: ToolListCheck;
  /** The text of each definition, by name; empty unless it was asked for. */
  readonly definitions: ReadonlyMap<string, Uint8Array>;
  /** The shortest time that a page said for itself, in milliseconds; `undefined` when none said one. */
  readonly ttlMs: number | undefined;
}

export interface ToolWalkOptions {
  readonly limits: ListWalkLimits;
  /** Whether `x-mcp-header` means anything, which it does only over modern HTTP. */
  readonly honoursHeaders: boolean;
  /** What a page with a cursor and nothing new does; legacy servers are known to send them. Default `fails`. */
  readonly stall?: "fails" | "ends" | undefined;
  /** Whether to keep the text of each definition. */
  readonly keepsDefinitions?: boolean | undefined;
  /** Sees what is known after each page. */
  readonly onPage?: ((check: ToolListCheck) => void) | undefined;
}

/** Walks through all pages of `tools/list`, as {@link walkList} does. */
export function walkTools(fetchPage: FetchPage, options: ToolWalkOptions): Promise<ToolWalkResult> {
  const { limits, stall } = options;
  return walkList(fetchPage, () => new ToolGathering(options), { method: "tools/list", limits, stall });
}

class ToolGathering implements Gathering, ToolWalkResult {
  readonly check: ToolListCheck;
  readonly tools: Tool[] = [];
  readonly definitions = new Map<string, Uint8Array>();
  ttlMs: number | undefined;
  readonly #options: ToolWalkOptions;

  constructor(options: ToolWalkOptions) {
    this.#options = options;
    this.check = new ToolListCheck(options);
  }

  get diagnostics() {
    return this.check.diagnostics;
  }

  take({ entries, message, ttlMs }: RawListPage): number {
    if (typeof ttlMs === "number" && ttlMs >= 0) this.ttlMs = Math.min(ttlMs, this.ttlMs ?? ttlMs);
    const { tools, fresh } = this.check.page(entries);
    for (const tool of tools) this.tools.push(tool);
    if (this.#options.keepsDefinitions === true) {
      for (const [name, text] of toolDefinitions(message, entries, tools)) this.definitions.set(name, text);
    }
    this.#options.onPage?.(this.check);
    return fresh;
  }
}
