interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * A clock that stands still until it is told to move. It fits every clock port of the package, wall and monotonic alike, so
 * that a test of hours takes milliseconds and never waits.
 *
 * It knows nothing of sockets: what a test does over a real connection is awaited as such.
 */
export class StepClock {
  #now: number;
  #timers: Timer[] = [];
  #order = 0;

  /** `startMs`: what the clock says first. */
  constructor(startMs = 1_000_000) {
    this.#now = startMs;
  }

  /** Milliseconds since whatever the test takes for the beginning. */
  now(): number {
    return this.#now;
  }

  /** Runs `run` once when the clock was moved by `delayMs`; the returned function cancels it and may be called at any time. */
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

  /**
   * Moves time, running what falls due in order of its time and then of its scheduling, and lets promises settle before the
   * first and after each. `advance(0)` only lets them settle and runs what is due already.
   */
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
