import type { AnswerHead } from "../../transport/index.js";
import type { ServerIntroduction } from "../initialize.js";

/** What a request needs to know of the session that it is made in. */
export interface RequestScope {
  readonly generation: number;
  /** `undefined` when the server gave none. */
  readonly id: string | undefined;
  /** The headers of all that is posted in it, as a flat list. */
  readonly postHeaders: readonly string[];
  /** Those of its GETs and its DELETE. */
  readonly getHeaders: readonly string[];
  /** Whether an array is a batch of messages. */
  readonly takesBatches: boolean;
}

/**
 * One session with a server, from its `initialize` on; also with a server that gives no session id.
 *
 * Source: 2025-11-25, Transports, Session Management; Protocol Version Header.
 */
export class Session implements RequestScope {
  /** From 1; a later session of the same client has a higher one. */
  readonly generation: number;
  readonly id: string | undefined;
  readonly introduction: ServerIntroduction;
  readonly postHeaders: readonly string[];
  readonly getHeaders: readonly string[];
  readonly takesBatches: boolean;
  /** The server said that it doesn't know it any more. */
  isLost = false;

  constructor(generation: number, id: string | undefined, introduction: ServerIntroduction, own: readonly string[]) {
    this.generation = generation;
    this.id = id;
    this.introduction = introduction;
    this.takesBatches = introduction.revision === "2025-03-26";
    const bound = ["MCP-Protocol-Version", introduction.revision, ...(id === undefined ? [] : ["Mcp-Session-Id", id])];
    this.postHeaders = [...POST_HEADERS, ...bound, ...own];
    this.getHeaders = ["Accept", "text/event-stream", ...bound, ...own];
  }
}

/** What every POST says of its body and of its answer. */
export const POST_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json",
  "Accept",
  "application/json, text/event-stream",
];

const VISIBLE = /^[\x21-\x7e]+$/;

/** The session id that the answer to `initialize` gives; `undefined` when it gives none that can be sent back. */
export function readSessionId({ headers }: AnswerHead): string | undefined {
  const id = headers["mcp-session-id"];
  return typeof id === "string" && VISIBLE.test(id) ? id : undefined;
}

/**
 * Whether a refusal says that the session is gone: a 404, or a 400 whose body speaks of a session, as many servers answer.
 * Means something only for a request that named one. Pure.
 *
 * Source: 2025-11-25, Transports, Session Management.
 */
export function isSessionLoss(status: number, body: string): boolean {
  return status === 404 || (status === 400 && /session/i.test(body));
}

/** Whether a server that refused `initialize` with 400 misses the version header there. Pure. */
export function missesVersionHeader(status: number, body: string): boolean {
  return status === 400 && /mcp-protocol-version/i.test(body);
}
