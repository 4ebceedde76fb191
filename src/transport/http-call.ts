import {
  type Delivery,
  type DeliveryEvidence,
  type ErrorCode,
  type ErrorDetails,
  isRemoteConnectorError,
  RemoteConnectorError,
} from "../errors.js";
import { plainText, type StreamEvent } from "../protocol/index.js";
import { type AnswerHead, hintsOf, isSuccess, readAnswerHead } from "./answer-head.js";
import { type AnswerReader, BodyReader, StreamReader } from "./answer-reader.js";
import type { Authorize } from "./authorize.js";
import type { Exchange, ExchangeControl, ExchangeHandler, ResponseHeaders } from "./exchange.js";
import { addHeaders, type HeaderMap } from "./headers.js";
import type { DeadlinePhase, Lifetime, LifetimeLimits, LifetimeOwner, Lifetimes } from "./lifetime.js";
import type { RequestSlots, SlotWaiter } from "./request-slots.js";
import type { TransportConfig } from "./transport-options.js";

/** What the calls to one endpoint share. */
export interface HttpCallContext {
  readonly url: URL;
  /** Path and query of the URL. */
  readonly path: string;
  readonly config: TransportConfig;
  readonly authorize: Authorize | undefined;
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
  /** Checked names and values, in turn. The call appends what the authorizer gives. */
  readonly headers: string[];
  readonly body: string | null;
  /** Whether a `text/event-stream` is read as one. */
  readonly acceptsStream: boolean;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly limits: LifetimeLimits;
  /** The owner's last word before the first byte is written: a reason refuses. Must be synchronous and quick. */
  readonly admit?: (() => string | undefined) | undefined;
}

/** Who is told of the answer. After one of the last four, nothing more comes. */
export interface HttpCallOwner {
  /** An event of a 2xx stream, in order. Call {@link HttpCall.finish} when it was the last one needed. */
  onEvent(event: StreamEvent): void;
  /**
   * An answer that is no 2xx stream, of any status and media type. A failed one's body may be cut at its limit, and is told
   * too when the connection broke, or a deadline passed, on its way: then it is not `whole`.
   */
  onBody(head: AnswerHead, body: Uint8Array, whole: boolean): void;
  /** The stream ended, and `finish` was not called. */
  onStreamEnd(evidence: DeliveryEvidence): void;
  /** `noConnection`: none could be made, so that another attempt may find one. */
  onFailure(error: RemoteConnectorError, noConnection: boolean): void;
  /** The caller's signal fired. */
  onAbort(reason: unknown, delivery: Delivery): void;
}

type State =
  /** Waits for its turn. */
  | "queued"
  | "authorizing"
  /** Waits for a connection; not a byte is written. */
  | "connecting"
  /** Handed to a connection. */
  | "sent"
  /** Reads the answer. */
  | "answer"
  /** The owner has what it needs; what is left of the stream is read so that the connection can be used again. */
  | "draining"
  | "ended";

/** How long and how much the rest of a finished stream may take before its connection is given up. */
const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;
/** How many streams of an endpoint may be drained at once. The connections of further ones are given up right away. */
export const MAX_DRAINING = 8;

/**
 * One HTTP request and its answer: its turn, its authorization, its deadlines, its limits, and the evidence for the
 * delivery verdict. It knows nothing of what the answer means.
 */
export class HttpCall implements ExchangeHandler, LifetimeOwner, SlotWaiter {
  readonly #context: HttpCallContext;
  readonly #request: HttpCallRequest;
  readonly #owner: HttpCallOwner;
  readonly #forget: (call: HttpCall) => void;
  readonly #startedAt: number;
  #state: State = "queued";
  #lifetime: Lifetime | undefined;
  #holdsSlot = false;
  #handedOver = false;
  #control: ExchangeControl | undefined;
  #head: AnswerHead | undefined;
  #reader: AnswerReader | undefined;
  #messages = 0;
  #drained = 0;

  constructor(
    context: HttpCallContext,
    request: HttpCallRequest,
    owner: HttpCallOwner,
    forget: (call: HttpCall) => void,
  ) {
    this.#context = context;
    this.#request = request;
    this.#owner = owner;
    this.#forget = forget;
    this.#startedAt = context.config.clock.now();
  }

  start(): void {
    const { signal } = this.#request.limits;
    if (signal?.aborted === true) {
      this.onAbort(signal.reason);
      return;
    }
    this.#lifetime = this.#context.lifetimes.open(this, this.#request.limits);
    try {
      this.#context.slots.take(this);
    } catch (error) {
      this.#failWithCaught(error);
    }
  }

