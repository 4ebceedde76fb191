import type { Diagnostic } from "./diagnostic.js";
import {
  classifyMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type JsonRpcError,
  type Message,
  type RequestId,
} from "./json-rpc.js";
import type { Notification, Progress } from "./results.js";

/** What came back for a request of ours. */
export type Answer =
  | { readonly kind: "result"; readonly result: JsonObject }
  | {
      readonly kind: "error";
      readonly error: JsonRpcError;
      /** It came without an id, when no other request can have been meant. */
      readonly withoutId?: true;
    }
  | { readonly kind: "invalid"; readonly reason: string };

/** What one message of the server means to us. `R` is whatever stands for a request of ours. */
export type Reception<R> =
  /** The request is settled, and forgotten here. */
  | {
      readonly kind: "answer";
      readonly request: R;
      readonly answer: Answer;
      readonly diagnostic: Diagnostic | undefined;
    }
  /** `notification` is the whole that `progress` was read from. */
  | {
      readonly kind: "progress";
      readonly request: R;
      readonly progress: Progress;
      readonly notification: Notification;
    }
  | { readonly kind: "notification"; readonly notification: Notification }
  | { readonly kind: "server_request"; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: "ignored"; readonly diagnostic: Diagnostic | undefined };

/**
 * The requests of ours that the server may still answer, and what each message of the server means for them.
 *
 * Ids are whole numbers from 1, each used once; a request's progress token is its id. An answer belongs to the request
 * with that very id; one that echoes the number as a string is accepted, with a diagnostic, since some servers do. An
 * error without an id is the answer when only one request can be meant. The ids of the server's own requests are a space
 * of their own. Pure: no IO, no time.
 *
 * Source: 2025-11-25, Overview, Messages; Cancellation; Progress. 2026-07-28, stdio, Receiving Messages.
 */
export class MessageChannel<R> {
  readonly #pending = new Map<number, R>();
  #lastId = 0;

  /** An id that was never used before. */
  takeId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** The request with this id is being sent: from now on it can be answered. The id may come from elsewhere. */
  open(id: number, request: R): void {
    this.#lastId = Math.max(this.#lastId, id);
    this.#pending.set(id, request);
  }

  /** The pending request that a value names, as its id or as the id's decimal form. */
  find(id: unknown): R | undefined {
    const own = isRequestId(id) ? this.#match(id) : undefined;
    return own === undefined ? undefined : this.#pending.get(own);
  }

  /** Nobody waits for the answer any more; one that comes is ignored. */
  close(id: number): void {
    this.#pending.delete(id);
  }

  /** What a parsed JSON value means. */
  receive(value: unknown): Reception<R> {
    const message = classifyMessage(value);
    if (message.kind === "invalid") return this.#invalid(message.id, message.reason);
    if (message.kind === "notification") return this.#notification(message);
    if (message.kind === "result") return this.#answer(message.id, { kind: "result", result: message.result });
    if (message.kind === "error") {
      const { id, error } = message;
      return this.#answer(id, id === undefined ? { kind: "error", error, withoutId: true } : { kind: "error", error });
    }
    return { kind: "server_request", id: message.id, method: message.method, params: message.params };
  }

  /** The request that an answer with this id, which can't be read, belongs to; it is forgotten here. */
  forfeit(id: RequestId | undefined): R | undefined {
    const own = id === undefined ? undefined : this.#match(id);
    return own === undefined ? undefined : this.#take(own);
  }

  #notification(message: Message & { readonly kind: "notification" }): Reception<R> {
    const { method, params } = message;
    if (method !== "notifications/progress") return { kind: "notification", notification: { method, params } };
    const token = isJsonObject(params) ? params["progressToken"] : undefined;
    const request = typeof token === "number" ? this.#pending.get(token) : undefined;
    const progress = readProgress(params);
    if (request === undefined || progress === undefined) return { kind: "ignored", diagnostic: undefined };
    return { kind: "progress", request, progress, notification: { method, params } };
  }

  #answer(id: RequestId | undefined, answer: Answer): Reception<R> {
    const own = id === undefined ? this.#only() : this.#match(id);
    const request = own === undefined ? undefined : this.#take(own);
    if (request !== undefined) return { kind: "answer", request, answer, diagnostic: echoed(id) };
    if (id !== undefined && this.#wasUsed(id)) return { kind: "ignored", diagnostic: undefined };
    const what = id === undefined ? "An error without an id" : "A response";
    const message = `${what} belongs to no request that waits.`;
    return { kind: "ignored", diagnostic: { kind: "unmatched_response", message } };
  }

  /** `id`: of a broken response, and of nothing else. */
  #invalid(id: RequestId | undefined, reason: string): Reception<R> {
    const request = this.forfeit(id);
    if (request !== undefined) {
      return { kind: "answer", request, answer: { kind: "invalid", reason }, diagnostic: echoed(id) };
    }
    return { kind: "ignored", diagnostic: { kind: "not_a_message", message: `A line is no message: ${reason}.` } };
  }

  /** The pending id that an answer's id stands for. */
  #match(id: RequestId): number | undefined {
    const own = typeof id === "number" ? id : decimal(id);
    return own !== undefined && this.#pending.has(own) ? own : undefined;
  }

  #take(id: number): R | undefined {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    return request;
  }

  #only(): number | undefined {
    if (this.#pending.size !== 1) return undefined;
    for (const id of this.#pending.keys()) return id;
    return undefined;
  }

  /** Late answers, to requests that were given up, are nothing to report. */
  #wasUsed(id: RequestId): boolean {
    const own = typeof id === "number" ? id : decimal(id);
    return own !== undefined && own >= 1 && own <= this.#lastId;
  }
}

/** The number of which `text` is the decimal form, if it is one of an id of ours. */
function decimal(text: string): number | undefined {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : undefined;
}

function echoed(id: RequestId | undefined): Diagnostic | undefined {
  if (typeof id !== "string") return undefined;
  return { kind: "id_echoed_as_string", message: "The server echoed a number as a string in an answer's id." };
}

function readProgress(params: unknown): Progress | undefined {
  if (!isJsonObject(params)) return undefined;
  const { progress, total, message } = params;
  if (typeof progress !== "number") return undefined;
  return {
    progress,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}
