import { isRemoteConnectorError } from "../errors.js";
import {
  ListWalk,
  type ListWalkLimits,
  RpcCode,
  type Tool,
  toolDefinitions,
  ToolListCheck,
} from "../protocol/index.js";

/** One page as it came. */
export interface ToolPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: unknown;
  /** The message that held it. */
  readonly message: Uint8Array | string;
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
  /** Whether to keep the text of each definition. */
  readonly keepsDefinitions?: boolean | undefined;
  /** Sees what is known after each page. */
  readonly onPage?: ((check: ToolListCheck) => void) | undefined;
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
  const walk = new ListWalk("tools/list", options.limits);
  const check = new ToolListCheck({ honoursHeaders: true });
  const tools: Tool[] = [];
  const definitions = new Map<string, Uint8Array>();
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor).catch((error: unknown) => {
      const refused = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.invalidParams;
      throw refused && cursor !== undefined ? new RefusedCursor("", { cause: error }) : error;
    });
    const checked = check.page(page.entries);
    for (const tool of checked.tools) tools.push(tool);
    if (options.keepsDefinitions === true) {
      const message = typeof page.message === "string" ? Buffer.from(page.message) : page.message;
      for (const [name, text] of toolDefinitions(message, page.entries, checked.tools)) definitions.set(name, text);
    }
    options.onPage?.(check);
    cursor = walk.page({
      items: page.entries.length,
      fresh: checked.fresh,
      bytes: page.message.length,
      nextCursor: page.nextCursor,
    });
  } while (cursor !== undefined);
  return { tools, check, definitions };
}
