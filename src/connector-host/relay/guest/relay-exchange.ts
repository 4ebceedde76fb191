import type {
  Exchange,
  ExchangeCapability,
  ExchangeControl,
  ExchangeHandler,
  ExchangeRequest,
  ResponseHeaders,
} from "../../../transport/index.js";
import { classifyRelayAnswer } from "./classify-relay-answer.js";

/**
 * An exchange with the gateway by way of the relay: what the desktop half says of its own request becomes what an exchange
 * tells of it, so that the client above needs to know of no relay.
 */
export class RelayExchange implements Exchange {
  readonly origin: string;
  readonly capabilities: ReadonlySet<ExchangeCapability>;
  readonly #inner: Exchange;

  /** `inner`: exchanges with the relay. */
  constructor(inner: Exchange) {
    this.#inner = inner;
    this.origin = inner.origin;
    // Cookies are between the desktop and the gateway.
    this.capabilities = new Set([...inner.capabilities].filter((capability) => capability !== "cookies"));
  }

  dispatch(request: ExchangeRequest, handler: ExchangeHandler): void {
    this.#inner.dispatch(request, new RelayedAnswer(this.origin, handler));
  }

  destroy(): Promise<void> {
    return this.#inner.destroy();
  }
}

/** One answer. A request without one is told of at the head that says so; what may follow that head is nothing. */
class RelayedAnswer implements ExchangeHandler {
  readonly #origin: string;
  readonly #handler: ExchangeHandler;
  #isTold = false;

  constructor(origin: string, handler: ExchangeHandler) {
    this.#origin = origin;
    this.#handler = handler;
  }

  onRequestStart(control: ExchangeControl): void {
    this.#handler.onRequestStart(control);
  }

  onResponseStart(control: ExchangeControl, status: number, headers: ResponseHeaders): void {
    const answer = classifyRelayAnswer(this.#origin, status, headers);
    if (answer.kind === "answered") {
      this.#handler.onResponseStart(control, status, answer.headers);
      return;
    }
    this.#isTold = true;
    this.#handler.onResponseError(control, answer.error, answer.notSent);
    // Without a body its end is here already, and the connection can be used again.
    if (headers["content-length"] !== "0") control.abort(new Error("Nothing more is wanted of the answer."));
  }

  onResponseData(control: ExchangeControl, chunk: Uint8Array): void {
    if (!this.#isTold) this.#handler.onResponseData(control, chunk);
  }

  onResponseEnd(control: ExchangeControl): void {
    if (!this.#isTold) this.#handler.onResponseEnd(control);
  }

  onResponseError(control: ExchangeControl, error: Error, notSent?: boolean): void {
    if (!this.#isTold) this.#handler.onResponseError(control, error, notSent);
  }
}
