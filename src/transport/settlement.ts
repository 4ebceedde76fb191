import { type Delivery, isRemoteConnectorError, recordDelivery } from "../errors.js";

/** How a call ended, and what is known of its last request then. */
export type Settled =
  | { readonly outcome: "resolved"; readonly delivery: Delivery }
  | { readonly outcome: "rejected"; readonly delivery: Delivery; readonly reason: unknown };

/** Told of the end of a call, at once and once. Synchronous; what it returns is ignored. */
export type SettledListener = (settled: Settled) => unknown;

/**
 * A promise that is settled from outside, and whose delivery verdict can be asked for afterwards: the verdict is written
 * down for this very promise before it rejects. Only the first settling counts.
 */
export class Settlement<T> {
  readonly promise: Promise<T>;
  #onSettled: SettledListener | undefined;
  #resolve: (value: T) => void = unset;
  #reject: (reason: unknown) => void = unset;

  /** `onSettled` is told once, before anything that waits for the promise; what it throws is nobody's. */
  constructor(onSettled?: SettledListener) {
    this.#onSettled = onSettled;
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T): void {
    this.#resolve(value);
    if (this.#onSettled !== undefined) this.#tell({ outcome: "resolved", delivery: "answered" });
  }

  /** Rejects with an error that was made for this promise and says itself what is known of delivery. */
  fail(error: unknown): void {
    this.abort(error, isRemoteConnectorError(error) ? error.delivery : "unknown");
  }

  /** Rejects with a reason that is somebody else's, untouched. It may be an error of this package: its verdict is not this one. */
  abort(reason: unknown, delivery: Delivery): void {
    recordDelivery(this.promise, reason, delivery);
    this.#reject(reason);
    this.#tell({ outcome: "rejected", delivery, reason });
  }

  #tell(settled: Settled): void {
    const onSettled = this.#onSettled;
    this.#onSettled = undefined;
    try {
      onSettled?.(settled);
    } catch {
      // It listens, and decides nothing.
    }
  }
}

function unset(): void {
  // Replaced by the promise's executor before anyone can call it.
}
