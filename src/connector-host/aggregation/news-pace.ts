interface Spent {
  /** How many times it may be done right away. */
  readonly left: number;
  readonly at: number;
}

/** How long one more time takes to be earned, in milliseconds. */
const EARNED_MS = 10_000;
const REMEMBERED = 1_024;

/**
 * How soon something may be done about a connector once more: a number of times at once, then once in ten seconds. A server whose list is
 * another whenever it is read, or that says so whenever it is asked, would otherwise be read forever.
 */
export class NewsPace {
  readonly #atOnce: number;
  /** By connector key, the one about which something was done longest ago first. */
  readonly #spent = new Map<string, Spent>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** In how many milliseconds from `now` on it may be done. */
  waitMs(connectorKey: string, now: number): number {
    return Math.max(0, (1 - this.#left(connectorKey, now)) * EARNED_MS);
  }

  /** It is done now. */
  spend(connectorKey: string, now: number): void {
    const left = this.#left(connectorKey, now) - 1;
    this.#spent.delete(connectorKey);
    this.#spent.set(connectorKey, { left, at: now });
    for (const oldest of this.#spent.keys()) {
      if (this.#spent.size <= REMEMBERED) break;
      this.#spent.delete(oldest);
    }
  }

  #left(connectorKey: string, now: number): number {
    const spent = this.#spent.get(connectorKey);
    return spent === undefined ? this.#atOnce : Math.min(this.#atOnce, spent.left + (now - spent.at) / EARNED_MS);
  }
}
