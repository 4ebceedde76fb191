import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type JsonObject, MetaKey, type RequestId } from "../../protocol/index.js";
import { notificationLine, refuseParams, resultLine } from "../../serving/index.js";
import { chosenConnector } from "./chosen-connector.js";
import type { Exchange } from "./exchange.js";
import { endError, failedAnswer } from "./failed-answer.js";
import type { Listeners } from "./listeners.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer } from "./request-target.js";
import { ResourceWatches } from "./resource-watches.js";
import { acknowledgedFilter, readSubscriptionFilter } from "./subscription-filter.js";

/** A `subscriptions/listen`. */
export interface ListenRequest {
  readonly id: RequestId;
  readonly params: JsonObject;
}

/**
 * The `subscriptions/listen` streams. Each is acknowledged for the lists that the directory has, and for the resources
 * whose owners take part. Source: 2026-07-28, Subscriptions.
 */
export class Subscriptions {
  readonly #config: LocalServerConfig;
  readonly #listeners: Listeners;
  /** Whose resources are not settled yet, so that they are no listeners yet. */
  readonly #waiting = new Set<Exchange>();

  constructor(config: LocalServerConfig, listeners: Listeners) {
    this.#config = config;
    this.#listeners = listeners;
  }

  /**
   * Acknowledges a subscription and keeps it open. Resolves when the exchange ends, to the result that closes the stream in
   * good order for an agent that is still there. Nothing is sent before the acknowledgement.
   */
  async listen(exchange: Exchange, { id, params }: ListenRequest): Promise<Answer> {
    const { directory, maxSubscriptions, maxResourceSubscriptions, connectorMetaKey } = this.#config;
    const filter = readSubscriptionFilter(params["notifications"], directory);
    if (filter.kind === "invalid") return refusedAnswer(refuseParams(id, filter.reason));
    const { lists, uris } = filter;
    const { binding, signal } = exchange;
    if (this.#countOf(binding) >= maxSubscriptions) return this.#refuse(exchange, id, "maxSubscriptions");
    if (uris.length > maxResourceSubscriptions) return this.#refuse(exchange, id, "maxResourceSubscriptions");
    const send = (method: string, more: JsonObject): void => {
      const line = notificationLine(method, { _meta: { [MetaKey.subscriptionId]: id }, ...more });
      exchange.notify(line, { droppable: false });
    };
    const updates = new Updates((uri) => send("notifications/resources/updated", { uri }));
    const watched = await this.#watch(exchange, uris, updates, chosenConnector(params, connectorMetaKey));
    if (exchange.ended !== undefined) {
      return failedAnswer(this.#config, exchange, { id, era: "modern", error: endError(exchange.ended, "not_sent") });
    }
    send("notifications/subscriptions/acknowledged", { notifications: acknowledgedFilter(lists, watched) });
    updates.release(watched);
    const remove = this.#listeners.add({ binding, lists, notify: send });
    await aborted(signal);
    remove();
    const result = { resultType: "complete", _meta: { [MetaKey.subscriptionId]: id } };
    return { status: 200, body: resultLine(id, Buffer.from(JSON.stringify(result), "utf8")) };
  }

  /** Has resources watched until the exchange ends. Gives those whose owners take part, in the order of `uris`. */
  async #watch(
    exchange: Exchange,
    uris: readonly string[],
    updates: Updates,
    connectorKey: string | undefined,
  ): Promise<readonly string[]> {
    if (uris.length === 0) return [];
    const { clock, directory, maxResourceSubscriptions, subscribeTimeoutMs } = this.#config;
    const limits = { maxResourceSubscriptions, subscribeTimeoutMs };
    const { binding, signal } = exchange;
    const onUpdated = (uri: string): void => updates.tell(uri);
    const watches = new ResourceWatches({ binding, resources: directory.resources, clock, ...limits, onUpdated });
    signal.addEventListener("abort", () => watches.clear(), { once: true });
    this.#waiting.add(exchange);
    const begun = await Promise.allSettled(uris.map((uri) => watches.add(uri, connectorKey)));
    this.#waiting.delete(exchange);
    for (const each of begun) if (each.status === "rejected") this.#report(exchange, each.reason);
    return uris.filter((_uri, index) => begun[index]?.status === "fulfilled");
  }

  /** What is neither an error of this package nor an end of ours is a defect. */
  #report({ ended }: Exchange, error: unknown): void {
    if (ended === undefined && !isRemoteConnectorError(error)) this.#config.onFault(error);
  }

  #countOf(binding: Binding): number {
    let count = this.#listeners.countOf(binding);
    for (const exchange of this.#waiting) if (exchange.binding === binding) count += 1;
    return count;
  }

  #refuse(exchange: Exchange, id: RequestId, option: "maxSubscriptions" | "maxResourceSubscriptions"): Answer {
    const limit = this.#config[option];
    const error = new RemoteConnectorError("limit_exceeded", {
      message: `${REFUSALS[option]} ${String(limit)} (${option}).`,
      details: { option, limit },
    });
    return failedAnswer(this.#config, exchange, { id, era: "modern", error });
  }
}

const REFUSALS = {
  maxSubscriptions: "The subscriptions that this agent may have open are",
  maxResourceSubscriptions: "The resources that one subscription may watch are",
};

/** Tells of updates, but of none before the acknowledgement: one that came earlier is told right after it. */
class Updates {
  readonly #send: (uri: string) => void;
  /** Of what came too early; `undefined` from the acknowledgement on. */
  #early: Set<string> | undefined = new Set();

  constructor(send: (uri: string) => void) {
    this.#send = send;
  }

  tell(uri: string): void {
    if (this.#early === undefined) this.#send(uri);
    else this.#early.add(uri);
  }

  release(watched: readonly string[]): void {
    const early = this.#early;
    this.#early = undefined;
    for (const uri of watched) if (early?.has(uri) === true) this.#send(uri);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
