import { isRemoteConnectorError } from "../errors.js";
import { RpcCode } from "./json-rpc.js";
import { ListWalk, type ListWalkLimits } from "./list-walk.js";
import type { Tool } from "./results.js";
import { toolDefinitions } from "./tool-definitions.js";
import { ToolListCheck } from "./tool-list.js";

/** One page as it came. */
export interface ToolPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: unknown;
  /** The whole response that held it. */
  readonly message: Uint8Array;
}

/** Every tool of a server, checked. */
export interface ToolWalkResult {
  readonly tools: readonly Tool[];
  readonly check: ToolListCheck;
  /** The text of each definition, by name; empty unless it was asked for. */
  readonly definitions: ReadonlyMap<string, Uint8Array>;
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

/**
 * Walks through all pages of `tools/list`, which `fetchPage` gets.
 *
 * A cursor that the server refuses discards all pages and begins the walk anew, once. Rejects with what a page rejects
 * with, and with `no_progress` or `limit_exceeded`.
 */
export async function walkTools(
  fetchPage: (cursor: string | undefined) => Promise<ToolPage>,
  options: ToolWalkOptions,
): Promise<ToolWalkResult> {
  try {
    return await walkOnce(fetchPage, options);
  } catch (error) {
    if (!(error instanceof RefusedCursor)) throw error;
  }
  try {
    const walked = await walkOnce(fetchPage, options);
    walked.check.diagnostics.push({ kind: "walk_restarted", message: "The server refused a cursor of its own." });
    return walked;
  } catch (error) {
    throw error instanceof RefusedCursor ? error.cause : error;
  }
}

/** The server refused a cursor that it had given. */
class RefusedCursor extends Error {}

async function walkOnce(
  fetchPage: (cursor: string | undefined) => Promise<ToolPage>,
  options: ToolWalkOptions,
): Promise<ToolWalkResult> {
  const walk = new ListWalk("tools/list", options.limits, options.stall);
  const check = new ToolListCheck(options);
  const tools: Tool[] = [];
  const definitions = new Map<string, Uint8Array>();
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor).catch((error: unknown) => {
      const refused = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.invalidParams;
      throw refused && cursor !== undefined ? new RefusedCursor("", { cause: error }) : error;
    });
    walk.received(page.entries.length, page.message.length);
    const checked = check.page(page.entries);
    for (const tool of checked.tools) tools.push(tool);
    if (options.keepsDefinitions === true) {
      const texts = toolDefinitions(page.message, page.entries, checked.tools);
      for (const [name, text] of texts) definitions.set(name, text);
    }
    options.onPage?.(check);
    cursor = walk.next(checked.fresh, page.nextCursor);
    if (cursor === undefined) noteOddEnd(check, page.nextCursor);
  } while (cursor !== undefined);
  return { tools, check, definitions };
}

/** A walk that ends in peace though the server said something else leaves a word of it. */
function noteOddEnd(check: ToolListCheck, nextCursor: unknown): void {
  if (nextCursor === undefined || nextCursor === null) return;
  if (typeof nextCursor === "string") {
    check.diagnostics.push({
      kind: "duplicate_entry",
      message: "A page with a cursor added nothing new: the list ends there.",
    });
  } else {
    const message = "A cursor that is no string was taken for none.";
    check.diagnostics.push({ kind: "member_removed", message, subject: "tools/list", path: "nextCursor" });
  }
}
