import type { JsonObject } from "../../../protocol/index.js";
import {
  type AnswerAsk,
  classifyAsk,
  type InputRelay,
  type ServerAsk,
  type ServerAskAnswer,
} from "../../../protocol/input/index.js";
import { declinedAnswer } from "./lease-capabilities.js";

/** A call that has the connection. */
interface AskedCall {
  /** What its caller can be asked. */
  readonly capabilities: JsonObject;
  readonly answer: AnswerAsk;
}

/**
 * Whom the requests of one connection's server go to: the call that has the connection when they come. Without one, and where its
 * caller can't be asked that, they are declined at once.
 */
export class CallAsks {
  readonly relay: InputRelay;
  #call: AskedCall | undefined;
  /** What ends the requests that the call is being asked. */
  readonly #open = new Set<AbortController>();
  readonly #onStray: () => void;

  /** `capabilities`: what the connection declares. `onStray` is told of each request that belongs to no call. */
  constructor(capabilities: JsonObject, onStray: () => void = ignore) {
    this.#onStray = onStray;
    this.relay = { capabilities, answer: (ask, signal) => this.#answer(ask, signal) };
  }

  /** Whether the call's caller is being asked something now. */
  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  /** From now on the server's requests are this call's. */
  begin(call: AskedCall): void {
    this.#call = call;
  }

  /** The call is over. What it is being asked is declined, and the signals of these requests fire. */
  end(): void {
    this.#call = undefined;
    for (const over of this.#open) over.abort(new Error("The call is over."));
  }

  async #answer(ask: ServerAsk, signal: AbortSignal): Promise<ServerAskAnswer> {
    const call = this.#call;
    if (call === undefined) this.#onStray();
    if (call === undefined || classifyAsk(ask.method, ask.params, call.capabilities).kind !== "declared") {
      return declinedAnswer(ask.method);
    }
    const over = new AbortController();
    this.#open.add(over);
    try {
      const asked = call.answer(ask, AbortSignal.any([signal, over.signal]));
      return await Promise.race([asked, declinedWhen(over.signal, ask.method)]);
    } finally {
      this.#open.delete(over);
    }
  }
}

function ignore(): void {
  // It is declined, and nothing follows from it.
}

function declinedWhen(signal: AbortSignal, method: string): Promise<ServerAskAnswer> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(declinedAnswer(method)), { once: true });
  });
}
