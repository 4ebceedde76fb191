import { type Delivery, RemoteConnectorError } from "../../errors.js";
import { invalidAnswer, type Notification } from "../../protocol/index.js";
import { Settlement } from "../../transport/index.js";
import { ItemBuffer } from "./item-buffer.js";
import { type ListenContext, ListenExchange, type ListenOwner } from "./listen-exchange.js";
import type { ListenPlan } from "./listen-options.js";
import type { SubscriptionEnd } from "./subscription-end.js";
import type { SubscriptionFilter } from "./subscription-filter.js";

/**
 * One subscription. Its notifications are iterated over, by one consumer, in the order in which they came; leaving the
 * iteration closes it. The iteration throws the error of a subscription that was refused or broke, after what came before.
 *
 * Source: 2026-07-28, Subscriptions.
 */
export interface Subscription extends AsyncIterable<Notification, undefined> {
  /**
   * The filter as the server acknowledged it: only this is claimed. Rejects when the subscription ends before, with the error
   * of its end or the signal's own reason; `deliveryOf` knows the verdict. Need not be awaited.
   */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /** How it ended. Never rejects. */
  readonly closed: Promise<SubscriptionEnd>;
  /** Ends it as `cancelled`, by closing its stream. What came before can still be taken. Idempotent. */
  close(): void;
}

/** The promise of an acknowledgement, of which nobody has to hear. */
export class Acknowledgement {
  readonly #settlement = new Settlement<SubscriptionFilter>();

  constructor() {
    this.promise.catch(() => undefined);
  }

  get promise(): Promise<SubscriptionFilter> {
    return this.#settlement.promise;
  }

  acknowledge(filter: SubscriptionFilter): void {
    this.#settlement.resolve(filter);
  }

  /** Nothing happens when it was acknowledged. */
  end(end: SubscriptionEnd, delivery: Delivery): void {
    switch (end.kind) {
      case "refused":
      case "broken":
        this.#settlement.fail(end.error);
        return;
      case "cancelled":
        this.#settlement.abort(end.reason, delivery);
        return;
      case "completed":
      case "ended_by_server":
        this.#settlement.fail(invalidAnswer("a subscription that ended before it was acknowledged"));
    }
  }
}

/** The handle around one exchange. */
export class OpenSubscription implements Subscription, ListenOwner {
  readonly #acknowledgement = new Acknowledgement();
  readonly #exchange: ListenExchange;
  readonly #buffer: ItemBuffer<Notification>;
  readonly #forget: (subscription: OpenSubscription) => void;
  readonly closed: Promise<SubscriptionEnd>;
  #resolveClosed: (end: SubscriptionEnd) => void = () => undefined;

  constructor(context: ListenContext, plan: ListenPlan, forget: (subscription: OpenSubscription) => void) {
    this.#forget = forget;
    this.#buffer = new ItemBuffer(plan, () => this.close());
    this.#exchange = new ListenExchange(context, plan, this);
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get acknowledged(): Promise<SubscriptionFilter> {
    return this.#acknowledgement.promise;
  }

  start(): void {
    this.#exchange.start();
  }

  close(): void {
    this.end(subscriptionClosed());
  }

  end(reason: unknown): void {
    this.#exchange.cancel(reason);
  }

  onAcknowledged(filter: SubscriptionFilter): void {
    this.#acknowledgement.acknowledge(filter);
  }

  onNotification(notification: Notification, size: number): RemoteConnectorError | undefined {
    return this.#buffer.push(notification, size);
  }

  onEnd(end: SubscriptionEnd, delivery: Delivery): void {
    this.#forget(this);
    this.#acknowledgement.end(end, delivery);
    this.#buffer.end(end);
    this.#resolveClosed(end);
  }

  [Symbol.asyncIterator](): AsyncIterator<Notification, undefined> {
    return this.#buffer;
  }
}

export function subscriptionClosed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The subscription was closed.",
    details: { reason: "subscription closed" },
  });
}
