import { isRemoteConnectorError } from "../errors.js";
import { RpcCode } from "./json-rpc.js";
import type { Diagnostic } from "./diagnostic.js";
import { ListWalk, type ListWalkLimits } from "./list-walk.js";

/** One page of a list as it came. */
export interface RawListPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: unknown;
  /** The page's `ttlMs`, where its revision has one. */
  readonly ttlMs?: unknown;
  /** The whole response that held it. */
  readonly message: Uint8Array;
}

/** Gets a page; `undefined` asks for the first. */
export type FetchPage = (cursor: string | undefined) => Promise<RawListPage>;

export interface ListWalkOptions {
  /** The method that is walked, for errors and diagnostics. */
  readonly method: string;
  readonly limits: ListWalkLimits;
  /** What a page with a cursor and nothing new does; legacy servers are known to send them. Default `fails`. */
  readonly stall?: "fails" | "ends" | undefined;
}

/** What a walk gathers. A new one is made when the walk has to begin anew. */
export interface Gathering {
  readonly diagnostics: Diagnostic[];
  /** Takes a page in; how many names on it no earlier page had. */
  take(page: RawListPage): number;
}

/**
 * Walks through all pages of a list.
 *
 * A cursor that the server refuses discards all pages and begins the walk anew, once. Rejects with what a page rejects
 * with, and with `no_progress` or `limit_exceeded`.
 */
export async function walkList<G extends Gathering>(
  fetchPage: FetchPage,
  begin: () => G,
  options: ListWalkOptions,
): Promise<G> {
  try {
    return await walkOnce(fetchPage, begin(), options);
  } catch (error) {
    if (!(error instanceof RefusedCursor)) throw error;
  }
  try {
    const gathered = await walkOnce(fetchPage, begin(), options);
    gathered.diagnostics.push({ kind: "walk_restarted", message: "The server refused a cursor of its own." });
    return gathered;
  } catch (error) {
    throw error instanceof RefusedCursor ? error.cause : error;
  }
}

/** The server refused a cursor that it had given. */
class RefusedCursor extends Error {}

async function walkOnce<G extends Gathering>(fetchPage: FetchPage, gathering: G, options: ListWalkOptions): Promise<G> {
  const walk = new ListWalk(options.method, options.limits, options.stall);
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor).catch((error: unknown) => {
      const refused = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.invalidParams;
      throw refused && cursor !== undefined ? new RefusedCursor("", { cause: error }) : error;
    });
    walk.received(page.entries.length, page.message.length);
    const fresh = gathering.take(page);
    cursor = walk.next(fresh, page.nextCursor);
    if (cursor === undefined) noteOddEnd(gathering.diagnostics, options.method, page.nextCursor);
  } while (cursor !== undefined);
  return gathering;
}

/** A walk that ends in peace though the server said something else leaves a word of it. */
function noteOddEnd(diagnostics: Diagnostic[], method: string, nextCursor: unknown): void {
  if (nextCursor === undefined || nextCursor === null) return;
  if (typeof nextCursor === "string") {
    const message = "A page with a cursor added nothing new: the list ends there.";
    diagnostics.push({ kind: "duplicate_entry", message, subject: method });
  } else {
    const message = "A cursor that is no string was taken for none.";
    diagnostics.push({ kind: "member_removed", message, subject: method, path: "nextCursor" });
  }
}
