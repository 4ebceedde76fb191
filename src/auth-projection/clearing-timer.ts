import type { WallClock } from "./clock.js";

/** After a clearing that could not be written. */
const RETRY_MS = 5_000;

/** Rings when the next recorded clearing takes effect. One at a time: arming it again moves it. */
export class ClearingTimer {
  readonly #clock: WallClock;
  readonly #clear: () => Promise<number | undefined>;
  #cancel: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** `clear` answers when the next one takes effect, and may reject: it is called again after a while then. */
  constructor(clock: WallClock, clear: () => Promise<number | undefined>) {
    this.#clock = clock;
    this.#clear = clear;
  }

  /** Epoch milliseconds; `undefined`: there is nothing to wait for. */
  arm(at: number | undefined): void {
    this.#cancel();
    if (at === undefined || this.#isClosed) return;
    this.#cancel = this.#clock.schedule(Math.max(0, at - this.#clock.now()), () => {
      this.#running = this.#ring();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Resolves when a clearing that runs has ended. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #ring(): Promise<void> {
    try {
      this.arm(await this.#clear());
    } catch {
      this.arm(this.#clock.now() + RETRY_MS);
    }
  }
}
