import { type Delivery, type DeliveryEvidence, type RemoteConnectorError } from "../errors.js";
import type { Linked } from "../open-list.js";
import type { StreamEvent } from "../protocol/index.js";
import { type AnswerHead, deliveryByStatus, isSuccess, readAnswerHead } from "./answer-head.js";
import { failureOf } from "./call-failures.js";
import { CallRoute } from "./call-route.js";
import { type AnswerReader, BodyReader, StreamReader } from "./answer-reader.js";
import type { AuthorizationOwner } from "./call-authorization.js";
import type { ExchangeControl, ExchangeHandler, ResponseHeaders } from "./exchange.js";
import { ExchangeReport } from "./exchange-report.js";
import type { HeaderMap } from "./headers.js";
import type { RefusalOwner } from "./heard-request.js";
import type { HttpCallContext, HttpCallOwner, HttpCallRequest } from "./http-call-ports.js";
import { deadlineFailure, encodedFailure, exchangeFailure, isEncoded, refusalOf } from "./http-failures.js";
import type { DeadlinePhase, Lifetime, LifetimeOwner } from "./lifetime.js";
import type { SlotWaiter } from "./request-slots.js";
import { StreamDrain } from "./stream-drain.js";

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
  /** Waits for what its authorizer says of the refusal that was its answer. */
  | "refused"
  /** The owner has what it needs; what is left of the stream is read so that the connection can be used again. */
  | "draining"
  | "ended";

/**
 * One HTTP request and its answer: its turn, its authorization, its deadlines, its limits, and the evidence for the
 * delivery verdict. It knows nothing of what the answer means.
 */
