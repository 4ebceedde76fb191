import type { RemoteConnectorError } from "../errors.js";
import type { LegacyClient } from "../legacy-client/index.js";
import {
  checkListenOptions,
  type ListenOptions,
  resolveBufferLimits,
  type Subscription,
  type SubscriptionEnd,
  type SubscriptionFilter,
} from "../modern-client/subscriptions/index.js";
import { durationOption } from "../options.js";
import { isJsonObject, type JsonObject } from "../protocol/index.js";
import { LegacySubscription, type LegacySubject } from "./legacy-subscription.js";
import type { NotificationFan } from "./notification-fan.js";
import { WantedResources } from "./wanted-resources.js";

/** The subscriptions of one legacy session: filters over what it brings, and who wants to hear of which resource. */
export class LegacySubscriptions {
  readonly #client: LegacyClient;
  readonly #fan: NotificationFan;
  readonly #open = new Set<LegacySubscription>();
  readonly #wanted: WantedResources;
  /** How the session ended: from then on subscriptions are over when they begin. */
  #end: SubscriptionEnd | undefined;

  constructor(client: LegacyClient, fan: NotificationFan) {
    this.#client = client;
    this.#fan = fan;
    this.#wanted = new WantedResources(client);
  }

  /**
   * What has no meaning here: `capabilities`, which the handshake declared, `logLevel`, and `idleTimeoutMs`, since the stream
   * is the session's. The others are those of asking for resources. Throws `invalid_options` or `invalid_argument` (both
   * `not_sent`).
   */
  open(filter: SubscriptionFilter, options: ListenOptions): Subscription {
    checkListenOptions(filter, options);
    const { connectTimeoutMs, meta, admit, signal } = options;
    const totalTimeoutMs = durationOption("acknowledgeTimeoutMs", options.acknowledgeTimeoutMs, 60_000);
    durationOption("idleTimeoutMs", options.idleTimeoutMs, Infinity);
    durationOption("connectTimeoutMs", connectTimeoutMs, Infinity);
    const subscription = new LegacySubscription(resolveBufferLimits(options), {
      listen: (listener) => this.#fan.add(listener),
      isWanted: (uri) => this.#wanted.has(uri),
      forget: (one) => void this.#open.delete(one),
    });
    if (this.#end !== undefined) {
      subscription.end(this.#end, "not_sent");
      return subscription;
    }
    this.#open.add(subscription);
    const asking = { connectTimeoutMs, idleTimeoutMs: totalTimeoutMs, totalTimeoutMs, meta, admit };
    subscription.start(signal, () => this.#ask(filter, asking));
    return subscription;
  }

  /** The session is lost: the server needs no word about what was wanted of it. */
  breakAll(error: RemoteConnectorError): void {
    this.#end ??= { kind: "broken", error };
    this.#wanted.clear();
    for (const subscription of this.#open) subscription.end({ kind: "broken", error });
  }

  closeAll(reason: RemoteConnectorError): void {
    this.#end ??= { kind: "cancelled", reason };
    for (const subscription of this.#open) subscription.end({ kind: "cancelled", reason });
  }

  /** What of a filter the session serves. Asks for the resources. */
  #ask(filter: SubscriptionFilter, options: Parameters<WantedResources["claim"]>[1]): LegacySubject {
    const { capabilities } = this.#client;
    const isServed = declares(capabilities, "resources", "subscribe");
    const uris = isServed ? (filter.resourceSubscriptions ?? []) : [];
    const claims = Array.from(new Set(uris), (uri) => this.#wanted.claim(uri, options));
    return { asked: filter, flags: declaredFlags(filter, capabilities), claims };
  }
}

const FLAGS = [
  ["toolsListChanged", "tools"],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resources"],
] as const;

/** The flags of the filter whose changes the server declares to tell of. */
function declaredFlags(filter: SubscriptionFilter, capabilities: JsonObject): SubscriptionFilter {
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
