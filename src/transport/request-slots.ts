import { RemoteConnectorError } from "../errors.js";

/** Who waits for a slot. */
export interface SlotWaiter {
  /** The slot is yours; give it back with `release()`. Must not throw. */
  onSlot(): void;
}

/**
 * How many requests may be under way at once, and a bounded queue for the rest, first come, first served.
 *
 * Synchronous and without promises: a request that finds a slot free pays a comparison.
 */
export class RequestSlots {
  readonly #maxConcurrent: number;
  readonly #maxQueued: number;
  /** Insertion order is the order of service; leaving the queue early is cheap. */
  readonly #queue = new Set<SlotWaiter>();
  #taken = 0;
  #handingOn = false;

  constructor(limits: { readonly maxConcurrentRequests: number; readonly maxQueuedRequests: number }) {
    this.#maxConcurrent = limits.maxConcurrentRequests;
    this.#maxQueued = limits.maxQueuedRequests;
  }

  /** Calls `onSlot` now or later. Throws `limit_exceeded` (`not_sent`) when the queue is full. */
  take(waiter: SlotWaiter): void {
    if (this.#taken < this.#maxConcurrent) {
      this.#taken += 1;
      waiter.onSlot();
      return;
    }
    if (this.#queue.size >= this.#maxQueued) {
      throw new RemoteConnectorError("limit_exceeded", {
        message: "Too many requests wait for this endpoint; maxQueuedRequests raises the limit.",
        details: { option: "maxQueuedRequests", limit: this.#maxQueued },
      });
    }
    this.#queue.add(waiter);
  }

  /** Leaves the queue. Nothing happens for one who does not wait. */
  leave(waiter: SlotWaiter): void {
    this.#queue.delete(waiter);
  }

  /** Gives a slot back, to the next in the queue if there is one. */
  release(): void {
    this.#taken -= 1;
    // A waiter can be done with its slot at once. However many are, the stack must not grow with them.
    if (this.#handingOn || this.#queue.size === 0) return;
    this.#handingOn = true;
    for (const next of this.#queue) {
      if (this.#taken >= this.#maxConcurrent) break;
      this.#queue.delete(next);
      this.#taken += 1;
      next.onSlot();
    }
    this.#handingOn = false;
  }
}
