import { setMaxListeners } from "node:events";
import type { Dispatcher } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import { refuseUnknownOptions } from "../options.js";
import {
  CONNECTION_OPTION_NAMES,
  type ConnectionConfig,
  type ConnectionOptions,
  resolveConnectionOptions,
} from "./connection-options.js";
import { ContentDecoder, type ContentDecoderOwner, contentCodingOf } from "./content-decoder.js";
import type {
  Exchange,
  ExchangeCapability,
  ExchangeControl,
  ExchangeHandler,
  ExchangeRequest,
  ResponseHeaders,
} from "./exchange.js";
import { openUndiciDispatcher } from "./undici-dispatcher.js";

const CAPABILITIES: ReadonlySet<ExchangeCapability> = new Set([
  "admitsSynchronously",
  "connectDeadline",
  "pinsAddress",
  "proxy",
  "tls",
]);

export interface UndiciExchangeOptions extends ConnectionOptions {
  readonly origin: string;
  /** Connections at once. Further requests wait for one. */
  readonly maxConnections: number;
}

const OPTION_NAMES: readonly (keyof UndiciExchangeOptions)[] = [...CONNECTION_OPTION_NAMES, "maxConnections", "origin"];

/** The exchange over undici's own dispatchers. Throws `invalid_options`. */
export function createUndiciExchange(options: UndiciExchangeOptions): Exchange {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { origin, maxConnections } = options;
  return openUndiciExchange(origin, maxConnections, resolveConnectionOptions(options));
}

/** The same, from options that are resolved. Throws `invalid_options` for a proxy that can't be used. */
export function openUndiciExchange(origin: string, maxConnections: number, connection: ConnectionConfig): Exchange {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const dispatcher = openUndiciDispatcher({ origin, maxConnections, connection, signal: ending.signal });
  const isPool = dispatcher instanceof Pool;
  return {
    origin,
    capabilities: CAPABILITIES,
    dispatch(request: ExchangeRequest, handler: ExchangeHandler): void {
      // A pool has its origin; an agent is told.
      dispatcher.dispatch(isPool ? request : { ...request, origin }, new UndiciHandler(handler));
    },
    async destroy() {
      const destroyed = dispatcher.destroy();
      ending.abort();
      await destroyed;
    },
  };
}

/**
 * Hands undici's events on. It exists for what undici leaves open: informational answers come as response starts, bodies
 * come in the coding that the server chose, and a request must never be written twice.
 */
class UndiciHandler implements Dispatcher.DispatchHandler, ExchangeControl, ContentDecoderOwner {
  readonly #handler: ExchangeHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #decoder: ContentDecoder | undefined;
  /** The exchange is over, though what came of it may still be decoded. */
  #isOver = false;

  constructor(handler: ExchangeHandler) {
    this.#handler = handler;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#controller !== undefined) {
      controller.abort(new Error("The request would have been written a second time."));
      return;
    }
    this.#controller = controller;
    this.#handler.onRequestStart(this);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    const coding = contentCodingOf(headers);
    if (coding === undefined) {
      this.#handler.onResponseStart(this, status, headers);
      return;
    }
    this.#decoder = new ContentDecoder(coding, this);
    const decoded = { ...headers, "content-encoding": undefined, "content-length": undefined };
    this.#handler.onResponseStart(this, status, decoded);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#decoder === undefined) this.#handler.onResponseData(this, chunk);
    else if (!this.#decoder.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#isOver = true;
    if (this.#decoder === undefined) this.#handler.onResponseEnd(this);
    else this.#decoder.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#isOver = true;
    const tell = (): void => {
      this.#decoder = undefined;
      this.#handler.onResponseError(this, error);
    };
    // What came before the end is told before it.
    if (this.#decoder === undefined) tell();
    else this.#decoder.cut(tell);
  }

  abort(reason: Error): void {
    const decoder = this.#decoder;
    this.#decoder = undefined;
    decoder?.destroy();
    if (!this.#isOver) this.#controller?.abort(reason);
    else if (decoder !== undefined) queueMicrotask(() => this.#handler.onResponseError(this, reason));
  }

  onDecoded(chunk: Uint8Array): void {
    this.#handler.onResponseData(this, chunk);
  }

  onRoom(): void {
    if (!this.#isOver) this.#controller?.resume();
  }

  onDecodedEnd(): void {
    // The coding ended and the exchange did not: what follows belongs to nobody, and its end would never be told.
    if (!this.#isOver) this.abort(new Error("The answer goes on after the end of its coding."));
    else {
      this.#decoder = undefined;
      this.#handler.onResponseEnd(this);
    }
  }

  onDecodeFailure(error: Error): void {
    this.abort(error);
  }
}
