import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import type { ExchangeRequest, ResponseHeaders } from "./exchange.js";

/** The hold on a request, as undici's dispatchers give it. */
export interface FlowControl {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Who is told of one request. The shapes are those of undici's dispatch handlers. */
export interface DispatchEvents {
  onRequestStart(control: FlowControl): void;
  onResponseStart(control: FlowControl, status: number, headers: ResponseHeaders): void;
  onResponseData(control: FlowControl, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(control: FlowControl, error: Error, notSent?: boolean): void;
}

/** The connection of a request, as far as it matters to it. */
export interface Http2Carrier {
  readonly session: ClientHttp2Session;
  /** The last stream that the peer acted on, once it has said so. */
  readonly lastStreamId: number | undefined;
  /** The stream is closed: there is room for another. */
  onClosed(request: Http2Request): void;
  /** The stream was given up before any answer: the connection may be dead. */
  onGivenUp(): void;
}

// RFC 9113, Error Codes.
const REFUSED_STREAM = 7;
const CANCEL = 8;

/** The peer has said that it did not act on the request. */
class NotProcessedError extends Error {
  readonly code = "ERR_STREAM_REFUSED";

  constructor() {
    super("The server refused the stream before it was processed.");
  }
}

/** The answer ended before it was whole, without a word why. */
class StreamCutError extends Error {
  readonly code = "ERR_STREAM_CUT";

  constructor() {
    super("The stream was closed before the answer was complete.");
  }
}

/** One request and its answer on a stream of its own. Nothing of it ends the connection. */
export class Http2Request implements FlowControl {
  readonly request: ExchangeRequest;
  readonly events: DispatchEvents;
  #stream: ClientHttp2Stream | undefined;
  #carrier: Http2Carrier | undefined;
  #error: Error | undefined;
  #hasHead = false;
  #hasEnd = false;
  /** What the head said that the body has, less what came of it. */
  #missing: number | undefined;
  #isOver = false;

  constructor(request: ExchangeRequest, events: DispatchEvents) {
    this.request = request;
    this.events = events;
  }

  /** Takes a stream. The events' own check comes first: what it refuses is not written. Whether there is a stream now. */
  start(carrier: Http2Carrier): boolean {
    this.#carrier = carrier;
    this.events.onRequestStart(this);
    if (this.#isOver) return false;
    const { body } = this.request;
    let stream: ClientHttp2Stream;
    try {
      stream = carrier.session.request(headersOf(this.request), { endStream: body === null });
    } catch {
      this.#fail(new NotProcessedError(), true);
      return false;
    }
    this.#stream = stream;
    stream.on("response", this.#onResponse);
    stream.on("data", this.#onData);
    stream.on("end", () => (this.#hasEnd = true));
    stream.on("error", (error) => (this.#error = error));
    stream.on("close", this.#onClose);
    if (body !== null) stream.end(body);
    return true;
  }

  /** It never got a stream, because no connection could be made. */
  fail(error: Error): void {
    this.#fail(error, true);
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream?.close(CANCEL);
    if (this.#stream !== undefined && !this.#hasHead) this.#carrier?.onGivenUp();
    queueMicrotask(() => this.events.onResponseError(this, reason));
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  readonly #onResponse = (headers: IncomingHttpHeaders & { ":status"?: number }): void => {
    if (this.#isOver) return;
    this.#hasHead = true;
    const { ":status": status = 0, ...rest } = headers;
    const length = rest["content-length"];
    if (length !== undefined) this.#missing = Number(length);
    this.events.onResponseStart(this, status, rest);
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return;
    if (this.#missing !== undefined) this.#missing -= chunk.length;
    this.events.onResponseData(this, chunk);
  };

  readonly #onClose = (): void => {
    this.#carrier?.onClosed(this);
    if (this.#isOver) return;
    const isWhole = this.#hasHead && this.#hasEnd && (this.#missing ?? 0) === 0;
    if (isWhole && this.#stream?.rstCode === 0 && this.#error === undefined) {
      this.#isOver = true;
      this.events.onResponseEnd();
    } else if (this.#isNotProcessed()) {
      this.#fail(new NotProcessedError(), true);
    } else {
      this.#fail(this.#error ?? new StreamCutError(), false);
    }
  };

  /** RFC 9113, Request Reliability: a refused stream, and those above the last that GOAWAY names, were not acted on. */
  #isNotProcessed(): boolean {
    if (this.#hasHead) return false;
    const { id, rstCode } = this.#stream ?? {};
    const last = this.#carrier?.lastStreamId;
    return rstCode === REFUSED_STREAM || id === undefined || (last !== undefined && id > last);
  }

  #fail(error: Error, notSent: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.events.onResponseError(this, error, notSent);
  }
}

function headersOf({ method, path, headers, body }: ExchangeRequest): OutgoingHttpHeaders {
  const list: OutgoingHttpHeaders = { ":method": method, ":path": path };
  for (let i = 0; i + 1 < headers.length; i += 2) list[(headers[i] ?? "").toLowerCase()] = headers[i + 1];
  if (body !== null) list["content-length"] = Buffer.byteLength(body);
  return list;
}
