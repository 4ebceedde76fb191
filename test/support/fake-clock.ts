interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until it is told to move. Fits every clock port of the package. */
export class FakeClock {
  #now: number;
  #timers: Timer[] = [];
  #order = 0;

  constructor(startMs = 1_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), order: (this.#order += 1), run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Milliseconds until the timer that is due first; `Infinity` when none waits. */
  get dueInMs(): number {
    return Math.min(...this.#timers.map(({ at }) => at)) - this.#now;
  }

  /** Moves time without letting any promise settle in between: for what is synchronous. */
  step(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }

  /** Moves time, running what falls due in order, and lets promises settle after each step. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#now = next.at;
      next.run();
      await settle();
    }
    this.#now = end;
  }

  /** Takes the timer that is due first, by `end` at the latest. */
  #next(end: number): Timer | undefined {
    const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at || a.order - b.order);
    this.#timers = this.#timers.filter((timer) => timer !== next);
    return next;
  }
}

/** Lets all promise reactions that are ready run, a few generations deep. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
