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
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
