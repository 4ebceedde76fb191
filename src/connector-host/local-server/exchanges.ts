import type { ServerResponse } from "node:http";
import { OpenList } from "../../open-list.js";
import type { RequestId } from "../../protocol/index.js";
import { Exchange, type ExchangeOptions, type ExchangeSession } from "./exchange.js";
import type { Binding } from "./ports.js";
import type { EndReason } from "./request-target.js";

export interface ExchangesOptions extends ExchangeOptions {
  /** Told when an exchange is over. */
  readonly onDone: (exchange: Exchange) => void;
}

const TICK_MS = 1_000;

/** The exchanges that run now. One timer serves them all, and there is none while nothing runs. */
export class Exchanges {
  readonly #options: ExchangesOptions;
  readonly #open = new OpenList<Exchange>();
  #cancelTick: (() => void) | undefined;
  #closed = false;

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Opens an exchange; it is over when its response is written or its connection is gone, or, when its stream can be resumed,
   * with its answer or when nobody came back for it.
   */
  open(binding: Binding, response: ServerResponse): Exchange {
    const exchange = new Exchange(binding, response, this.#options);
    this.#open.add(exchange);
    response.on("close", () => {
      if (!exchange.detach(() => this.#settle(exchange))) this.#settle(exchange);
    });
    this.#schedule();
    return exchange;
  }

  isBusy(binding: Binding): boolean {
    for (let exchange = this.#open.first; exchange !== undefined; exchange = exchange.next) {
      if (exchange.binding === binding) return true;
    }
    return false;
  }

  /** Ends everything that runs under a binding. */
  endOf(binding: Binding, reason: EndReason): void {
    for (const exchange of this.#open.toArray()) if (exchange.binding === binding) exchange.end(reason);
  }

  /** Whether something runs in a session; `requestId`: whether that request does. */
  isRunning(session: ExchangeSession, requestId?: RequestId): boolean {
    for (let exchange = this.#open.first; exchange !== undefined; exchange = exchange.next) {
      if (exchange.session !== session || exchange.isAnswered) continue;
      if (requestId === undefined || exchange.runs(requestId)) return true;
    }
    return false;
  }

  /** Ends everything that runs in a session. */
  endOfSession(session: ExchangeSession): void {
    for (const exchange of this.#open.toArray()) if (exchange.session === session) exchange.end("session_ended");
  }

  /** Ends everything that runs. */
  endAll(reason: EndReason): void {
    for (const exchange of this.#open.toArray()) exchange.end(reason);
  }

  /**
   * Ends the one request of the session, or of the binding outside of sessions, that has this id. Does nothing when there is
   * none, and when there are several: ids are unique per client, and programs that share a bearer must not cancel each
   * other's requests.
   */
  cancel(binding: Binding, session: ExchangeSession | undefined, requestId: RequestId): void {
    const matching = this.#open
      .toArray()
      .filter((each) => each.binding === binding && each.session === session && each.runs(requestId));
    if (matching.length === 1) matching[0]?.cancel(requestId);
  }

  /** Stops the timer for good. */
  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  #settle(exchange: Exchange): void {
    this.#open.delete(exchange);
    this.#options.onDone(exchange);
  }

  #schedule(): void {
    if (this.#closed || this.#cancelTick !== undefined || this.#open.size === 0) return;
    this.#cancelTick = this.#options.clock.schedule(TICK_MS, () => {
      this.#cancelTick = undefined;
      const now = this.#options.clock.now();
      for (const exchange of this.#open.toArray()) exchange.tick(now);
      this.#schedule();
    });
  }
}
