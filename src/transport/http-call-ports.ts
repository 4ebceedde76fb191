import type { Delivery, DeliveryEvidence, RemoteConnectorError } from "../errors.js";
import type { StreamEvent } from "../protocol/index.js";
import type { AnswerHead } from "./answer-head.js";
import type { Authorizer } from "./authorize.js";
import type { Exchange } from "./exchange.js";
import type { LifetimeLimits, Lifetimes } from "./lifetime.js";
import type { RequestSlots } from "./request-slots.js";
import type { TransportConfig } from "./transport-options.js";

/** What the calls to one endpoint share. */
export interface HttpCallContext {
  readonly url: URL;
  /** Path and query of the URL. */
  readonly path: string;
  readonly config: TransportConfig;
  readonly authorizer: Authorizer | undefined;
  readonly exchange: Exchange;
  readonly lifetimes: Lifetimes;
  readonly slots: RequestSlots;
  /** Finished streams that are being drained. */
  draining: number;
}

/** One HTTP request to an endpoint. */
export interface HttpCallRequest {
  readonly method: "POST" | "GET" | "DELETE";
  /** The name that the authorizer is told: a JSON-RPC method, or the HTTP method. */
  readonly operation: string;
  /** What it is made for: the same object in all requests of one call of a client. It is what the authorizer is told as their operation. */
  readonly purpose?: object | undefined;
  /** What the authorizer is told. */
  readonly isAwaited?: boolean | undefined;
  /** Checked names and values, in turn. The call may add to them what the authorizer gives. */
  readonly headers: string[];
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Whether a `text/event-stream` is read as one. */
  readonly acceptsStream: boolean;
  /** Whether a success is told by its head, with an empty body, and what follows is drained unread. Default false. */
  readonly discardsBody?: boolean | undefined;
  /** How many redirects in a row are followed, each a 307 or 308 within the origin. Default 3. */
  readonly maxRedirects?: number | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly limits: LifetimeLimits;
  /** The owner's last word before the first byte is written: a reason refuses. Must be synchronous and quick. */
  readonly admit?: (() => string | undefined) | undefined;
}

/** Who is told of the answer. After one of the last four, nothing more comes. */
export interface HttpCallOwner {
  /** The head of the answer, of any status, before what follows it. Not that of a redirect which is followed, nor that of a refusal after which the request is made again. */
  onHead?(head: AnswerHead): void;
  /** The answer was a refusal, and its authorizer is asked whether the request is made again. Until it is, nothing is waited for of the peer. */
  onAsking?(): void;
  /** After {@link onAsking}: it is made again. Of that nothing is known yet. */
  onAgain?(): void;
  /** The pause before a reconnect that the stream asks for, in milliseconds. */
  onRetry?(retryMs: number): void;
  /** An event of a 2xx stream, in order. Call `HttpCall.finish` when it was the last one needed. */
  onEvent(event: StreamEvent): void;
  /**
   * An answer that is no 2xx stream, of any status and media type; redirects only when they are not followed. A failed one's
   * body may be cut at its limit, and is told too when the connection broke, or a deadline passed, on its way: then it is
   * not `whole`.
   */
  onBody(head: AnswerHead, body: Uint8Array, whole: boolean): void;
  /** The stream ended, and `finish` was not called. */
  onStreamEnd(evidence: DeliveryEvidence): void;
  /** `noConnection`: none could be made, so that another attempt may find one. */
  onFailure(error: RemoteConnectorError, noConnection: boolean): void;
  /** The caller's signal fired. */
  onAbort(reason: unknown, delivery: Delivery): void;
}
