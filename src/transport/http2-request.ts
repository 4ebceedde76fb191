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
  /** Host and port as a URL has them: with the brackets of IPv6, without the scheme's own port. */
  readonly authority: string;
  /** The last stream that the peer acted on, once it has said so. */
  readonly lastStreamId: number | undefined;
  /** The stream is closed: there is room for another. */
  onClosed(request: Http2Request): void;
  /** The stream was given up before any answer: the connection may be dead. */
  onGivenUp(): void;
  /** The connection has no number left for a stream. */
  onUsedUp(): void;
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
  /** Any head came, an informational one included: whatever the peer says afterwards, it has begun. */
  #isBegun = false;
  #hasHead = false;
  #hasEnd = false;
  /** The connection was lost before the peer had ended the stream. */
  #isCut = false;
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
      stream = carrier.session.request(headersOf(this.request, carrier.authority), { endStream: body === null });
    } catch {
      this.#fail(new NotProcessedError(), true);
      return false;
    }
    this.#stream = stream;
    stream.on("headers", () => (this.#isBegun = true));
    stream.on("response", this.#onResponse);
    stream.on("end", this.#onEnd);
    stream.on("error", (error) => (this.#error = error));
    stream.on("close", this.#onClose);
    if (body !== null) stream.end(body);
    return true;
  }

  /** It never got a stream, because no connection could be made. */
  fail(error: Error): void {
    this.#fail(error, true);
  }

  /** The connection is lost. */
  onCut(): void {
    this.#isCut = this.#stream?.closed !== true;
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream?.close(CANCEL);
    // One that the peer has ended is closed when it is read.
    this.#stream?.resume();
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
    this.#isBegun = true;
    this.#hasHead = true;
    const { ":status": status = 0, "content-length": length } = headers;
    // It is ours alone, and a copy without it costs a microsecond.
    delete headers[":status"];
    if (length !== undefined) this.#missing = Number(length);
    this.events.onResponseStart(this, status, headers);
    // Not before: of what comes in one packet, Node can tell the body first.
    if (!this.#isOver) this.#stream?.on("data", this.#onData);
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return;
    if (this.#missing !== undefined) this.#missing -= chunk.length;
    this.events.onResponseData(this, chunk);
  };

  readonly #onEnd = (): void => {
    this.#hasEnd = true;
    const stream = this.#stream;
    if (this.#isOver || stream === undefined || stream.closed || stream.writableFinished || !this.#isWhole()) return;
    // The peer has answered without reading all of the request, and may never do so. RFC 9113, HTTP Message Framing.
    this.#isOver = true;
    stream.close(CANCEL);
    this.events.onResponseEnd();
  };

  readonly #onClose = (): void => {
    if (this.#stream?.id === undefined) this.#carrier?.onUsedUp();
    this.#carrier?.onClosed(this);
    if (this.#isOver) return;
    const isEnded = this.#stream?.rstCode === 0 && !this.#isCut;
    if (isEnded) this.#readRest();
    if (this.#isOver) return;
    if (isEnded && this.#isWhole()) {
      this.#isOver = true;
      this.events.onResponseEnd();
    } else if (this.#isNotProcessed()) {
      this.#fail(new NotProcessedError(), true);
    } else {
      this.#fail(this.#error ?? new StreamCutError(), false);
    }
  };

  /** The peer had ended the stream when the connection was lost, and not all that came was read. */
  #readRest(): void {
    if (!this.#hasHead || this.#hasEnd) return;
    for (let chunk: unknown = this.#stream?.read(); Buffer.isBuffer(chunk); chunk = this.#stream?.read()) {
      this.#onData(chunk);
    }
    this.#hasEnd = true;
  }

  #isWhole(): boolean {
    return this.#hasHead && this.#hasEnd && (this.#missing ?? 0) === 0;
  }

  /** RFC 9113, Request Reliability: a refused stream, and those above the last that GOAWAY names, were not acted on. */
  #isNotProcessed(): boolean {
    if (this.#isBegun) return false;
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

function headersOf({ method, path, headers, body }: ExchangeRequest, authority: string): OutgoingHttpHeaders {
  // Without a prototype: a header may have any name that is a token.
  const list: OutgoingHttpHeaders = Object.create(null);
  list[":method"] = method;
  list[":authority"] = authority;
  list[":path"] = path;
  for (let i = 0; i + 1 < headers.length; i += 2) list[(headers[i] ?? "").toLowerCase()] = headers[i + 1];
  if (body !== null) list["content-length"] = Buffer.byteLength(body);
  return list;
}
