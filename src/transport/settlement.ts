import { type Delivery, isRemoteConnectorError, recordDelivery } from "../errors.js";

/**
 * A promise that is settled from outside, and whose delivery verdict can be asked for afterwards: the verdict is written
 * down for this very promise before it rejects. Only the first settling counts.
 */
export class Settlement<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T) => void = unset;
  #reject: (reason: unknown) => void = unset;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T): void {
    this.#resolve(value);
  }

  /** Rejects with an error that was made for this promise and says itself what is known of delivery. */
  fail(error: unknown): void {
    this.abort(error, isRemoteConnectorError(error) ? error.delivery : "unknown");
  }

  /** Rejects with a reason that is somebody else's, untouched. It may be an error of this package: its verdict is not this one. */
  abort(reason: unknown, delivery: Delivery): void {
    recordDelivery(this.promise, reason, delivery);
    this.#reject(reason);
  }
}

function unset(): void {
  // Replaced by the promise's executor before anyone can call it.
}
