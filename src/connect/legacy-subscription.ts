import { type Delivery, RemoteConnectorError } from "../errors.js";
import {
  Acknowledgement,
  type BufferLimits,
  isCovered,
  ItemBuffer,
  type Subscription,
  type SubscriptionEnd,
  type SubscriptionFilter,
} from "../modern-client/subscriptions/index.js";
import { isJsonObject, type Notification } from "../protocol/index.js";
import type { ResourceClaim } from "./wanted-resources.js";

/** What a subscription needs of those of its session. */
export interface LegacySubscriptionPorts {
  /** Adds a listener to the session's notifications. What is returned takes it away. */
  listen(listener: (notification: Notification) => void): () => void;
  /** Whether a subscription of this session wants to hear of this very resource. */
  isWanted(uri: unknown): boolean;
  forget(subscription: LegacySubscription): void;
}

/** What a subscription is about: what was asked for, what of it the server declares to tell of, and the resources. */
export interface LegacySubject {
  readonly asked: SubscriptionFilter;
  readonly flags: SubscriptionFilter;
  readonly claims: readonly ResourceClaim[];
}

/** One subscription to a legacy server: a filter over what its session brings. */
export class LegacySubscription implements Subscription {
  readonly closed: Promise<SubscriptionEnd>;
  readonly #acknowledgement = new Acknowledgement();
  readonly #buffer: ItemBuffer<Notification>;
  readonly #ports: LegacySubscriptionPorts;
  #asked: SubscriptionFilter = {};
  #filter: SubscriptionFilter = {};
  #claims: readonly ResourceClaim[] = [];
  #stopListening: (() => void) | undefined;
  #resolveClosed: (end: SubscriptionEnd) => void = unset;
  #signal: AbortSignal | undefined;
  #ended = false;

  constructor(limits: BufferLimits, ports: LegacySubscriptionPorts) {
    this.#ports = ports;
    this.#buffer = new ItemBuffer(limits, () => this.close());
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get acknowledged(): Promise<SubscriptionFilter> {
    return this.#acknowledgement.promise;
  }

  /** Begins, unless the signal has fired: then the server is asked for nothing. */
  start(signal: AbortSignal | undefined, ask: () => LegacySubject): void {
    if (signal?.aborted === true) {
      this.end({ kind: "cancelled", reason: signal.reason }, "not_sent");
      return;
    }
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
    // Before the server has answered: what it tells of right behind its answer is heard, too.
    this.#stopListening = this.#ports.listen(this.#onNotification);
    void this.#acknowledge(ask());
  }

  close(): void {
    const details = { reason: "subscription closed" };
    this.end({
      kind: "cancelled",
      reason: new RemoteConnectorError("cancelled", { message: "The subscription was closed.", details }),
    });
  }

  end(end: SubscriptionEnd, delivery: Delivery = "unknown"): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#stopListening?.();
    this.#ports.forget(this);
    for (const claim of this.#claims) claim.release();
    this.#acknowledgement.end(end, delivery);
    this.#buffer.end(end);
    this.#resolveClosed(end);
  }

  [Symbol.asyncIterator](): AsyncIterator<Notification, undefined> {
    return this.#buffer;
  }

  async #acknowledge({ asked, flags, claims }: LegacySubject): Promise<void> {
    this.#claims = claims;
    this.#asked = asked;
    this.#filter = withResources(flags, claims);
    const taken = await Promise.all(claims.map(async (claim) => ((await claim.isTaken) ? [claim] : [])));
    if (this.#ended) return;
    this.#filter = claims.length === 0 ? flags : { ...flags, resourceSubscriptions: urisOf(taken.flat()) };
    this.#acknowledgement.acknowledge(this.#filter);
  }

  /** Everything but lists and resources belongs to nobody in particular. */
  #hears({ method, params }: Notification): boolean {
    // That a list changed is true though the server never declared that it would tell.
    if (method.endsWith("/list_changed")) return isCovered(method, this.#asked);
    if (method !== "notifications/resources/updated" || !isCovered(method, this.#filter)) return false;
    const uri = isJsonObject(params) ? params["uri"] : undefined;
    // One that nobody asked for by its name lies below one that somebody did, and the server alone knows which.
    return this.#claims.some((claim) => claim.uri === uri) || !this.#ports.isWanted(uri);
  }

  readonly #onNotification = (notification: Notification): void => {
    if (!this.#hears(notification)) return;
    const error = this.#buffer.push(notification, Buffer.byteLength(JSON.stringify(notification)));
    if (error !== undefined) this.end({ kind: "broken", error });
  };

  readonly #onAbort = (): void => {
    this.end({ kind: "cancelled", reason: this.#signal?.reason });
  };
}

function withResources(flags: SubscriptionFilter, claims: readonly ResourceClaim[]): SubscriptionFilter {
  return claims.length === 0 ? flags : { ...flags, resourceSubscriptions: urisOf(claims) };
}

function urisOf(claims: readonly ResourceClaim[]): readonly string[] {
  return claims.map(({ uri }) => uri);
}

function unset(): void {
  // Replaced by the promise's executor before anyone can call it.
}
