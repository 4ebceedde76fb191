/** Time as a port: a monotonic reading in milliseconds, and one-shot timers. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  now(): number;
  /** Runs `run` once after `delayMs`; the returned function cancels it and may be called at any time. */
  schedule(delayMs: number, run: () => void): () => void;
}

/** Node's longest timer; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    let timer: NodeJS.Timeout;
    // A longer delay is waited for piece by piece.
    const wait = (leftMs: number): void => {
      if (leftMs <= LONGEST_TIMER_MS) timer = setTimeout(run, leftMs);
      else timer = setTimeout(() => wait(leftMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};
