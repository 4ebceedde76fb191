/**
 * Time as a port: the wall, since rows and hold streaks outlive the process, and one-shot timers.
 *
 * The wall can jump. Nothing here waits on a difference of two readings without a bound of its own.
 */
export interface WallClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `run` once after `delayMs`; the returned function cancels it and may be called at any time. */
  schedule(delayMs: number, run: () => void): () => void;
}

export const systemWallClock: WallClock = {
  now: () => Date.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