export class HttpCall
  implements ExchangeHandler, LifetimeOwner, SlotWaiter, AuthorizationOwner, RefusalOwner, Linked<HttpCall>
{
  next: HttpCall | undefined;
  previous: HttpCall | undefined;
  readonly #context: HttpCallContext;
  readonly #request: HttpCallRequest;
  readonly #owner: HttpCallOwner;
  readonly #forget: (call: HttpCall) => void;
  readonly #startedAt: number;
  readonly #route: CallRoute;
  #state: State = "queued";
  #lifetime: Lifetime | undefined;
  #holdsSlot = false;
  #handedOver = false;
  #control: ExchangeControl | undefined;
  #head: AnswerHead | undefined;
  #reader: AnswerReader | undefined;
  #messages = 0;
  #drain: StreamDrain | undefined;
  #report: ExchangeReport | undefined;

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
    this.#route = new CallRoute(context, request);
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
      this.#failWith(failureOf(error));
    }
  }

  /** The owner has its response: what is left of the stream is of no interest. */
  finish(): void {
    if (this.#state !== "answer") return;
    this.#release();
    this.#state = "draining";
    this.#drain = new StreamDrain(this.#context, () => void this.#end());
    this.#report?.end("answered", this.evidence());
    this.#drain.begin();
  }

  /** Ends the call from our side. Nothing happens when it has ended. */
  cancel(error: RemoteConnectorError<"cancelled">): void {
    this.#failWith(error);
  }

  /** The peer waits for us: until {@link releaseIdle} its silence is no fault. */
  holdIdle(): void {
    this.#lifetime?.hold();
  }

  releaseIdle(): void {
    this.#lifetime?.release();
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
    this.#authorize();
  }

  onAuthorized(headers: HeaderMap | undefined): void {
    if (this.#state !== "authorizing") return;
    try {
      this.#route.authorized(headers);
      this.#connect();
    } catch (error) {
      this.#failWith(failureOf(error));
    }
  }

  onUnauthorized(error: RemoteConnectorError): void {
    this.#failWith(error);
  }

  onVerdict(isMadeAgain: boolean): void {
    if (this.#state !== "refused") return;
    if (!isMadeAgain) {
      this.#deliverRefused(this.#route.isWhole);
      return;
    }
    this.#forgetAnswer();
    this.#owner.onAgain?.();
    if (this.#state !== "refused") return;
    this.#authorize();
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
    this.#report?.sent();
  }

  onResponseStart(_control: ExchangeControl, status: number, headers: ResponseHeaders): void {
    if (this.#state !== "sent") return;
    this.#lifetime?.touch();
    const route = this.#route;
    const head = readAnswerHead(status, headers, route.redirects === 0 ? undefined : route.url);
    this.#head = head;
    this.#context.config.cookies?.store(headers, route.url);
    this.#report?.head(status, head.mediaType);
    // Who listens may have ended the call.
    if (this.#state !== "sent") return;
    const leadsOn = route.take(head);
    if (this.#state !== "sent") return;
    if (this.#request.discardsBody === true && isSuccess(status)) {
      this.#discard(head);
      return;
    }
    // What the body of an answer says that leads on is not read, or not yet.
    if (!leadsOn && this.#failsByCoding(head)) return;
    const isStream = isSuccess(status) && head.mediaType === "text/event-stream" && this.#request.acceptsStream;
    try {
      this.#reader = isStream ? this.#readStream() : new BodyReader(head, this.#context.config);
    } catch (error) {
      this.#failWith(failureOf(error));
      return;
    }
    this.#state = "answer";
    if (leadsOn) route.wait(() => this.#stopExchange());
    else this.#owner.onHead?.(head);
  }

  onResponseData(_control: ExchangeControl, chunk: Uint8Array): void {
    if (this.#state === "draining") {
      this.#drain?.push(chunk);
      return;
    }
    if (this.#state !== "answer") return;
    this.#lifetime?.touch();
    try {
      if (this.#reader?.push(chunk) !== true) return;
      this.#route.complete();
      if (this.#route.leadsOn) this.#stopExchange();
      else this.#deliverBody(true);
    } catch (error) {
      this.#failWith(failureOf(error));
    }
  }

  onResponseEnd(): void {
    this.#control = undefined;
    this.#endStream();
    if (this.#state === "draining") {
      this.#end();
    } else if (this.#route.leadsOn) {
      this.#route.complete();
      this.#goOn();
    } else if (this.#state === "answer" && this.#reader?.kind === "stream") {
      const evidence = this.evidence();
      this.#report?.end("stream_ended", evidence, "unknown");
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
    } else if (this.#route.leadsOn) {
      this.#goOn();
    } else if (!this.#deliverRefusal()) {
      this.#failToConnect(error);
    }
  }

  onDeadline(phase: DeadlinePhase, limitMs: number): void {
    // A redirect that stalls is no refusal: it would have been followed.
    if (!this.#route.isRedirect && this.#deliverRefusal()) return;
    this.#failWith(deadlineFailure(phase, limitMs));
  }

  onAbort(reason: unknown): void {
    const delivery = this.#delivery();
    this.#report?.end("aborted", this.evidence(), delivery);
    if (this.#end()) this.#owner.onAbort(reason, delivery);
  }

  /** The verdict while no answer is known, or only a refusal: it turns on whether the request was handed to a connection. */
  #delivery(): Delivery {
    if (this.#state === "refused" && this.#head !== undefined) return deliveryByStatus(this.#head.status);
    return this.#handedOver ? "unknown" : "not_sent";
  }

  #isAdmitted(): boolean {
    const { admit } = this.#request;
    const refusal = admit === undefined ? undefined : refusalOf(admit);
    if (refusal !== undefined) this.#failWith(refusal);
    // The check is the caller's code, and may have ended the call.
    return this.#state === "connecting";
  }

  #connect(): void {
    const route = this.#route;
    this.#state = "connecting";
    this.#report = ExchangeReport.open();
    this.#report?.connect(route.url, this.#request, route.redirects);
    this.#context.exchange.dispatch(route.outgoing(), this);
  }

  #authorize(): void {
    // Authorizing counts as connecting: nothing else bounds an authorizer that hangs.
    this.#lifetime?.connecting();
    this.#state = "authorizing";
    this.#route.authorize(this);
  }

  #goOn(): void {
    if (this.#route.isRedirect) this.#follow();
    else this.#askOfRefusal();
  }

  /** Whether the answer's body can't be read, so that the call has failed. */
  #failsByCoding(head: AnswerHead): boolean {
    if (!isEncoded(head)) return false;
    this.#failWith(encodedFailure(head), false, deliveryByStatus(head.status));
    return true;
  }

  /** The head says all that the owner needs. */
  #discard(head: AnswerHead): void {
    this.#state = "answer";
    this.finish();
    this.#owner.onBody(head, NOTHING, true);
  }

  /** What is left of the exchange says nothing. Its handler, which is the call, is told that it ended. */
  #stopExchange(): void {
    this.#control?.abort(ended());
  }

  /** The same request once more, with the credentials that it had. What is known now is what is known of this one. */
  #follow(): void {
    this.#report?.end("redirected", this.evidence());
    if (this.#state !== "answer") return;
    this.#route.follow();
    this.#forgetAnswer();
    this.#lifetime?.connecting();
    try {
      this.#connect();
    } catch (error) {
      this.#failWith(failureOf(error));
    }
  }

  /** The request is about to be made again: of that nothing is known. */
  #forgetAnswer(): void {
    this.#head = undefined;
    this.#reader = undefined;
    this.#handedOver = false;
  }

  /** The refused exchange is over. Its turn is kept, and only its total deadline goes on. */
  #askOfRefusal(): void {
    this.#report?.end("answered", this.evidence());
    if (this.#state !== "answer") return;
    this.#state = "refused";
    this.#lifetime?.waiting();
    this.#owner.onAsking?.();
    if (this.#state === "refused") this.#route.ask(this);
  }

  /** The refusal is the answer, with everything that the owner would have been told at its time. */
  #deliverRefused(isWhole: boolean): void {
    const head = this.#head;
    this.#route.leave();
    if (head === undefined || this.#failsByCoding(head)) return;
    this.#state = "answer";
    this.#owner.onHead?.(head);
    if (this.#state === "answer") this.#deliverBody(isWhole);
    // It has had enough of an exchange that is over already.
    else this.#end();
  }

  /** Its functions are made here: most answers are no streams, and each call would have them. */
  #readStream(): StreamReader {
    const owner = this.#owner;
    const onEvent = (event: StreamEvent): void => {
      if (this.#state !== "answer") return;
      if (event.data !== "") this.#messages += 1;
      owner.onEvent(event);
    };
    const onRetry = (retryMs: number): void => {
      if (this.#state === "answer") owner.onRetry?.(retryMs);
    };
    return new StreamReader(this.#context.config, onEvent, owner.onRetry === undefined ? undefined : onRetry);
  }

  #endStream(): void {
    if (this.#state !== "answer" || this.#reader?.kind !== "stream") return;
    try {
      this.#reader.end();
    } catch (error) {
      this.#failWith(failureOf(error));
    }
  }

  #deliverBody(whole: boolean): void {
    const head = this.#head;
    const reader = this.#reader;
    if (head === undefined || reader?.kind !== "body") return;
    this.#report?.end("answered", this.evidence());
    if (!this.#end()) return;
    this.#owner.onBody(head, reader.body(), whole);
  }

  /** A refusal whose body did not come whole still says its status, and when to try again. Whether it was one. */
  #deliverRefusal(): boolean {
    const isFailed = this.#state === "answer" && this.#head !== undefined && !isSuccess(this.#head.status);
    if (isFailed && this.#route.isRefusal) this.#deliverRefused(false);
    else if (isFailed) this.#deliverBody(false);
    return isFailed;
  }

  #failToConnect(error: unknown): void {
    const isConnecting = this.#state === "connecting";
    const failure = exchangeFailure(this.#context.url.origin, error, isConnecting);
    this.#failWith(failure, isConnecting && failure.code === "connect_failed" && failure.details.lasting !== true);
  }

  #failWith(error: RemoteConnectorError, noConnection = false, delivery = this.#delivery()): void {
    const evidence = this.evidence();
    const seen = error.withEvidence(delivery, evidence);
    this.#report?.end("failed", evidence, seen.delivery, seen.code);
    if (this.#end()) this.#owner.onFailure(seen, noConnection);
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
    this.#route.close();
    this.#forget(this);
    this.#stopExchange();
    this.#control = undefined;
    this.#reader = undefined;
    if (wasDraining) {
      this.#drain?.close();
    } else {
      this.#release();
    }
    return !wasDraining;
  }
}

const NOTHING = new Uint8Array();

function ended(): Error {
  return new Error("The exchange was ended by its owner.");
}
