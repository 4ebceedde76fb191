import { type Delivery, RemoteConnectorError } from "../errors.js";
import type { LegacyClient } from "../legacy-client/index.js";
import {
  Acknowledgement,
  checkFilter,
  isCovered,
  ItemBuffer,
  type ListenOptions,
  type Subscription,
  type SubscriptionEnd,
  type SubscriptionFilter,
} from "../modern-client/subscriptions/index.js";
import { countOption } from "../options.js";
import { isJsonObject, type JsonObject, type Notification } from "../protocol/index.js";
import type { NotificationFan } from "./notification-fan.js";

/** The subscriptions of one legacy session: filters over what it brings, and who wants to hear of which resource. */
export class LegacySubscriptions {
  readonly #client: LegacyClient;
  readonly #fan: NotificationFan;
  readonly #open = new Set<LegacySubscription>();
  /** How many subscriptions want to hear of a resource. */
  readonly #wanted = new Map<string, number>();

  constructor(client: LegacyClient, fan: NotificationFan) {
    this.#client = client;
    this.#fan = fan;
  }

  /** Throws `invalid_options` or `invalid_argument` (both `not_sent`). */
  open(filter: SubscriptionFilter, options: ListenOptions): Subscription {
    checkFilter(filter);
    const limit = countOption("maxBufferedNotifications", options.maxBufferedNotifications, 1_000);
    const subscription = new LegacySubscription(filter, limit, {
      acknowledge: (signal) => this.#acknowledge(filter, signal),
      listen: (listener) => this.#fan.add(listener),
      release: (uris) => this.#release(uris),
      forget: (one) => void this.#open.delete(one),
    });
    this.#open.add(subscription);
    subscription.start(options.signal);
    return subscription;
  }

  breakAll(error: RemoteConnectorError): void {
    for (const subscription of this.#open) subscription.end({ kind: "broken", error });
  }

  closeAll(): void {
    for (const subscription of this.#open) subscription.close();
  }

  /** What of a filter the session serves. Subscribes to the resources that nobody has subscribed to yet. */
  async #acknowledge(filter: SubscriptionFilter, signal: AbortSignal): Promise<SubscriptionFilter> {
    const acknowledged: Record<string, unknown> = declaredFlags(filter, this.#client.capabilities);
    const uris = filter.resourceSubscriptions ?? [];
    if (uris.length === 0 || !declares(this.#client.capabilities, "resources", "subscribe")) return acknowledged;
    const taken = await Promise.all(uris.map(async (uri) => ((await this.#want(uri, signal)) ? [uri] : [])));
    return { ...acknowledged, resourceSubscriptions: taken.flat() };
  }

  /** Whether the server tells of this resource. What it refuses is not acknowledged. */
  async #want(uri: string, signal: AbortSignal): Promise<boolean> {
    const before = this.#wanted.get(uri) ?? 0;
    this.#wanted.set(uri, before + 1);
    if (before > 0) return true;
    try {
      await this.#client.subscribeResource({ uri }, { signal });
      return true;
    } catch {
      this.#unwant(uri);
      return false;
    }
  }

  #release(uris: readonly string[]): void {
    for (const uri of uris) {
      if (this.#unwant(uri)) this.#client.unsubscribeResource({ uri }).catch(ignore);
    }
  }

  /** Whether nobody wants to hear of it any more. */
  #unwant(uri: string): boolean {
    const left = (this.#wanted.get(uri) ?? 0) - 1;
    if (left > 0) this.#wanted.set(uri, left);
    else this.#wanted.delete(uri);
    return left === 0;
  }
}

interface SubscriptionPorts {
  acknowledge(signal: AbortSignal): Promise<SubscriptionFilter>;
  listen(listener: (notification: Notification) => void): () => void;
  release(uris: readonly string[]): void;
  forget(subscription: LegacySubscription): void;
}

class LegacySubscription implements Subscription {
  readonly closed: Promise<SubscriptionEnd>;
  readonly #acknowledgement = new Acknowledgement();
  readonly #buffer: ItemBuffer<Notification>;
  readonly #ports: SubscriptionPorts;
  readonly #over = new AbortController();
  #filter: SubscriptionFilter | undefined;
  #stopListening: (() => void) | undefined;
  #resolveClosed: (end: SubscriptionEnd) => void = ignore;
  #signal: AbortSignal | undefined;
  #ended = false;

  constructor(_filter: SubscriptionFilter, limit: number, ports: SubscriptionPorts) {
    this.#ports = ports;
    this.#buffer = new ItemBuffer({ maxBufferedNotifications: limit, maxBufferedBytes: Infinity }, () => this.close());
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get acknowledged(): Promise<SubscriptionFilter> {
    return this.#acknowledgement.promise;
  }

  start(signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) {
      this.end({ kind: "cancelled", reason: signal.reason }, "not_sent");
      return;
    }
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
    void this.#ports.acknowledge(this.#over.signal).then((filter) => {
      if (this.#ended) {
        this.#ports.release(filter.resourceSubscriptions ?? []);
        return;
      }
      this.#filter = filter;
      this.#stopListening = this.#ports.listen((notification) => this.#onNotification(notification, filter));
      this.#acknowledgement.acknowledge(filter);
    });
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
    this.#over.abort();
    this.#ports.forget(this);
    // A session that is lost needs no word about what was wanted of it.
    if (end.kind !== "broken") this.#ports.release(this.#filter?.resourceSubscriptions ?? []);
    this.#acknowledgement.end(end, delivery);
    this.#buffer.end(end);
    this.#resolveClosed(end);
  }

  [Symbol.asyncIterator](): AsyncIterator<Notification, undefined> {
    return this.#buffer;
  }

  #onNotification(notification: Notification, filter: SubscriptionFilter): void {
    if (!isChange(notification.method) || !isCovered(notification.method, filter)) return;
    const error = this.#buffer.push(notification, 0);
    if (error !== undefined) this.end({ kind: "broken", error });
  }

  readonly #onAbort = (): void => {
    this.end({ kind: "cancelled", reason: this.#signal?.reason });
  };
}

const FLAGS = [
  ["toolsListChanged", "tools"],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resources"],
] as const;

/** The flags of the filter whose changes the server declares to tell of. */
function declaredFlags(filter: SubscriptionFilter, capabilities: JsonObject): Record<string, unknown> {
  const flags: Record<string, unknown> = {};
  for (const [flag, capability] of FLAGS) {
    if (filter[flag] === true && declares(capabilities, capability, "listChanged")) flags[flag] = true;
  }
  return flags;
}

function declares(capabilities: JsonObject, capability: string, flag: string): boolean {
  const declared = capabilities[capability];
  return isJsonObject(declared) && declared[flag] === true;
}

/** What subscriptions of the modern era tell of. Everything else on the session belongs to nobody in particular. */
function isChange(method: string): boolean {
  return method.endsWith("/list_changed") || method === "notifications/resources/updated";
}

function ignore(): void {
  // There is nobody left to tell.
}
