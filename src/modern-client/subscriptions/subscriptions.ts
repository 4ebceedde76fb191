import { closedError } from "../../transport/index.js";
import type { RequestStarter } from "../request-starter.js";
import { type KeptSubscription, ReopeningSubscription } from "./kept-subscription.js";
import type { ListenContext } from "./listen-exchange.js";
import {
  type KeepListeningOptions,
  type ListenOptions,
  resolveKeepListeningOptions,
  resolveListenOptions,
} from "./listen-options.js";
import { OpenSubscription, type Subscription } from "./subscription.js";
import type { SubscriptionFilter } from "./subscription-filter.js";

/** The subscriptions of one client. They take no turns of calls. */
export class Subscriptions {
  readonly #requests: RequestStarter;
  readonly #open = new Set<OpenSubscription | ReopeningSubscription>();

  constructor(requests: RequestStarter) {
    this.#requests = requests;
  }

  /** Throws `invalid_options` or `invalid_argument` (both `not_sent`). */
  listen(filter: SubscriptionFilter, options: ListenOptions): Subscription {
    const plan = resolveListenOptions(this.#requests.config, filter, options);
    return this.#start(new OpenSubscription(this.#context(), plan, this.#forget));
  }

  /** Throws `invalid_options` or `invalid_argument` (both `not_sent`). */
  keepListening(filter: SubscriptionFilter, options: KeepListeningOptions): KeptSubscription {
    const plan = resolveKeepListeningOptions(this.#requests.config, filter, options);
    return this.#start(new ReopeningSubscription(this.#context(), plan, this.#forget));
  }

  /** Ends all of them as `cancelled`, the newest first. Idempotent. */
  close(): void {
    for (const subscription of [...this.#open].toReversed()) subscription.end(closedError());
  }

  #start<S extends OpenSubscription | ReopeningSubscription>(subscription: S): S {
    this.#open.add(subscription);
    subscription.start();
    return subscription;
  }

  #context(): ListenContext {
    const { config, channel, news } = this.#requests;
    return { config, channel, news, nextId: () => this.#requests.nextId() };
  }

  readonly #forget = (subscription: OpenSubscription | ReopeningSubscription): void => {
    this.#open.delete(subscription);
  };
}
