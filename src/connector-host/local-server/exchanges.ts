import type { ServerResponse } from "node:http";
import type { RequestId } from "../../protocol/index.js";
import { type EndReason, Exchange, type ExchangeOptions } from "./exchange.js";
import type { Binding } from "./ports.js";

export interface ExchangesOptions extends ExchangeOptions {
  /** Told when an exchange is over. */
  readonly onDone: (binding: Binding) => void;
}

const TICK_MS = 1_000;

/** The exchanges that run now. One timer serves them all, and there is none while nothing runs. */
export class Exchanges {
  readonly #options: ExchangesOptions;
  readonly #open = new Set<Exchange>();
  #cancelTick: (() => void) | undefined;
  #closed = false;

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens an exchange; it is over when its response is written or its connection is gone. */
  open(binding: Binding, response: ServerResponse): Exchange {
    const exchange = new Exchange(binding, response, this.#options);
    this.#open.add(exchange);
    response.once("close", () => {
      if (!response.writableFinished) exchange.end("agent_left");
      this.#open.delete(exchange);
      this.#options.onDone(binding);
    });
    this.#schedule();
    return exchange;
  }

  isBusy(binding: Binding): boolean {
    for (const exchange of this.#open) if (exchange.binding === binding) return true;
    return false;
  }

  /** Ends everything that runs under a binding. */
  endOf(binding: Binding, reason: EndReason): void {
    for (const exchange of this.#open) if (exchange.binding === binding) exchange.end(reason);
  }

  /** Ends everything that runs. */
  endAll(reason: EndReason): void {
    for (const exchange of this.#open) exchange.end(reason);
  }

  /**
   * Ends the one request of the binding that has this id. Does nothing when there is none, and when there are several:
   * ids are unique per client, and programs that share a bearer must not cancel each other's requests.
   */
  cancel(binding: Binding, requestId: RequestId): void {
    const matching = [...this.#open].filter((each) => each.binding === binding && each.requestId === requestId);
    if (matching.length === 1) matching[0]?.end("agent_cancelled");
  }

  /** Stops the timer for good. */
  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  #schedule(): void {
    if (this.#closed || this.#cancelTick !== undefined || this.#open.size === 0) return;
    this.#cancelTick = this.#options.clock.schedule(TICK_MS, () => {
      this.#cancelTick = undefined;
      const now = this.#options.clock.now();
      for (const exchange of this.#open) exchange.tick(now);
      this.#schedule();
    });
  }
}
