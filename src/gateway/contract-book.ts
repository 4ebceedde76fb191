import { LIST_WALK_LIMITS, ToolListCheck, type ToolContract, type RawListPage, walkTools } from "../protocol/index.js";
import type { Upstream, UpstreamRequestOptions } from "./upstream.js";

/**
 * The header contracts of an upstream's tools, as it last listed them.
 *
 * A first page replaces all of them, so that a tool that is gone leaves none; a later page adds to them. A tool of
 * which nothing is known is looked for by listing, once for all calls that wait.
 */
export class ContractBook {
  readonly #upstream: Pick<Upstream, "listTools">;
  #check = newCheck();
  /** The walk that calls of unknown tools wait for. It is nobody's own, so that nobody's abort ends it. */
  #walk: Promise<void> | undefined;

  constructor(upstream: Pick<Upstream, "listTools">) {
    this.#upstream = upstream;
  }

  /** Remembers a page that was listed with `cursor`. */
  note(cursor: string | undefined, tools: readonly unknown[]): void {
    if (cursor === undefined || this.#check.names.size > LIST_WALK_LIMITS.maxItems) this.#check = newCheck();
    this.#check.page(tools);
  }

  /**
   * The contract of a tool; `undefined` when the upstream lists no such tool, or one whose annotations are invalid. May
   * list all tools first, and then rejects as that does.
   */
  async find(tool: string): Promise<ToolContract | undefined> {
    const known = this.#known(tool);
    if (known !== undefined) return known.contract;
    this.#walk ??= this.#walkAll().finally(() => {
      this.#walk = undefined;
    });
    await this.#walk;
    return this.#known(tool)?.contract;
  }

  #known(tool: string): { readonly contract: ToolContract | undefined } | undefined {
    const contract = this.#check.contractOf(tool);
    return contract !== undefined || this.#check.excluded.has(tool) ? { contract } : undefined;
  }

  async #walkAll(): Promise<void> {
    const options: UpstreamRequestOptions = { signal: new AbortController().signal, meta: {} };
    const fetchPage = async (cursor: string | undefined): Promise<RawListPage> => {
      const { raw, tools, nextCursor } = await this.#upstream.listTools(cursor, options);
      return { entries: tools, nextCursor, message: raw };
    };
    const { check } = await walkTools(fetchPage, { limits: LIST_WALK_LIMITS, honoursHeaders: true, stall: "ends" });
    this.#check = check;
  }
}

/** The gateway's own side is modern HTTP, where annotations count, whatever is behind it. */
function newCheck(): ToolListCheck {
  return new ToolListCheck({ honoursHeaders: true });
}
