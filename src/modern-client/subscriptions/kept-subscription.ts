import type { Delivery, RemoteConnectorError } from "../../errors.js";
import type { Notification } from "../../protocol/index.js";
import type { Lifetime } from "../../transport/index.js";
import { ItemBuffer } from "./item-buffer.js";
import { type ListenContext, ListenExchange, type ListenOwner } from "./listen-exchange.js";
import type { KeepListeningPlan } from "./listen-options.js";
import { planReopen } from "./plan-reopen.js";
import { Acknowledgement, subscriptionClosed } from "./subscription.js";
import type { SubscriptionEnd } from "./subscription-end.js";
import type { SubscriptionFilter } from "./subscription-filter.js";

/** What comes of a subscription that is opened again whenever it ends. */
export type KeptItem =
  | { readonly kind: "notification"; readonly notification: Notification }
  /** There was a gap, and the subscription is open again: whatever it is about may have changed. */
  | { readonly kind: "refresh"; readonly acknowledged: SubscriptionFilter };

/**
 * A subscription that is opened again whenever it ends, with growing pauses. It is iterated over as a single one is, with one
 * `refresh` after every gap; a second gap before the first `refresh` is taken adds none.
 */
export interface KeptSubscription extends AsyncIterable<KeptItem, undefined> {
  /** The first acknowledged filter. Rejects when it ends for good before. Need not be awaited. */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /**
   * How it ended for good: `cancelled`; `refused` or `broken` where trying again is of no use (`-32601`, `-32021`, 401, 403 and their
   * like, a full buffer, a process that is not started again). Never rejects.
   */
  readonly closed: Promise<SubscriptionEnd>;
  /** Ends it as `cancelled`. What came before can still be taken. Idempotent. */
  close(): void;
}

/** Opens one exchange after the other. */
export class ReopeningSubscription implements KeptSubscription, ListenOwner {
  readonly #acknowledgement = new Acknowledgement();
  readonly #context: ListenContext;
  readonly #plan: KeepListeningPlan;
  readonly #buffer: ItemBuffer<KeptItem>;
  readonly #forget: (subscription: ReopeningSubscription) => void;
  readonly closed: Promise<SubscriptionEnd>;
  #resolveClosed: (end: SubscriptionEnd) => void = () => undefined;
  #exchange: ListenExchange | undefined;
  #pause: Lifetime | undefined;
  #wasOpen = false;
  /** When the exchange that is open was acknowledged. */
  #openSince: number | undefined;
  #failures = 0;
  #ended = false;

  constructor(context: ListenContext, plan: KeepListeningPlan, forget: (subscription: ReopeningSubscription) => void) {
    this.#context = context;
    this.#plan = plan;
    this.#forget = forget;
    this.#buffer = new ItemBuffer(plan, () => this.close());
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get acknowledged(): Promise<SubscriptionFilter> {
    return this.#acknowledgement.promise;
  }

  start(): void {
    const exchange = new ListenExchange(this.#context, this.#plan, this);
    this.#exchange = exchange;
    exchange.start();
  }

  close(): void {
    this.end(subscriptionClosed());
  }

  end(reason: unknown): void {
    if (this.#pause === undefined) this.#exchange?.cancel(reason);
    else this.#finish({ kind: "cancelled", reason }, "unknown");
  }

  onAcknowledged(filter: SubscriptionFilter): void {
    this.#openSince = this.#context.config.clock.now();
    this.#acknowledgement.acknowledge(filter);
    if (this.#wasOpen) this.#refresh(filter);
    this.#wasOpen = true;
  }

  onNotification(notification: Notification, size: number): RemoteConnectorError | undefined {
    return this.#buffer.push({ kind: "notification", notification }, size);
  }

  onEnd(end: SubscriptionEnd, delivery: Delivery): void {
    const { clock } = this.#context.config;
    const openMs = this.#openSince === undefined ? undefined : clock.now() - this.#openSince;
    this.#openSince = undefined;
    const plan = planReopen(end, { failures: this.#failures, openMs }, this.#plan.reopen);
    if (plan.kind === "stop" || this.#context.channel.isSpent) {
      this.#finish(end, delivery);
      return;
    }
    this.#failures = plan.failures;
    this.#wait(plan.delayMs, delivery);
    if (this.#ended) return;
    try {
      this.#plan.onPause?.(end, plan.delayMs);
    } catch {
      // It listens, and decides nothing.
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<KeptItem, undefined> {
    return this.#buffer;
  }

  #wait(delayMs: number, delivery: Delivery): void {
    const { signal } = this.#plan;
    const cancelled = (reason: unknown): void => this.#finish({ kind: "cancelled", reason }, delivery);
    if (signal?.aborted === true) {
      cancelled(signal.reason);
      return;
    }
    const onDeadline = (): void => {
      this.#pause = undefined;
      this.start();
    };
    this.#pause = this.#context.channel.lifetimes.open(
      { onDeadline, onAbort: cancelled },
      { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: delayMs, signal },
    );
  }

  #refresh(acknowledged: SubscriptionFilter): void {
    const item = { kind: "refresh", acknowledged } as const;
    if (this.#buffer.last?.kind === "refresh") this.#buffer.replaceLast(item);
    else this.#buffer.add(item);
  }

  #finish(end: SubscriptionEnd, delivery: Delivery): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#pause?.close();
    this.#pause = undefined;
    this.#forget(this);
    this.#acknowledgement.end(end, delivery);
    this.#buffer.end(end);
    this.#resolveClosed(end);
  }
}
