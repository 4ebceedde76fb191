import { isRemoteConnectorError } from "../errors.js";
import { ListWalk, type ListWalkLimits, RpcCode, type Tool, ToolListCheck } from "../protocol/index.js";

/** One page as it came. */
export interface ToolPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: unknown;
  /** The length of the message that held it. */
  readonly bytes: number;
}

/** Every tool of a server, checked. */
export interface ToolWalkResult {
  readonly tools: readonly Tool[];
  readonly check: ToolListCheck;
}

/** Begins a walk; `onPage` sees what is known after each page. */
export type ToolWalk = (onPage?: (check: ToolListCheck) => void) => Promise<ToolWalkResult>;

/**
 * Walks through all pages of `tools/list`.
 *
 * A cursor that the server refuses discards all pages and begins the walk anew, once. Rejects with what a page rejects
 * with, and with `no_progress` or `limit_exceeded`.
 */
export async function walkTools(
  fetchPage: (cursor: string | undefined) => Promise<ToolPage>,
  limits: ListWalkLimits,
  onPage?: (check: ToolListCheck) => void,
): Promise<ToolWalkResult> {
  try {
    return await walkOnce(fetchPage, limits, onPage);
  } catch (error) {
    if (!(error instanceof RefusedCursor)) throw error;
  }
  try {
    const walked = await walkOnce(fetchPage, limits, onPage);
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
  limits: ListWalkLimits,
  onPage?: (check: ToolListCheck) => void,
): Promise<ToolWalkResult> {
  const walk = new ListWalk("tools/list", limits);
  const check = new ToolListCheck({ honoursHeaders: true });
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor).catch((error: unknown) => {
      const refused = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.invalidParams;
      throw refused && cursor !== undefined ? new RefusedCursor("", { cause: error }) : error;
    });
    const checked = check.page(page.entries);
    for (const tool of checked.tools) tools.push(tool);
    onPage?.(check);
    cursor = walk.page({
      items: page.entries.length,
      fresh: checked.fresh,
      bytes: page.bytes,
      nextCursor: page.nextCursor,
    });
  } while (cursor !== undefined);
  return { tools, check };
}
