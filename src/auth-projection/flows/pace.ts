import type { WallClock } from "../clock.js";

/** When the next step of something is due. A wait can be cut short to look around, which makes nothing due. */
export class Pace {
  readonly #clock: WallClock;
  /** Until then; and no longer than this, whatever becomes of the wall. */
  #dueAt = 0;
  #delayMs = 0;
  #isNudged = false;
  #wake: () => void = ignore;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  /** The next step is due after so long. */
  later(delayMs: number): void {
    this.#delayMs = delayMs;
    this.#dueAt = this.#clock.now() + delayMs;
  }

  /** The next step is due at once. */
  hurry(): void {
    this.#delayMs = 0;
    this.nudge();
  }

  get isDue(): boolean {
    return this.#leftMs() === 0;
  }

  /** Resolves when the next step is due, or when nudged, or nudged since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isNudged && !this.isDue) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.schedule(this.#leftMs(), () => {
          this.#delayMs = 0;
          resolve();
        });
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#wake = ignore;
    this.#isNudged = false;
  }

  nudge(): void {
    this.#isNudged = true;
    this.#wake();
  }

  #leftMs(): number {
    return Math.max(0, Math.min(this.#delayMs, this.#dueAt - this.#clock.now()));
  }
}

function ignore(): void {}
