/** Time as a port: one-shot timers. */
export interface TestClock {
  /** Runs `run` once after `delayMs`; the returned function cancels it and may be called at any time. */
  schedule(delayMs: number, run: () => void): () => void;
}

export const systemTestClock: TestClock = {
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
