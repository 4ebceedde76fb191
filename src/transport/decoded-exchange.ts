import { ContentDecoder, type ContentDecoderOwner, contentCodingOf } from "./content-decoder.js";
import type { ExchangeControl, ExchangeHandler, ResponseHeaders } from "./exchange.js";
import type { DispatchEvents, FlowControl } from "./http2-request.js";

/**
 * Hands a dispatcher's events on. It exists for what dispatchers leave open: informational answers come as response starts,
 * bodies come in the coding that the server chose, and a request must never be written twice.
 */
export class DecodedExchange implements DispatchEvents, ExchangeControl, ContentDecoderOwner {
  readonly #handler: ExchangeHandler;
  #controller: FlowControl | undefined;
  #decoder: ContentDecoder | undefined;
  /** The exchange is over, though what came of it may still be decoded. */
  #isOver = false;
  /** The handler has asked for a pause. */
  #isHeld = false;
  /** The decoder has no room. */
  #isFull = false;

  constructor(handler: ExchangeHandler) {
    this.#handler = handler;
  }

  onRequestStart(controller: FlowControl): void {
    if (this.#controller !== undefined) {
      controller.abort(new Error("The request would have been written a second time."));
      return;
    }
    this.#controller = controller;
    this.#handler.onRequestStart(this);
  }

  onResponseStart(_controller: FlowControl, status: number, headers: ResponseHeaders): void {
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

  onResponseData(controller: FlowControl, chunk: Uint8Array): void {
    if (this.#decoder === undefined) this.#handler.onResponseData(this, chunk);
    else if (!this.#decoder.push(chunk)) {
      this.#isFull = true;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.#isOver = true;
    if (this.#decoder === undefined) this.#handler.onResponseEnd(this);
    else this.#decoder.end();
  }

  onResponseError(_controller: FlowControl, error: Error, notSent = false): void {
    this.#isOver = true;
    const tell = (): void => {
      this.#decoder = undefined;
      this.#handler.onResponseError(this, error, notSent);
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

  pause(): void {
    this.#isHeld = true;
    this.#decoder?.pause();
    if (!this.#isOver) this.#controller?.pause();
  }

  resume(): void {
    this.#isHeld = false;
    this.#decoder?.resume();
    this.#readOn();
  }

  onDecoded(chunk: Uint8Array): void {
    this.#handler.onResponseData(this, chunk);
  }

  onRoom(): void {
    this.#isFull = false;
    this.#readOn();
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

  #readOn(): void {
    if (!this.#isOver && !this.#isHeld && !this.#isFull) this.#controller?.resume();
  }
}
