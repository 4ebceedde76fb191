import type { Clock } from "./ports.js";

/** Far times are reached in steps: a machine that slept, or whose clock was set, must not sleep through them. */
const LONGEST_STEP_MS = 60 * 60_000;

/** Wakes by name. One alarm per name: setting it again moves it. */
export class Alarms {
  readonly #clock: Clock;
  readonly #pending = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Calls `ring` once at about `at` (epoch milliseconds), or early when that is far away: whoever is woken looks at the time
   * again.
   */
  set(id: string, at: number, ring: () => void): void {
    this.cancel(id);
    const delayMs = Math.min(Math.max(0, at - this.#clock.now()), LONGEST_STEP_MS);
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#pending.delete(id);
      ring();
    });
    this.#pending.set(id, cancel);
  }

  cancel(id: string): void {
    this.#pending.get(id)?.();
    this.#pending.delete(id);
  }

  cancelAll(): void {
    for (const cancel of this.#pending.values()) cancel();
    this.#pending.clear();
  }
}
