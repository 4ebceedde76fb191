import type { RequestId } from "../../protocol/index.js";
import type { Binding } from "./ports.js";
import { RequestSignal } from "./request-signal.js";
import type { EndReason, RequestTarget } from "./request-target.js";

/**
 * One request of a batch. It has a deadline of its own and can be ended by itself; it ends with its exchange at the latest.
 * Nothing can be sent ahead of its answer.
 */
export class BatchPart implements RequestTarget {
  readonly binding: Binding;
  readonly requestId: RequestId;
  readonly mayStream = false;
  readonly input = undefined;
  deadline = Infinity;
  readonly #signal = new RequestSignal();
  #ended: EndReason | undefined;
  #endedAt = Infinity;
  #isAnswered = false;

  constructor(binding: Binding, requestId: RequestId) {
    this.binding = binding;
    this.requestId = requestId;
  }

  get signal(): AbortSignal {
    return this.#signal.real;
  }

  get quickSignal(): AbortSignal {
    return this.#signal;
  }

  abort(reason: unknown): void {
    this.#signal.abort(reason);
  }

  get ended(): EndReason | undefined {
    return this.#ended;
  }

  /** When it was ended, while its answer is still to come; otherwise `Infinity`. */
  get endedAt(): number {
    return this.#isAnswered ? Infinity : this.#endedAt;
  }

  get isRunning(): boolean {
    return !this.#isAnswered;
  }

  /** Ends the work on it, at `now`. Does nothing when it has its answer, or was ended before. */
  end(reason: EndReason, now: number): void {
    if (this.#isAnswered || this.#ended !== undefined) return;
    this.#ended = reason;
    this.#endedAt = now;
    this.#signal.abort();
  }

  /** Its answer is there. */
  settle(): void {
    this.#isAnswered = true;
  }

  notify(): void {}
}
