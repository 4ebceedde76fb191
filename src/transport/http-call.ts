import {
  type Delivery,
  type DeliveryEvidence,
  type ErrorCode,
  type ErrorDetails,
  isRemoteConnectorError,
  RemoteConnectorError,
} from "../errors.js";
import type { StreamEvent } from "../protocol/index.js";
import { type AnswerHead, deliveryByStatus, hintsOf, isSuccess, readAnswerHead } from "./answer-head.js";
import { type AnswerReader, BodyReader, StreamReader } from "./answer-reader.js";
import { shownUrl } from "./endpoint.js";
import type { ExchangeControl, ExchangeHandler, ResponseHeaders } from "./exchange.js";
import { type ExchangeEndEvent, numberExchange, tellConnect, tellEnd, tellHead, tellSent } from "./exchange-events.js";
import { addHeaders, type HeaderMap } from "./headers.js";
import type { HttpCallContext, HttpCallOwner, HttpCallRequest } from "./http-call-ports.js";
import type { DeadlinePhase, Lifetime, LifetimeOwner } from "./lifetime.js";
import { networkCause, networkReason } from "./network-failure.js";
import { MAX_REDIRECTS, redirectTarget } from "./redirect.js";
import type { SlotWaiter } from "./request-slots.js";

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
  #redirects = 0;
  /** Where the last redirect led. */
  #url: URL | undefined;
  /** Where this answer leads, once what is left of it has passed. */
  #next: URL | undefined;
  /** Set while there is an exchange of which someone wants to hear. */
  #number: number | undefined;

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
    this.#tellEnd("answered");
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
    if (this.#number !== undefined) tellSent({ exchange: this.#number });
  }

  onResponseStart(_control: ExchangeControl, status: number, headers: ResponseHeaders): void {
    if (this.#state !== "sent") return;
    this.#lifetime?.touch();
    this.#head = readAnswerHead(status, headers, this.#url);
    if (this.#number !== undefined) tellHead({ exchange: this.#number, status, mediaType: this.#head.mediaType });
    // Who listens may have ended the call.
    if (this.#state !== "sent") return;
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && String(encoding).toLowerCase() !== "identity") {
      this.#failEncoded(this.#head);
      return;
    }
    const isStream = isSuccess(status) && this.#head.mediaType === "text/event-stream" && this.#request.acceptsStream;
    const { config, url } = this.#context;
    if (this.#redirects < (this.#request.maxRedirects ?? MAX_REDIRECTS)) {
      this.#next = redirectTarget(status, headers, this.#url ?? url);
    }
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
      if (this.#reader?.push(chunk) !== true) return;
      // What follows a redirect's head says nothing; its end is waited for, or brought about.
      if (this.#next === undefined) this.#deliverBody(true);
      else this.#control?.abort(ended());
    } catch (error) {
      this.#failWithCaught(error);
    }
  }

  onResponseEnd(): void {
    this.#control = undefined;
    this.#endStream();
    if (this.#state === "draining") {
      this.#end();
    } else if (this.#next !== undefined) {
      this.#follow(this.#next);
    } else if (this.#state === "answer" && this.#reader?.kind === "stream") {
      const evidence = this.evidence();
      this.#tellEnd("stream_ended", "unknown");
      if (this.#end()) this.#owner.onStreamEnd(evidence);
    } else if (this.#state === "answer") {
      this.#deliverBody(true);
    }
  }

  onResponseError(_control: ExchangeControl, error: Error, notSent = false): void {
    this.#control = undefined;
    if (notSent && this.#state === "sent") {
      this.#handedOver = false;
      this.#state = "connecting";
    }
    this.#endStream();
    if (this.#state === "draining") {
      this.#end();
    } else if (this.#next !== undefined) {
      this.#follow(this.#next);
    } else if (!this.#deliverRefusal()) {
      this.#failToConnect(error);
    }
  }

  onDeadline(phase: DeadlinePhase, limitMs: number): void {
    // A redirect that stalls is no refusal: it would have been followed.
    if (this.#next === undefined && this.#deliverRefusal()) return;
    const option = `${phase}TimeoutMs`;
    const message = `The request passed its ${phase} deadline of ${String(limitMs)} ms (${option}).`;
    this.#fail("timeout", message, { phase, option, limitMs });
  }

  onAbort(reason: unknown): void {
    const delivery = this.#delivery();
    this.#tellEnd("aborted", delivery);
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
    try {
      if (authorization !== undefined && (typeof authorization !== "object" || authorization === null)) {
        this.#fail("authorize_failed", "The authorizer gave no headers.", { reason: "not an object of headers" });
        return;
      }
      if (authorization !== undefined) addHeaders(this.#request.headers, authorization);
      this.#connect(this.#context.path);
    } catch (error) {
      this.#failWithCaught(error);
    }
  }

  #connect(path: string): void {
    const { method, headers, body } = this.#request;
    this.#state = "connecting";
    this.#number = numberExchange();
    if (this.#number !== undefined) this.#tellConnect(this.#number);
    this.#context.exchange.dispatch({ method, path, headers, body }, this);
  }

  /** The same request once more, with the credentials that it had. What is known now is what is known of this one. */
  #follow(url: URL): void {
    this.#tellEnd("redirected");
    if (this.#state !== "answer") return;
    this.#redirects += 1;
    this.#url = url;
    this.#next = undefined;
    this.#head = undefined;
    this.#reader = undefined;
    this.#handedOver = false;
    this.#lifetime?.connecting();
    try {
      this.#connect(url.pathname + url.search);
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
    if (head === undefined || reader?.kind !== "body") return;
    this.#tellEnd("answered");
    if (!this.#end()) return;
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
    const reason = networkReason(error);
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
    const error = new RemoteConnectorError("unexpected_answer", { message: `The answer has ${reason}.`, details });
    this.#failWith(error, false, deliveryByStatus(status));
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

  #failWith(error: RemoteConnectorError, noConnection = false, delivery = this.#delivery()): void {
    const seen = error.withEvidence(delivery, this.evidence());
    this.#tellEnd("failed", seen.delivery, seen.code);
    if (this.#end()) this.#owner.onFailure(seen, noConnection);
  }

  #tellConnect(exchange: number): void {
    const { method, operation, attempt } = this.#request;
    const url = shownUrl(this.#url ?? this.#context.url);
    tellConnect({ exchange, url, method, operation, attempt, redirects: this.#redirects });
  }

  /** Once per exchange: what ends it again is not worth a word. */
  #tellEnd(outcome: ExchangeEndEvent["outcome"], delivery?: Delivery, code?: ErrorCode): void {
    const exchange = this.#number;
    if (exchange === undefined) return;
    this.#number = undefined;
    const { messages, elapsedMs } = this.evidence();
    tellEnd({ exchange, outcome, delivery, code, messages, elapsedMs });
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
