import {
  type Implementation,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type JsonRpcError,
  type RequestId,
  RpcCode,
} from "../protocol/index.js";

/** A request that the server sent to us. */
export interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

/** What the server gets for its request. */
export type ServerRequestAnswer = { readonly result: JsonObject } | { readonly error: JsonRpcError };

/** What an answerer is told beside the request. */
export interface ServerRequestContext {
  /** Fires when the answer is no longer wanted: the server cancelled the request, or the conversation is over. */
  readonly signal: AbortSignal;
  /** What the server calls itself; for display. */
  readonly serverInfo: Implementation | undefined;
}

/** Answers the requests of a server, `ping` aside. What it throws, or rejects with, is answered with "internal error". */
export type ServerRequestAnswerer = (
  request: ServerRequest,
  context: ServerRequestContext,
) => Promise<ServerRequestAnswer>;

/** What the serving of requests needs of its connection. */
export interface ServerRequestHost {
  /** Sends a response, and forgets it. */
  sendResponse(text: string): void;
  /** Someone here works on the server's requests, or nobody any more: until then the server waits for us. */
  onServing(isServing: boolean): void;
  /** What the server calls itself, once that is known. */
  serverInfo(): Implementation | undefined;
}

/** A call that waits for the server. */
interface HeldCall {
  /** The server waits for us: until `release` its silence is no fault. */
  hold(): void;
  release(): void;
}

/** What {@link ServerRequestHost.onServing} means for the calls that are open. */
export function holdCalls(calls: Iterable<HeldCall>, isServing: boolean): void {
  for (const call of calls) {
    if (isServing) call.hold();
    else call.release();
  }
}

/**
 * Answers what the server asks: `ping` at once, the rest by the answerer, "method not found" without one.
 *
 * The server's ids are a space of their own. A request that comes again while it is being answered is the same one, read
 * twice off a stream that was taken up again. After `notifications/cancelled` of the server the answerer's signal fires,
 * and nothing is answered.
 *
 * Source: 2025-11-25, Ping; Cancellation.
 */
export class ServerRequests {
  readonly #host: ServerRequestHost;
  readonly #answerer: ServerRequestAnswerer | undefined;
  readonly #open = new Map<RequestId, AbortController>();

  constructor(host: ServerRequestHost, answerer: ServerRequestAnswerer | undefined) {
    this.#host = host;
    this.#answerer = answerer;
  }

  get isServing(): boolean {
    return this.#open.size > 0;
  }

  receive(request: ServerRequest): void {
    const { id, method } = request;
    if (method === "ping") this.#send(id, { result: {} });
    else if (this.#answerer === undefined) this.#send(id, METHOD_NOT_FOUND);
    else if (!this.#open.has(id)) void this.#answer(request, this.#answerer);
  }

  /** The server's `notifications/cancelled`, with its params. */
  cancel(params: unknown): void {
    const id = isJsonObject(params) ? params["requestId"] : undefined;
    if (!isRequestId(id)) return;
    this.#open.get(id)?.abort(new Error("The server cancelled its request."));
    this.#forget(id);
  }

  /** The conversation is over: nothing is answered any more. */
  cancelAll(): void {
    for (const [id, controller] of this.#open) {
      controller.abort(new Error("The session is over."));
      this.#forget(id);
    }
  }

  async #answer(request: ServerRequest, answerer: ServerRequestAnswerer): Promise<void> {
    const controller = new AbortController();
    this.#open.set(request.id, controller);
    if (this.#open.size === 1) this.#host.onServing(true);
    const context = { signal: controller.signal, serverInfo: this.#host.serverInfo() };
    const answer = await ask(answerer, request, context);
    if (this.#open.get(request.id) !== controller) return;
    this.#forget(request.id);
    this.#send(request.id, answer);
  }

  #forget(id: RequestId): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#host.onServing(false);
  }

  #send(id: RequestId, answer: ServerRequestAnswer): void {
    this.#host.sendResponse(encodeResponse(id, answer));
  }
}

const METHOD_NOT_FOUND = { error: { code: RpcCode.methodNotFound, message: "Method not found" } };
const INTERNAL_ERROR = { error: { code: RpcCode.internalError, message: "Internal error" } };

async function ask(
  answerer: ServerRequestAnswerer,
  request: ServerRequest,
  context: ServerRequestContext,
): Promise<ServerRequestAnswer> {
  try {
    return await answerer(request, context);
  } catch {
    return INTERNAL_ERROR;
  }
}

/** What can't be encoded is an internal error of ours. */
function encodeResponse(id: RequestId, answer: ServerRequestAnswer): string {
  const head = { jsonrpc: "2.0", id };
  try {
    return JSON.stringify({ ...head, ...answer });
  } catch {
    return JSON.stringify({ ...head, ...INTERNAL_ERROR });
  }
}
