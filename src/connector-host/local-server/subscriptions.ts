import { RemoteConnectorError } from "../../errors.js";
import { isJsonObject, type JsonObject, MetaKey, type RequestId } from "../../protocol/index.js";
import { notificationLine, refuseParams, resultLine } from "../../serving/index.js";
import type { Answer, Exchange } from "./exchange.js";
import { failedAnswer } from "./failed-answer.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";

/** A `subscriptions/listen`. */
export interface ListenRequest {
  readonly id: RequestId;
  readonly params: JsonObject;
}

interface Subscription {
  readonly id: RequestId;
  readonly exchange: Exchange;
  /** Whether it was acknowledged for changes of the tool list. */
  readonly toolsListChanged: boolean;
}

/**
 * The open `subscriptions/listen` streams. Of what a stream can ask for, changes of the tool list are honoured.
 * Source: 2026-07-28, Subscriptions.
 */
export class Subscriptions {
  readonly #config: LocalServerConfig;
  readonly #open = new Set<Subscription>();

  constructor(config: LocalServerConfig) {
    this.#config = config;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Acknowledges a subscription and keeps it open. Resolves when the exchange ends, to the result that closes the stream in
   * good order for an agent that is still there.
   */
  async listen(exchange: Exchange, { id, params }: ListenRequest): Promise<Answer> {
    const filter = params["notifications"];
    if (!isJsonObject(filter)) return refusedAnswer(refuseParams(id, "params.notifications must be an object"));
    if (this.#countOf(exchange.binding) >= this.#config.maxSubscriptions) return this.#refuseMore(exchange, id);
    const toolsListChanged = filter["toolsListChanged"] === true;
    const subscription: Subscription = { id, exchange, toolsListChanged };
    send(subscription, "notifications/subscriptions/acknowledged", {
      notifications: toolsListChanged ? { toolsListChanged } : {},
    });
    this.#open.add(subscription);
    await aborted(exchange.signal);
    this.#open.delete(subscription);
    const result = { resultType: "complete", _meta: { [MetaKey.subscriptionId]: id } };
    return { status: 200, body: resultLine(id, Buffer.from(JSON.stringify(result), "utf8")) };
  }

  /** Tells those streams, of bindings for which `concerns` holds, that their list of tools changed. */
  notifyToolsChanged(concerns: (binding: Binding) => boolean): void {
    for (const subscription of this.#open) {
      if (!subscription.toolsListChanged || !concerns(subscription.exchange.binding)) continue;
      send(subscription, "notifications/tools/list_changed", {});
    }
  }

  #countOf(binding: Binding): number {
    let count = 0;
    for (const { exchange } of this.#open) if (exchange.binding === binding) count += 1;
    return count;
  }

  #refuseMore(exchange: Exchange, id: RequestId): Answer {
    const limit = this.#config.maxSubscriptions;
    const error = new RemoteConnectorError("limit_exceeded", {
      message: `This agent has ${String(limit)} subscriptions open; end one, or raise maxSubscriptions.`,
      details: { option: "maxSubscriptions", limit },
    });
    return failedAnswer(this.#config, exchange, { id, error });
  }
}

function send({ id, exchange }: Subscription, method: string, params: JsonObject): void {
  const meta = { [MetaKey.subscriptionId]: id };
  exchange.notify(notificationLine(method, { _meta: meta, ...params }), { droppable: false });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
