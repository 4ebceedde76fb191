import type { OurTime } from "../protocol/input/index.js";
import type { Lifetime } from "../transport/index.js";

/** What tells the times of one wait apart. */
export interface TimeKeeper {
  now(): number;
  /** Takes so many milliseconds out of the reckoning. */
  excuse(ms: number): void;
  /** Opens the deadline with what is left of it. */
  watch(): Lifetime;
}

/** The time of one wait for a person, which counts against nothing, and ours in between. */
export class PersonTime {
  readonly #keeper: TimeKeeper;
  /** Since when only the person is waited for; `undefined` while we are at work. */
  #since: number | undefined;
  /** Works of ours under way. */
  #works = 0;
  #deadline: Lifetime | undefined;
  #isOver = false;

  constructor(keeper: TimeKeeper) {
    this.#keeper = keeper;
    this.#since = keeper.now();
  }

  /** What is done in there counts, and the deadline runs meanwhile. */
  readonly ours: OurTime = async (work) => {
    this.#begin();
    try {
      return await work();
    } finally {
      this.#end();
    }
  };

  /** The wait is over. */
  stop(): void {
    this.#excuse();
    this.#isOver = true;
    this.#deadline?.close();
  }

  #begin(): void {
    this.#works += 1;
    if (this.#works > 1 || this.#isOver) return;
    this.#excuse();
    this.#deadline = this.#keeper.watch();
  }

  #end(): void {
    this.#works -= 1;
    if (this.#works > 0 || this.#isOver) return;
    this.#deadline?.close();
    this.#since = this.#keeper.now();
  }

  #excuse(): void {
    if (this.#since !== undefined) this.#keeper.excuse(this.#keeper.now() - this.#since);
    this.#since = undefined;
  }
}
