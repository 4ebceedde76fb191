import type { Clock } from "../../transport/index.js";

/** A signal that fires with another one, or with an error of its own when its time is over, until it is released. */
export class DeadlineSignal {
  readonly #over = new AbortController();
  readonly #outer: AbortSignal;
  readonly #onOuter = (): void => this.#over.abort(this.#outer.reason);
  readonly #cancelTimer: () => void;

  constructor(outer: AbortSignal, clock: Clock, afterMs: number, errorOf: () => Error) {
    this.#outer = outer;
    this.#cancelTimer = clock.schedule(afterMs, () => this.#over.abort(errorOf()));
    if (outer.aborted) this.#onOuter();
    else outer.addEventListener("abort", this.#onOuter);
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Its time is not counted any more. It still fires with the outer one. */
  release(): void {
    this.#cancelTimer();
  }
}
