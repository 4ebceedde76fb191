/** Chance as a port: a number from 0 up to, but not, 1. */
export type Random = () => number;

/** `baseMs` doubled for each failure after the first, up to `maxMs`. `failures` is 1 or more. */
export function doubled(failures: number, baseMs: number, maxMs: number): number {
  // Doubling a few dozen times is past any limit, and stays a number.
  return Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 32));
}

/** A moment between two durations. */
export function between(lowMs: number, highMs: number, random: Random): number {
  return lowMs + (highMs - lowMs) * random();
}
