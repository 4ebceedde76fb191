import type { StreamEvent } from "../../protocol/index.js";
import { encodeEventId, type StreamEnd } from "./plan-resume.js";

/** Where a stream stands: what counts when it is to be taken up again. */
export class StreamPlace {
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #fruitless = 0;
  #isFruitful = false;

  /** The value of `Last-Event-ID`; `undefined` when there is no place to go on from. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** The pause that the server asked for last. */
  set retryMs(retryMs: number) {
    this.#retryMs = retryMs;
  }

  /** An event came; one with empty data moves the place, too. Of a cut one no id can be trusted. */
  moveTo({ id, unterminated }: StreamEvent): void {
    if (id !== undefined && !unterminated) this.#lastEventId = encodeEventId(id);
  }

  /** It brought a message. */
  bearFruit(): void {
    this.#isFruitful = true;
  }

  /** An attempt to take it up again begins. */
  beginAttempt(): void {
    this.#isFruitful = false;
  }

  /** That attempt is over. */
  endAttempt(): void {
    this.#fruitless = this.#isFruitful ? 0 : this.#fruitless + 1;
  }

  /** What is known now that it ended. */
  end(refusedWith?: number): StreamEnd {
    return { lastEventId: this.#lastEventId, retryMs: this.#retryMs, fruitless: this.#fruitless, refusedWith };
  }
}
