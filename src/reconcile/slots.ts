/** How many runs may hold a slot, and how many may have given theirs up for a while. */
export interface SlotLimits {
  readonly maxWorking: number;
  readonly maxWaiting: number;
}

/**
 * The places at which runs work. A run that waits for long gives its place up and gets one back before it goes on; those
 * who want theirs back go before those who have not begun, in the order in which they asked.
 */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #onFree: () => void;
  /** Runs that hold a slot. */
  #working = 0;
  /** Runs that gave theirs up and have not got one back, those in `#returning` included. */
  #waiting = 0;
  /** Who wants a slot back, first come first served. Not empty only while all slots are held. */
  readonly #returning = new Set<() => void>();

  /** `onFree` is told when a slot becomes free that nobody wants back. */
  constructor(limits: SlotLimits, onFree: () => void) {
    this.#limits = limits;
    this.#onFree = onFree;
  }

  /** How many runs gave their slot up and have none yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a slot for a run that begins. False when there is none. */
  tryTake(): boolean {
    if (this.#working >= this.#limits.maxWorking) return false;
    this.#working += 1;
    return true;
  }

  /** Gives a slot back for good. */
  giveBack(): void {
    for (const granted of this.#returning) {
      this.#returning.delete(granted);
      this.#waiting -= 1;
      granted();
      return;
    }
    this.#working -= 1;
    this.#onFree();
  }

  /** Gives a slot up for a while. False, and nothing changes, when too many have done so. */
  tryYield(): boolean {
    if (this.#waiting >= this.#limits.maxWaiting) return false;
    this.#waiting += 1;
    this.giveBack();
    return true;
  }

  /** Wants a slot back: `granted` is called once, now or later. */
  takeBack(granted: () => void): void {
    if (!this.tryTake()) {
      this.#returning.add(granted);
      return;
    }
    this.#waiting -= 1;
    granted();
  }

  /** A run that had given its slot up will not come back for it. Pass what was given to `takeBack`, if anything was. */
  forgo(granted?: () => void): void {
    if (granted !== undefined) this.#returning.delete(granted);
    this.#waiting -= 1;
  }
}
