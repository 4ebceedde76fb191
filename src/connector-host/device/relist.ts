import type { Clock } from "../../transport/index.js";

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;
/** After news, so that a storm of it, or news that each list brings about, is one list a second. */
const NEWS_PAUSE_MS = 1_000;

/** When a server that lives and has no tools is asked again: after pauses that double, and soon when it tells of a change. */
export class Relist {
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  #pauseMs = FIRST_PAUSE_MS;
  #cancel: () => void;
  #isRunning = false;
  #hasNews = false;
  #isOver = false;

  /** `run` asks once, and does not reject. */
  constructor(clock: Clock, run: () => Promise<void>) {
    this.#clock = clock;
    this.#run = run;
    this.#cancel = clock.schedule(this.#pauseMs, this.#go);
  }

  /** Its tools changed. */
  soon(): void {
    if (this.#isOver || this.#hasNews) return;
    this.#hasNews = true;
    if (!this.#isRunning) this.#schedule();
  }

  /** Asks no more. */
  end(): void {
    this.#isOver = true;
    this.#cancel();
  }

  readonly #go = (): void => {
    this.#isRunning = true;
    this.#hasNews = false;
    void this.#run().then(() => {
      this.#isRunning = false;
      if (!this.#isOver) this.#schedule();
    });
  };

  #schedule(): void {
    this.#cancel();
    if (!this.#hasNews) this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#cancel = this.#clock.schedule(this.#hasNews ? NEWS_PAUSE_MS : this.#pauseMs, this.#go);
  }
}
