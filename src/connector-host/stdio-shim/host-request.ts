import { type Delivery, isRemoteConnectorError } from "../../errors.js";
import { StreamDecoder, type StreamEvent } from "../../protocol/index.js";
import type { ExchangeControl, ExchangeHandler, ResponseHeaders } from "../../transport/index.js";

/** How a request to the host ended. */
export type HostEnd =
  /** With one body. */
  | { readonly kind: "answered"; readonly body: Uint8Array }
  /** With the end of a stream. */
  | { readonly kind: "streamed" }
  /** Without a whole answer. `reason` is the system's code, or the name of a limit. */
  | { readonly kind: "broken"; readonly delivery: Delivery; readonly reason: string };

/** Who is told of an answer, in this order. */
export interface HostRequestSink {
  onHead?(status: number, headers: ResponseHeaders): void;
  onEvent?(event: StreamEvent): void;
  /** Called once, and last; not at all after an abort. */
  onEnd(end: HostEnd): void;
}

export interface HostRequestOptions {
  readonly maxMessageBytes: number;
  readonly isPaused: () => boolean;
  /** The host takes no more connections just now, and has heard nothing of this. Whether it will be asked again. */
  readonly onBusy: () => boolean;
  readonly onDone: () => void;
}

/** The reason of a message that has more than `maxMessageBytes`. */
export const TOO_LONG = "maxMessageBytes";

/** What a connection to a Unix socket fails with while the queue of its listener is full. Source: connect(2). */
export const QUEUE_FULL = "EAGAIN";

/** One HTTP request to the host, and its answer: one body, or a stream of events. */
export class HostRequest implements ExchangeHandler {
  readonly #options: HostRequestOptions;
  readonly #sink: HostRequestSink;
  #control: ExchangeControl | undefined;
  #handedOver = false;
  #stream: StreamDecoder | undefined;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #isOver = false;

  constructor(options: HostRequestOptions, sink: HostRequestSink) {
    this.#options = options;
    this.#sink = sink;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the request; nobody is told anything of it any more. */
  abort(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#control?.abort(new Error("The request is not wanted any more."));
  }

  pause(): void {
    this.#control?.pause?.();
  }

  resume(): void {
    this.#control?.resume?.();
  }

  onRequestStart(control: ExchangeControl): void {
    if (this.#isOver) return control.abort(new Error("The request is not wanted any more."));
    this.#control = control;
    this.#handedOver = true;
  }

  onResponseStart(control: ExchangeControl, status: number, headers: ResponseHeaders): void {
    if (this.#isOver || status < 200) return;
    this.#sink.onHead?.(status, headers);
    if (/^text\/event-stream\b/i.test(String(headers["content-type"] ?? ""))) {
      this.#stream = new StreamDecoder({
        maxEventBytes: this.#options.maxMessageBytes,
        onEvent: (event) => {
          if (!this.#isOver) this.#sink.onEvent?.(event);
        },
      });
    }
    if (this.#options.isPaused()) control.pause?.();
  }

  onResponseData(control: ExchangeControl, chunk: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#take(chunk)) return;
    this.#fail(TOO_LONG);
    control.abort(new Error("The answer is too long."));
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#stream === undefined) this.#end({ kind: "answered", body: Buffer.concat(this.#chunks) });
    else if (this.#take(undefined)) this.#end({ kind: "streamed" });
    else this.#fail(TOO_LONG);
  }

  onResponseError(_control: ExchangeControl, error: Error, notSent?: boolean): void {
    if (this.#isOver) return;
    if (notSent === true) this.#handedOver = false;
    const reason = reasonOf(error);
    if (reason === QUEUE_FULL && !this.#handedOver && this.#options.onBusy()) return;
    this.#fail(reason);
  }

  /** Takes the next bytes, or the end of them; whether they fit. */
  #take(chunk: Uint8Array | undefined): boolean {
    if (this.#stream !== undefined) return decode(this.#stream, chunk);
    if (chunk === undefined) return true;
    this.#length += chunk.byteLength;
    if (this.#length > this.#options.maxMessageBytes) return false;
    this.#chunks.push(chunk);
    return true;
  }

  #fail(reason: string): void {
    this.#end({ kind: "broken", delivery: this.#handedOver ? "unknown" : "not_sent", reason });
  }

  #end(end: HostEnd): void {
    if (this.#isOver) return;
    this.#finish();
    this.#sink.onEnd(end);
  }

  #finish(): void {
    this.#isOver = true;
    this.#chunks.length = 0;
    this.#options.onDone();
  }
}

function decode(stream: StreamDecoder, chunk: Uint8Array | undefined): boolean {
  try {
    if (chunk === undefined) stream.end();
    else stream.push(chunk);
    return true;
  } catch (error) {
    if (isRemoteConnectorError(error, "limit_exceeded")) return false;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "connection_broken";
}
