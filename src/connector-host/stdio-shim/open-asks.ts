import { isJsonObject, isRequestId, memberRange, parseJson, type RequestId, RpcCode } from "../../protocol/index.js";

/** What a message of the host, ahead of the answer to a call, is to the agent. */
export type HostWord =
  /** A question, which the agent can answer. */
  | { readonly kind: "question"; readonly id: RequestId }
  /** The end of a question that the agent was asked and has not answered. */
  | { readonly kind: "withdrawal"; readonly id: RequestId }
  | { readonly kind: "other" };

const OTHER: HostWord = { kind: "other" };

/**
 * What the host asked the agent in the midst of its calls, and the agent has not answered. Kept so that no question outlives its call
 * at the agent, which may be showing it to a person, and no call waits for an agent that says nothing any more.
 *
 * Source: 2025-11-25, Elicitation; Sampling; Roots; Cancellation.
 */
export class OpenAsks<C> {
  readonly #open = new Map<RequestId, C>();

  /** Tells what a message is. Looks no further into what is no request, while no question is open. */
  classify(message: Uint8Array): HostWord {
    const hasId = memberRange(message, ["id"]) !== undefined;
    if (!hasId && this.#open.size === 0) return OTHER;
    const value = parseJson(Buffer.from(message).toString("utf8"));
    if (!isJsonObject(value)) return OTHER;
    const { id, method, params } = value;
    if (isRequestId(id)) return { kind: "question", id };
    const cancelled = method === "notifications/cancelled" && isJsonObject(params) ? params["requestId"] : undefined;
    return isRequestId(cancelled) && this.#open.has(cancelled) ? { kind: "withdrawal", id: cancelled } : OTHER;
  }

  /** The agent is asked this in the midst of a call. */
  add(id: RequestId, call: C): void {
    this.#open.set(id, call);
  }

  /** It is answered, or withdrawn. */
  delete(id: RequestId): void {
    this.#open.delete(id);
  }

  /** Forgets the questions of a call that is over, and gives their ids. */
  takeOf(call: C): readonly RequestId[] {
    if (this.#open.size === 0) return [];
    const ids = [...this.#open].filter(([, owner]) => owner === call).map(([id]) => id);
    for (const id of ids) this.#open.delete(id);
    return ids;
  }

  /** Forgets all, and gives their ids. */
  takeAll(): readonly RequestId[] {
    const ids = [...this.#open.keys()];
    this.#open.clear();
    return ids;
  }
}

/** The line that tells an agent that a question is over. */
export function withdrawalLine(requestId: RequestId, reason: string): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason } });
}

/** What the host gets in the place of an answer of an agent that says nothing any more. */
export function refusalLine(id: RequestId): string {
  const error = {
    code: RpcCode.internalError,
    message: "The agent has closed its side, and answers nothing any more.",
  };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
