import { type Delivery, isRemoteConnectorError, recordDelivery } from "../errors.js";

/**
 * A promise that is settled from outside, and whose delivery verdict can be asked for afterwards: the verdict is written
 * down for this very promise before it rejects.
 */
export class Settlement<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T) => void = ignore;
  #reject: (reason: unknown) => void = ignore;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T): void {
    this.#resolve(value);
  }

  /** Rejects with `reason` untouched. An error of this package brings its own verdict along. */
  reject(reason: unknown, delivery: Delivery): void {
    const verdict = isRemoteConnectorError(reason) ? reason.delivery : delivery;
    recordDelivery(this.promise, reason, verdict);
    this.#reject(reason);
  }
}

function ignore(): void {
  // Replaced before anyone can call it.
}
