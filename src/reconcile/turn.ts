import type { Clock } from "./ports.js";

/** For how long work may keep everything else of the process waiting. */
const LONGEST_TURN_MS = 10;

/**
 * One's turn of the event loop. Work whose every wait ends without a timer or a socket, such as many transactions one after
 * the other, would otherwise keep all of these waiting until it is done.
 */
export class Turn {
  readonly #clock: Clock;
  #begunAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begunAt = clock.now();
  }

  /** Lets everyone else have their turn if this one was long. Ends early with the signal. */
  async yield(signal: AbortSignal): Promise<void> {
    const heldMs = this.#clock.now() - this.#begunAt;
    // A clock that was set back tells nothing.
    if (signal.aborted || (heldMs >= 0 && heldMs < LONGEST_TURN_MS)) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.schedule(0, go);
      signal.addEventListener("abort", go);
      function go(): void {
        cancel();
        signal.removeEventListener("abort", go);
        resolve();
      }
    });
    this.#begunAt = this.#clock.now();
  }
}
