import type { Clock } from "../../transport/index.js";

/** Waits for what goes on whether it is waited for or not. Rejects with the signal's reason when that comes first. */
export function waitFor<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) {
    // Nobody is told how it ends: that is for those who go on waiting.
    work.catch(() => undefined);
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Resolves after so many milliseconds. Rejects with the signal's reason. */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let cancel: (() => void) | undefined;
  try {
    await waitFor(new Promise<void>((resolve) => (cancel = clock.schedule(ms, resolve))), signal);
  } finally {
    cancel?.();
  }
}

/** Resolves when the work has ended, or after so many milliseconds. Never rejects. */
export async function withinMs(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  let cancel: (() => void) | undefined;
  const limit = new Promise<void>((resolve) => (cancel = clock.schedule(limitMs, resolve)));
  await Promise.race([work.catch(() => undefined), limit]);
  cancel?.();
}

/** How long to wait before the next attempt: twice as long each time, and half of it by chance. `chance` is one byte. Pure. */
export function backoffMs(attempt: number, firstMs: number, mostMs: number, chance: number): number {
  const whole = Math.min(mostMs, firstMs * 2 ** attempt);
  return Math.round(whole / 2 + (whole / 2) * (chance / 255));
}
