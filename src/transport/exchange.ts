/**
 * One HTTP exchange as a port. The shapes are those of undici's dispatcher, so that its implementation adds nothing per
 * request; another implementation adapts to them.
 */

/** What an implementation can do. A configuration that needs more is refused when a client is made. */
export type ExchangeCapability =
  /** `onRequestStart` is called in the very turn in which the first byte is written. Elsewhere it is called some time before. */
  | "admitsSynchronously"
  /** Connecting is told apart from waiting for the answer. */
  | "connectDeadline"
  /** A `Cookie` header is sent as it is given, and `Set-Cookie` of answers is shown. */
  | "cookies"
  /** HTTP/2 can be asked for. */
  | "http2"
  /** Names can be looked up by a function, and addresses refused. */
  | "pinsAddress"
  | "proxy"
  /** Authorities and client certificates can be set. */
  | "tls";

/** A request. Headers are a flat list of names and values. */
export interface ExchangeRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly path: string;
  readonly headers: string[];
  /** Bytes are sent as they are, without a copy: their owner wipes them when the exchange is over. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** Response headers by lower-case name. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The hold on a running exchange. */
export interface ExchangeControl {
  /** Destroys the exchange; its handler is told by `onResponseError`. Nothing is sent when it is called inside `onRequestStart`. */
  abort(reason: Error): void;
  /** Stops reading the answer until `resume`; what was read already may still be told. Both absent where it can't be done. */
  pause?(): void;
  resume?(): void;
}

/**
 * What an exchange tells, in order: start, response start, data, then end or error. Exactly one of the last two comes.
 * An error without a start before it means that nothing was handed to a connection; so does `notSent`, from
 * implementations that must start before they know. Data is without its content coding, if the coding is not named any more.
 * An error of this package is told to the caller as it is.
 */
export interface ExchangeHandler {
  onRequestStart(control: ExchangeControl): void;
  onResponseStart(control: ExchangeControl, status: number, headers: ResponseHeaders): void;
  onResponseData(control: ExchangeControl, chunk: Uint8Array): void;
  onResponseEnd(control: ExchangeControl): void;
  onResponseError(control: ExchangeControl, error: Error, notSent?: boolean): void;
}

/** Exchanges with one origin. */
export interface Exchange {
  readonly origin: string;
  readonly capabilities: ReadonlySet<ExchangeCapability>;
  /** Begins an exchange. Failures are told to the handler, never thrown. */
  dispatch(request: ExchangeRequest, handler: ExchangeHandler): void;
  /** Destroys all connections. What runs ends with an error. Idempotent. */
  destroy(): Promise<void>;
}
