import { isJsonObject, type JsonObject, type JsonRpcError, RpcCode } from "../../protocol/index.js";
import { classifyAsk, type ServerAsk, type ServerAskAnswer } from "../../protocol/input/index.js";

interface WaitingAsk {
  readonly ask: ServerAsk;
  /** Whether the agent was asked it: nothing else of what it says can be an answer to it. */
  isShown: boolean;
  readonly settle: (answer: ServerAskAnswer) => void;
}

/** What a server asked for in one call and has no answer to yet. Each ask has a key of its own that no other ask of the call ever gets. */
export class WaitingAsks {
  readonly #limit: number;
  readonly #waiting = new Map<string, WaitingAsk>();
  #asked = 0;

  /** `limit`: `maxWaitingAsks`. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** The promise of what the server gets. It is not waited for any more once `signal` fires. */
  add(ask: ServerAsk, signal: AbortSignal): Promise<ServerAskAnswer> {
    if (signal.aborted) return Promise.resolve(WITHDRAWN);
    if (this.#waiting.size >= this.#limit) return Promise.resolve(tooMany(this.#limit));
    this.#asked += 1;
    const key = `ask-${String(this.#asked)}`;
    return new Promise((resolve) => {
      const settle = (answer: ServerAskAnswer): void => {
        signal.removeEventListener("abort", withdraw);
        this.#waiting.delete(key);
        resolve(answer);
      };
      const withdraw = (): void => settle(WITHDRAWN);
      signal.addEventListener("abort", withdraw);
      this.#waiting.set(key, { ask, isShown: false, settle });
    });
  }

  /** Everything that waits, by key, to be shown to an agent of these capabilities. What it did not declare is refused to the server. */
  show(capabilities: JsonObject): ReadonlyMap<string, ServerAsk> {
    const shown = new Map<string, ServerAsk>();
    for (const [key, waiting] of this.#waiting) {
      const refusal = refuseUndeclared(waiting.ask, capabilities);
      if (refusal !== undefined) {
        waiting.settle(refusal);
        continue;
      }
      waiting.isShown = true;
      shown.set(key, waiting.ask);
    }
    return shown;
  }

  /** Gives the server the agent's answers to what it was shown. Others mean nothing, and what is no object is no answer. */
  answer(responses: JsonObject): void {
    for (const [key, { isShown, settle }] of this.#waiting) {
      const result = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (isShown && isJsonObject(result)) settle({ result });
    }
  }

  /** Nobody answers any more. */
  end(): void {
    for (const { settle } of this.#waiting.values()) settle(WITHDRAWN);
  }
}

/** What a server gets for asking what the agent of the call did not declare; `undefined`: it may be asked. Pure. */
export function refuseUndeclared({ method, params }: ServerAsk, capabilities: JsonObject): ServerAskAnswer | undefined {
  const verdict = classifyAsk(method, params, capabilities);
  if (verdict.kind === "declared") return undefined;
  if (verdict.kind === "unknown_method") return failed(RpcCode.methodNotFound, "Method not found");
  return failed(RpcCode.invalidParams, `Invalid params: ${verdict.reason}`);
}

const WITHDRAWN = failed(RpcCode.internalError, "Nobody answers any more");

function tooMany(limit: number): ServerAskAnswer {
  return failed(RpcCode.internalError, `More than ${String(limit)} requests wait for answers (maxWaitingAsks)`);
}

function failed(code: number, message: string): { readonly error: JsonRpcError } {
  return { error: { code, message } };
}