  /** The owner has its response: what is left of the stream is of no interest. */
  finish(): void {
    if (this.#state !== "answer") return;
    this.#release();
    this.#state = "draining";
    this.#context.draining += 1;
    if (this.#context.draining > MAX_DRAINING) {
      this.#stopDraining();
      return;
    }
    // A stream that ends in this very chunk, as most do, needs no watch.
    queueMicrotask(() => this.#watchDrain());
  }

  /** Ends the call from our side. Nothing happens when it has ended. */
  cancel(error: RemoteConnectorError<"cancelled">): void {
    this.#fail("cancelled", error.message, error.details);
  }

  /** What was seen so far, or until the end. */
  evidence(): DeliveryEvidence {
    return {
      handedOver: this.#handedOver,
      headersSeen: this.#head !== undefined,
      messages: this.#messages,
      elapsedMs: Math.round(this.#context.config.clock.now() - this.#startedAt),
      attempts: this.#request.attempt,
    };
  }

  onSlot(): void {
    this.#holdsSlot = true;
    // Authorizing counts as connecting: nothing else bounds an authorizer that hangs.
    this.#lifetime?.connecting();
    const { authorize, url } = this.#context;
    if (authorize === undefined) {
      this.#dispatch(undefined);
      return;
    }
    this.#state = "authorizing";
    try {
      const { operation, attempt } = this.#request;
      const given = authorize({ url: url.href, method: operation, attempt });
      if (isThenable(given)) {
        given.then(
          (headers) => this.#dispatch(headers),
          (error: unknown) => this.#failToAuthorize(error),
        );
      } else {
        this.#dispatch(given);
      }
    } catch (error) {
      this.#failToAuthorize(error);
    }
  }

  onRequestStart(control: ExchangeControl): void {
    if (this.#state !== "connecting") {
      control.abort(ended());
      return;
    }
    this.#control = control;
    if (!this.#isAdmitted()) return;
    this.#state = "sent";
    this.#handedOver = true;
    this.#lifetime?.established();
  }

  onResponseStart(_control: ExchangeControl, status: number, headers: ResponseHeaders): void {
    if (this.#state !== "sent") return;
    this.#lifetime?.touch();
    this.#head = readAnswerHead(status, headers);
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && String(encoding).toLowerCase() !== "identity") {
      this.#failEncoded(this.#head);
      return;
    }
    const isStream = isSuccess(status) && this.#head.mediaType === "text/event-stream" && this.#request.acceptsStream;
    const { config } = this.#context;
    this.#reader = isStream ? new StreamReader(config, this.#onEvent) : new BodyReader(this.#head, config);
    this.#state = "answer";
  }

  onResponseData(_control: ExchangeControl, chunk: Uint8Array): void {
    if (this.#state === "draining") {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.#stopDraining();
      return;
    }
    if (this.#state !== "answer") return;
    this.#lifetime?.touch();
    try {
      if (this.#reader?.push(chunk) === true) this.#deliverBody(true);
    } catch (error) {
      this.#failWithCaught(error);
    }
  }

  onResponseEnd(): void {
    this.#control = undefined;
    this.#endStream();
    if (this.#state === "draining") {
      this.#end();
    } else if (this.#state === "answer" && this.#reader?.kind === "stream") {
      const evidence = this.evidence();
      this.#end();
      this.#owner.onStreamEnd(evidence);
    } else if (this.#state === "answer") {
      this.#deliverBody(true);
    }
  }

  onResponseError(_control: ExchangeControl, error: Error): void {
    this.#control = undefined;
    this.#endStream();
    if (this.#state === "draining") {
      this.#end();
    } else if (!this.#deliverRefusal()) {
      this.#failToConnect(error);
    }
  }

  onDeadline(phase: DeadlinePhase, limitMs: number): void {
    if (this.#deliverRefusal()) return;
    const option = `${phase}TimeoutMs`;
    const message = `The request passed its ${phase} deadline of ${String(limitMs)} ms (${option}).`;
    this.#fail("timeout", message, { phase, option, limitMs });
  }

  onAbort(reason: unknown): void {
    const delivery = this.#delivery();
    if (this.#end()) this.#owner.onAbort(reason, delivery);
  }

  /** The verdict while no answer is known: it turns on whether the request was handed to a connection. */
  #delivery(): Delivery {
    return this.#handedOver ? "unknown" : "not_sent";
  }

  #isAdmitted(): boolean {
    let refusal: string | undefined;
    try {
      refusal = this.#request.admit?.();
    } catch (error) {
      this.#fail("not_admitted", "The check before sending threw.", { reason: "the check threw" }, error);
      return false;
    }
    if (refusal !== undefined) {
      this.#fail("not_admitted", `The request was not admitted: ${refusal}.`, { reason: refusal });
    }
    // The check is the caller's code, and may have ended the call.
    return this.#state === "connecting";
  }

  #dispatch(authorization: HeaderMap | undefined): void {
    if (this.#state === "ended") return;
    const { method, headers, body } = this.#request;
    const { path, exchange } = this.#context;
    try {
      if (authorization !== undefined) addHeaders(headers, authorization);
      this.#state = "connecting";
      exchange.dispatch({ method, path, headers, body }, this);
    } catch (error) {
      this.#failWithCaught(error);
    }
  }

  readonly #onEvent = (event: StreamEvent): void => {
    if (this.#state !== "answer") return;
    if (event.data !== "") this.#messages += 1;
    this.#owner.onEvent(event);
  };

  #endStream(): void {
    if (this.#state !== "answer" || this.#reader?.kind !== "stream") return;
    try {
      this.#reader.end();
    } catch (error) {
      this.#failWithCaught(error);
    }
  }

  #deliverBody(whole: boolean): void {
    const head = this.#head;
    const reader = this.#reader;
    if (head === undefined || reader?.kind !== "body" || !this.#end()) return;
    this.#owner.onBody(head, reader.body(), whole);
  }

  /** A refusal whose body did not come whole still says its status, and when to try again. Whether it was one. */
  #deliverRefusal(): boolean {
    const isRefusal = this.#state === "answer" && this.#head !== undefined && !isSuccess(this.#head.status);
    if (isRefusal) this.#deliverBody(false);
    return isRefusal;
  }

  #failToConnect(error: unknown): void {
    const { origin } = this.#context.url;
    const reason = reasonOf(error);
    const cause = networkCause(error, reason);
    if (this.#state === "connecting") {
      const message = `No connection to ${origin}: ${reason}.`;
      this.#failWith(new RemoteConnectorError("connect_failed", { message, details: { origin, reason }, cause }), true);
    } else {
      this.#fail("connection_broken", `The connection to ${origin} broke: ${reason}.`, { origin, reason }, cause);
    }
  }

  #failToAuthorize(error: unknown): void {
    if (isRemoteConnectorError(error)) this.#failWithCaught(error);
    else this.#fail("authorize_failed", "The authorizer failed.", { reason: "the authorizer threw" }, error);
  }

  #failEncoded({ status, mediaType, headers }: AnswerHead): void {
    const reason = "a content encoding that was not asked for";
    const details = { status, mediaType, snippet: "", reason, ...hintsOf(headers) };
    this.#fail("unexpected_answer", `The answer has ${reason}.`, details);
  }

  #fail<C extends ErrorCode>(code: C, message: string, details: ErrorDetails[C], cause?: unknown): void {
    this.#failWith(new RemoteConnectorError(code, { message, details, cause }));
  }

  /** Whatever was thrown ends the call: a promise that never settles would be worse than any error. */
  #failWithCaught(error: unknown): void {
    if (isRemoteConnectorError(error)) this.#failWith(error);
    else
      this.#fail("internal_error", "A fault inside the client ended the call.", { reason: "unexpected throw" }, error);
  }

