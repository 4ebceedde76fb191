import { setMaxListeners } from "node:events";
import { type Dispatcher, Pool } from "undici";
import type { Exchange, ExchangeCapability, ExchangeHandler, ExchangeRequest, ResponseHeaders } from "./exchange.js";

/** An idle connection is dropped before typical servers drop it (5 s), so that few requests race with their FIN. */
const IDLE_CONNECTION_MS = 4_000;
/** How much earlier than the server's own `Keep-Alive` says. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

const CAPABILITIES: ReadonlySet<ExchangeCapability> = new Set(["admitsSynchronously", "connectDeadline", "tls"]);

/**
 * When an attempt to connect that nobody waits for any more gives up its socket. Calls have their own deadlines, and
 * longer ones than this are cut.
 */
const CONNECT_ATTEMPT_MS = 120_000;

export interface UndiciExchangeOptions {
  readonly origin: string;
  /** Connections at once. Further requests wait for one. */
  readonly maxConnections: number;
}

/**
 * The exchange over undici's own pool and dispatch handlers.
 *
 * The library's own timers for headers and bodies are off: deadlines are kept in one place, and it is not here.
 */
export function createUndiciExchange(options: UndiciExchangeOptions): Exchange {
  const { origin, maxConnections } = options;
  // The pool does not end sockets that are still connecting; their own signal does.
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const pool = new Pool(origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
    pipelining: 1,
    connections: Number.isFinite(maxConnections) ? maxConnections : null,
    connect: { timeout: CONNECT_ATTEMPT_MS, signal: ending.signal },
  });
  return {
    origin,
    capabilities: CAPABILITIES,
    dispatch(request: ExchangeRequest, handler: ExchangeHandler): void {
      pool.dispatch(request, new UndiciHandler(handler));
    },
    async destroy() {
      const destroyed = pool.destroy();
      ending.abort();
      await destroyed;
    },
  };
}

/**
 * Hands undici's events on. It exists for what undici leaves open: informational answers come as response starts, and a
 * request must never be written twice.
 */
class UndiciHandler implements Dispatcher.DispatchHandler {
  readonly #handler: ExchangeHandler;
  #started = false;

  constructor(handler: ExchangeHandler) {
    this.#handler = handler;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#started) {
      controller.abort(new Error("The request would have been written a second time."));
      return;
    }
    this.#started = true;
    this.#handler.onRequestStart(controller);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status >= 200) this.#handler.onResponseStart(controller, status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#handler.onResponseData(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#handler.onResponseEnd(controller);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#handler.onResponseError(controller, error);
  }
}
