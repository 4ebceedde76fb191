import { type JsonObject, type JsonRpcError, type Message, type RequestId, RpcCode } from "../../../protocol/index.js";
import type { ServerAsk, ServerAskAnswer } from "../../../protocol/input/index.js";
import { notificationLine } from "../../../serving/index.js";
import type { AgentQuestion, QuestionStream } from "../agent-question.js";
import type { LegacyHttpRevision } from "../classify-surface.js";
import type { AgentInput } from "../ports.js";
import { planLegacyAsk } from "./legacy-ask.js";

export interface SessionAsksOptions {
  /** The session's public mark: ids are unique over sessions, since an agent may have one after the other over one stream of lines. */
  readonly tag: string;
  readonly revision: LegacyHttpRevision;
  /** What the agent declared that it can be asked, in the newest form. */
  readonly capabilities: JsonObject;
  /** Questions that may wait for an answer at a time. */
  readonly maxPendingAsks: number;
}

/** A message that may answer a question: a response, or what was meant as one. */
export type AgentResponse = Extract<Message, { kind: "result" | "error" | "invalid" }>;

/**
 * The questions that one agent of a legacy revision is asked in its session. Each is a request on the stream of the call that it
 * belongs to; the agent's response comes in a POST of the same session. The first response to a question counts, and no other.
 *
 * Source: 2025-11-25, Transports, Sending Messages to the Server; Cancellation.
 */
export class SessionAsks {
  readonly #options: SessionAsksOptions;
  /** Those that have no answer, by id. */
  readonly #open = new Map<string, Question>();
  #count = 0;

  constructor(options: SessionAsksOptions) {
    this.#options = options;
  }

  /** How a directory asks over the stream of a request. */
  inputOver(stream: QuestionStream): AgentInput {
    const { capabilities } = this.#options;
    return { capabilities, ask: (ask, signal) => this.#ask(stream, ask, signal), holder: this };
  }

  /** Takes a response. Whether it has the id of a question of this session, be that open or over: one that is over ignores it. */
  take(response: AgentResponse): boolean {
    const { id } = response;
    const question = typeof id === "string" ? this.#open.get(id) : undefined;
    if (question === undefined) return this.#wasAsked(id);
    if (response.kind === "result") question.settle({ result: response.result });
    else if (response.kind === "error") question.settle({ error: response.error });
    else question.settle({ error: failure("The agent's answer is no JSON-RPC response.") });
    return true;
  }

  #wasAsked(id: RequestId | undefined): boolean {
    const prefix = this.#idOf("");
    if (typeof id !== "string" || !id.startsWith(prefix)) return false;
    const number = id.slice(prefix.length);
    return /^[1-9]\d{0,14}$/.test(number) && Number(number) <= this.#count;
  }

  /** Never rejects. */
  #ask(stream: QuestionStream, ask: ServerAsk, signal: AbortSignal): Promise<ServerAskAnswer> {
    const { capabilities, revision, maxPendingAsks } = this.#options;
    const id = this.#idOf(this.#count + 1);
    const planned = planLegacyAsk(ask, { capabilities, revision, id });
    if (planned.kind === "refused") return Promise.resolve({ error: planned.error });
    if (signal.aborted) return Promise.resolve({ error: NOT_WANTED });
    if (this.#open.size >= maxPendingAsks) {
      const limit = `The agent has ${String(maxPendingAsks)} questions to answer already (maxPendingAsks).`;
      return Promise.resolve({ error: failure(limit) });
    }
    this.#count += 1;
    const line = JSON.stringify({ jsonrpc: "2.0", id, method: ask.method, params: planned.params });
    return new Promise((resolve) => {
      const question = new Question({ id, line, stream, signal }, (answer) => {
        this.#open.delete(id);
        resolve(answer);
      });
      this.#open.set(id, question);
      question.put();
    });
  }

  #idOf(number: number | ""): string {
    return `${this.#options.tag}-${String(number)}`;
  }
}

interface QuestionInit {
  readonly id: string;
  readonly line: string;
  readonly stream: QuestionStream;
  /** Fires when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** One question, until it is settled. */
class Question implements AgentQuestion {
  readonly line: string;
  readonly #init: QuestionInit;
  readonly #onSettled: (answer: ServerAskAnswer) => void;
  #isOpen = true;

  constructor(init: QuestionInit, onSettled: (answer: ServerAskAnswer) => void) {
    this.line = init.line;
    this.#init = init;
    this.#onSettled = onSettled;
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  put(): void {
    const { stream, signal } = this.#init;
    signal.addEventListener("abort", this.#onAbort);
    if (!stream.put(this)) this.settle({ error: GONE });
  }

  /** The first answer counts. */
  settle(answer: ServerAskAnswer): void {
    this.#over(answer);
  }

  end(reason: Parameters<AgentQuestion["end"]>[0]): void {
    this.#withdraw(reason === "agent_left" ? GONE : ENDED);
  }

  readonly #onAbort = (): void => this.#withdraw(NOT_WANTED);

  /** Tells the agent, which may be showing it to a person. */
  #withdraw(error: JsonRpcError): void {
    const params = { requestId: this.#init.id, reason: error.message };
    this.#over({ error }, notificationLine("notifications/cancelled", params));
  }

  #over(answer: ServerAskAnswer, cancelLine?: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { stream, signal } = this.#init;
    signal.removeEventListener("abort", this.#onAbort);
    stream.takeBack(this, cancelLine);
    this.#onSettled(answer);
  }
}

function failure(message: string): JsonRpcError {
  return { code: RpcCode.internalError, message };
}

const GONE = failure("The agent can't be asked any more.");
const ENDED = failure("The request that this was asked for is over.");
const NOT_WANTED = failure("The answer is not wanted any more.");