  #failWith(error: RemoteConnectorError, noConnection = false): void {
    const seen = error.withEvidence(this.#delivery(), this.evidence());
    if (this.#end()) this.#owner.onFailure(seen, noConnection);
  }

  #watchDrain(): void {
    if (this.#state !== "draining") return;
    const limits = { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: DRAIN_MS };
    const stop = (): void => this.#stopDraining();
    this.#lifetime = this.#context.lifetimes.open({ onDeadline: stop, onAbort: stop }, limits);
  }

  #stopDraining(): void {
    if (this.#state === "draining") this.#end();
  }

  #release(): void {
    this.#lifetime?.close();
    if (this.#holdsSlot) {
      this.#holdsSlot = false;
      this.#context.slots.release();
    } else {
      this.#context.slots.leave(this);
    }
  }

  /** Gives everything back, and destroys the exchange unless it is over. False when the call had ended before. */
  #end(): boolean {
    if (this.#state === "ended") return false;
    const wasDraining = this.#state === "draining";
    this.#state = "ended";
    this.#forget(this);
    this.#control?.abort(ended());
    this.#control = undefined;
    this.#reader = undefined;
    if (wasDraining) {
      this.#lifetime?.close();
      this.#context.draining -= 1;
    } else {
      this.#release();
    }
    return !wasDraining;
  }
}

function ended(): Error {
  return new Error("The exchange was ended by its owner.");
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** A short, stable description of a network error: its code where it has one. */
function reasonOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (typeof code === "string") return code;
  return error instanceof Error ? error.name : "unknown";
}

/** A network error without what libraries hang on it, which can be bytes of the answer. */
function networkCause(error: unknown, code: string): Error {
  const cause = new Error(error instanceof Error ? plainText(error.message, 256) : "Not an error.");
  return Object.assign(cause, { code });
}
