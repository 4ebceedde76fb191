import {
  type Delivery,
  type DeliveryEvidence,
  isRemoteConnectorError,
  type RemoteConnectorError,
} from "../../errors.js";
import {
  type Answer,
  classifyMessage,
  type Diagnostic,
  invalidAnswer,
  type Notification,
  type PeerErrorContext,
  type Progress,
  readRetryDelayMs,
  type StreamEvent,
} from "../../protocol/index.js";
import {
  type AnswerHead,
  closedError,
  type HttpCall,
  type HttpCallOwner,
  type HttpCallRequest,
  isSuccess,
  type LifetimeLimits,
  Settlement,
} from "../../transport/index.js";
import { CallListeners } from "../call-listeners.js";
import type { CallSpec } from "../connection.js";
import { encodeCall } from "../encode-line.js";
import { internalFault, NOTHING_SENT, resumingFailed, streamEnded, totalTimeout } from "./call-failures.js";
import { CallWait } from "./call-wait.js";
import { classifyHttpAnswer, parseJson, refusalOf, textOf, type WholeAnswer } from "./classify-http-answer.js";
import { planResume } from "./plan-resume.js";
import { HttpReceivedAnswer } from "./received.js";
import { isSessionLoss, type RequestScope } from "./session.js";
import type { BoundCall, OpenSessionCall, SessionCallHost } from "./session-call-ports.js";
import { splitBatch } from "./split-batch.js";
import { StreamPlace } from "./stream-place.js";

/**
 * One request over HTTP, from the caller's wish to its settlement, with all exchanges that this takes.
 *
 * It is settled once, by whatever comes first: an answer on whichever stream of the session, a deadline, the caller's abort,
 * the end of the client. It is posted again, under a new id, in two cases, in both of which it did not run: when no
 * connection could be made (once), and when the server did not know its session any more (once, in the next session); and when it
 * is a read and its failure may pass. A stream that ends without the answer is taken up again where it has event ids.
 *
 * Source: 2025-11-25, Transports, Streamable HTTP.
 */
export class SessionCall<T> implements HttpCallOwner, OpenSessionCall {
  readonly #host: SessionCallHost;
  readonly #spec: CallSpec<T>;
  readonly #bound: BoundCall | undefined;
  readonly #settlement: Settlement<T>;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #startedAt: number;
  #listeners: CallListeners | undefined;
  #id: number;
  #body: string;
  #scope: RequestScope | undefined;
  #http: HttpCall | undefined;
  #exchanges = 0;
  #posts = 0;
  #settled = false;
  #reconnected = false;
  #renewed = false;
  /** What HTTP said beside the message that is being read. */
  #context: PeerErrorContext | undefined;
  /** What is being read came on an exchange of this call. */
  #isReading = false;
  /** An exchange is being dropped that is not needed any more. */
  #isLeaving = false;
  /** Set while no exchange is under way. */
  #waiting: CallWait | undefined;
  /** What is known while none is. */
  #reached: Delivery = "not_sent";
  /** How the stream of the request ended. Set from then on: the request is never posted again. */
  #streamEnd: RemoteConnectorError | undefined;
  #place = new StreamPlace();
  #retries = 0;
  #hasWaited = false;

  /** Throws `invalid_argument` (`not_sent`) for what can't be sent. */
  constructor(host: SessionCallHost, spec: CallSpec<T>, bound?: BoundCall) {
    this.#host = host;
    this.#spec = spec;
    this.#bound = bound;
    this.#id = host.channel.takeId();
    this.#body = encodeCall(spec, this.#id);
    this.#settlement = new Settlement(spec.onSettled);
    this.#startedAt = host.endpoint.config.clock.now();
    if (spec.onProgress !== undefined || spec.onNotification !== undefined) {
      this.#listeners = new CallListeners(spec, this.#note);
    }
  }

  get promise(): Promise<T> {
    return this.#settlement.promise;
  }

  /** Sends the request. Failures settle the promise; nothing is thrown. */
  start(): this {
    const { signal } = this.#spec.limits;
    if (signal?.aborted === true) this.#abort(signal.reason, "not_sent");
    else this.#postIn(this.#bound?.scope ?? this.#host.session());
    return this;
  }

  onHead(head: AnswerHead): void {
    this.#bound?.onHead?.(head);
  }

  onRetry(retryMs: number): void {
    this.#place.retryMs = retryMs;
  }

  onEvent(event: StreamEvent): void {
    if (this.#settled) return;
    this.#place.moveTo(event);
    const { data, unterminated } = event;
    if (data === "") return;
    const value = parseJson(data);
    // Cut data is not worth a word: the failure that follows says more.
    if (value === undefined && unterminated) return;
    if (unterminated) {
      this.#note({ kind: "unterminated_event", message: "The last event of the stream came without its blank line." });
    }
    this.#place.bearFruit();
    this.#read(() => this.#receive(value, data));
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    if (this.#settled) return;
    const { url } = this.#host.endpoint;
    this.#read(() => {
      if (this.#streamEnd === undefined) this.#judge({ head, body, isWhole, url });
      else this.#judgeResumption({ head, body, isWhole, url });
    });
  }

  onStreamEnd(evidence: DeliveryEvidence): void {
    if (!this.#settled) this.#afterStream(streamEnded(evidence));
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (this.#settled || this.#isLeaving) return;
    const isResuming = this.#streamEnd !== undefined;
    if (isRemoteConnectorError(error, "timeout")) {
      this.#passDeadline(error.details.phase === "total" ? this.#totalTimeout(error.delivery) : error);
    } else if (noConnection && !isResuming && !this.#reconnected && !this.#host.endpoint.isClosed) {
      this.#reconnected = true;
      this.#post(this.#scope);
    } else if (error.code === "connection_broken" || (noConnection && isResuming)) {
      this.#afterStream(error);
    } else {
      this.#failOrRetry(isResuming ? this.#asUnknown(error) : error);
    }
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    if (this.#settled) return;
    const known = this.#streamEnd === undefined ? delivery : "unknown";
    this.#cancelRequest(known);
    this.#abort(reason, known);
  }

  onAnswer(answer: Answer, message: Uint8Array | string, diagnostic: Diagnostic | undefined): void {
    if (this.#settled) return;
    this.#waiting?.end();
    this.#leaveExchange();
    if (diagnostic !== undefined) this.#note(diagnostic);
    const { read, method, params } = this.#spec;
    let value: T;
    try {
      const received = { answer, message, context: this.#context };
      value = read(new HttpReceivedAnswer(received, this.#diagnostics, this.#note));
    } catch (error) {
      if (isRemoteConnectorError(error)) this.#failOrRetry(error.withEvidence(error.delivery, this.#evidence()));
      else this.#failInternally(error);
      return;
    }
    if (!this.#end()) return;
    this.#host.onResult(method, params);
    this.#settlement.resolve(value);
  }

  onProgress(progress: Progress): void {
    if (!this.#settled) this.#listeners?.progress(progress);
  }

  onNotification(notification: Notification): void {
    if (!this.#settled) this.#listeners?.notification(notification);
  }

  hold(): void {
    this.#http?.holdIdle();
  }

  release(): void {
    this.#http?.releaseIdle();
  }

  onClosed(): void {
    if (this.#settled) return;
    const delivery = this.#delivery();
    this.#fail(closedError().withEvidence(delivery, this.#evidence()));
    this.#leaveExchange();
  }

  #postIn(scope: RequestScope | Promise<RequestScope>): void {
    if (!(scope instanceof Promise)) {
      this.#post(scope);
      return;
    }
    const waiting = this.#wait();
    if (waiting === undefined) return;
    scope.then(
      (found) => {
        if (waiting.end()) this.#post(found);
      },
      (error: unknown) => {
        if (!waiting.end()) return;
        if (isRemoteConnectorError(error)) this.#fail(error.withEvidence(this.#reached, this.#evidence()));
        else this.#failInternally(error);
      },
    );
  }

  #post(scope: RequestScope | undefined): void {
    if (scope === undefined) return;
    const { method, admit } = this.#spec;
    const limits = this.#limits();
    if (limits === undefined) return;
    try {
      if (this.#posts > 0) {
        this.#host.channel.close(this.#id);
        this.#id = this.#host.channel.takeId();
        this.#body = encodeCall(this.#spec, this.#id);
      }
      this.#posts += 1;
      this.#scope = scope;
      this.#host.channel.open(this.#id, this);
      const headers = [...scope.postHeaders];
      const attempt = this.#posts;
      this.#begin({
        method: "POST",
        operation: method,
        headers,
        body: this.#body,
        acceptsStream: true,
        attempt,
        limits,
        admit,
      });
    } catch (error) {
      this.#failInternally(error);
    }
  }

  #resume(lastEventId: string): void {
    const limits = this.#limits();
    if (limits === undefined || this.#scope === undefined) return;
    this.#place.beginAttempt();
    this.#posts += 1;
    const headers = [...this.#scope.getHeaders, "Last-Event-ID", lastEventId];
    const attempt = this.#posts;
    this.#begin({ method: "GET", operation: "GET", headers, body: null, acceptsStream: true, attempt, limits });
  }

  #begin(request: HttpCallRequest): void {
    this.#waiting = undefined;
    this.#exchanges += 1;
    const exchange = this.#exchanges;
    const http = (this.#bound?.endpoint ?? this.#host.endpoint).begin(request, this);
    // What fails while it begins can have begun the next one.
    if (exchange !== this.#exchanges) return;
    this.#http = http;
    if (this.#host.isServing) http.holdIdle();
  }

  #read(read: () => void): void {
    this.#isReading = true;
    try {
      read();
    } catch (error) {
      this.#leaveExchange();
      this.#failInternally(error);
    } finally {
      this.#isReading = false;
    }
  }

  #judge(answer: WholeAnswer): void {
    const { status } = answer.head;
    if (!isSuccess(status)) {
      const text = textOf(answer.body);
      this.#bound?.onRefused?.(status, text);
      const scope = this.#scope;
      const isBound = this.#bound !== undefined || scope?.id === undefined;
      if (!isBound && !this.#renewed && scope !== undefined && isSessionLoss(status, text)) {
        this.#renewed = true;
        this.#reached = "answered";
        this.#postIn(this.#host.renew(scope.generation));
        return;
      }
    }
    const verdict = classifyHttpAnswer(answer, this.#id);
    if (verdict.kind === "failed") {
      this.#failOrRetry(verdict.error.withEvidence(verdict.error.delivery, this.#evidence()));
      return;
    }
    this.#context = verdict.context;
    this.#receive(verdict.value, answer.body);
    if (!this.#settled && this.#waiting === undefined) {
      this.#fail(invalidAnswer("no response to the request").withEvidence("unknown", this.#evidence()));
    }
  }

  /** What answers a GET is that of the request only as a message with its id. */
  #judgeResumption(answer: WholeAnswer): void {
    if (!isSuccess(answer.head.status)) {
      this.#afterStream(refusalOf(answer), answer.head.status);
      return;
    }
    const value = answer.head.mediaType === "application/json" ? parseJson(textOf(answer.body)) : undefined;
    if (value !== undefined) this.#host.receive(value, answer.body, this);
    if (!this.#settled) this.#giveUp("it was answered by no stream", refusalOf(answer));
  }

  #receive(value: unknown, message: Uint8Array | string): void {
    if (Array.isArray(value) && this.#scope?.takesBatches === true) {
      for (const one of splitBatch(value, message)) this.#receiveOne(one.value, one.message);
      return;
    }
    this.#receiveOne(value, message);
  }

  #receiveOne(value: unknown, message: Uint8Array | string): void {
    const read = classifyMessage(value);
    const isResponse = read.kind === "result" || read.kind === "error";
    // An error without an id can only be meant for the request whose answer it is in.
    if (isResponse && (read.id === this.#id || read.id === undefined)) this.onAnswer(read, message, undefined);
    else this.#host.receive(value, message, this);
  }

  #afterStream(error: RemoteConnectorError, refusedWith?: number): void {
    const isFirst = this.#streamEnd === undefined;
    if (!isFirst) this.#place.endAttempt();
    this.#streamEnd ??= error;
    const hasPlace = this.#spec.cancellable && this.#place.lastEventId !== undefined;
    if (isFirst && !hasPlace) {
      this.#failOrRetry(error);
      return;
    }
    const plan = planResume(this.#place.end(refusedWith), this.#host.resume);
    if (plan.kind === "give_up") {
      this.#giveUp(plan.reason, isFirst ? undefined : error);
      return;
    }
    this.#reached = "unknown";
    const { clock } = this.#host.endpoint.config;
    this.#wait()?.until(
      (run) => clock.schedule(plan.delayMs, run),
      () => this.#resume(plan.lastEventId),
    );
  }

  #giveUp(reason: string, cause: RemoteConnectorError | undefined): void {
    if (this.#streamEnd === undefined) return;
    this.#failOrRetry(resumingFailed(this.#streamEnd, reason, this.#evidence(), cause));
  }

  /** Ends the call, or makes a read that may yet succeed again, as if nothing had been. */
  #failOrRetry(error: RemoteConnectorError): void {
    if (this.#settled) return;
    const delayMs = this.#retryDelayMs(error);
    if (delayMs === undefined) {
      this.#fail(error);
      return;
    }
    this.#retries += 1;
    this.#reached = error.delivery;
    this.#streamEnd = undefined;
    this.#place = new StreamPlace();
    const { clock } = this.#host.endpoint.config;
    this.#wait()?.until(
      (run) => clock.schedule(delayMs, run),
      () => this.#postIn(this.#host.session()),
    );
  }

  #retryDelayMs(error: RemoteConnectorError): number | undefined {
    if (this.#bound !== undefined || this.#host.isClosed) return undefined;
    const delayMs = readRetryDelayMs(this.#spec.method, error, this.#retries, this.#host.readRetries);
    if (delayMs === undefined) return undefined;
    return this.#elapsedMs() + delayMs < this.#spec.limits.totalTimeoutMs ? delayMs : undefined;
  }

  /** Waits while no exchange is under way; `undefined` when there is nothing to wait for any more. */
  #wait(): CallWait | undefined {
    const limits = this.#limits();
    if (limits === undefined) return undefined;
    if (limits.signal?.aborted === true) {
      this.onAbort(limits.signal.reason, this.#reached);
      return undefined;
    }
    this.#hasWaited = true;
    this.#waiting = new CallWait(this.#host.endpoint.lifetimes, limits, {
      onAbort: (reason) => this.onAbort(reason, this.#reached),
      onDeadline: () => this.#passDeadline(this.#totalTimeout(this.#reached)),
    });
    return this.#waiting;
  }

  /** What is left of the deadlines; `undefined` when the total one has passed, which ends the call. */
  #limits(): LifetimeLimits | undefined {
    const { limits } = this.#spec;
    if (this.#exchanges === 0 && !this.#hasWaited) return limits;
    const elapsedMs = this.#elapsedMs();
    if (elapsedMs < limits.totalTimeoutMs) return { ...limits, totalTimeoutMs: limits.totalTimeoutMs - elapsedMs };
    this.#passDeadline(this.#totalTimeout(this.#delivery()));
    return undefined;
  }

  #elapsedMs(): number {
    return this.#host.endpoint.config.clock.now() - this.#startedAt;
  }

  #totalTimeout(delivery: Delivery): RemoteConnectorError<"timeout"> {
    const { totalTimeoutMs = this.#spec.limits.totalTimeoutMs, totalOption } = this.#spec;
    return totalTimeout(totalTimeoutMs, totalOption, delivery, this.#evidence());
  }

  #passDeadline(error: RemoteConnectorError): void {
    if (this.#settled) return;
    const known = this.#streamEnd === undefined ? error : this.#asUnknown(error);
    this.#cancelRequest(known.delivery);
    this.#fail(known);
  }

  #asUnknown(error: RemoteConnectorError): RemoteConnectorError {
    return error.withEvidence("unknown", this.#evidence());
  }

  /** Only a request that may be running is worth a word. */
  #cancelRequest(delivery: Delivery): void {
    const isRunning = delivery === "unknown" && this.#spec.cancellable;
    if (isRunning && this.#scope !== undefined) this.#host.cancelRequest(this.#scope, this.#id);
  }

  #delivery(): Delivery {
    if (this.#streamEnd !== undefined) return "unknown";
    if (this.#waiting !== undefined) return this.#reached;
    return this.#http?.evidence().handedOver === true ? "unknown" : "not_sent";
  }

  #evidence(): DeliveryEvidence {
    return this.#http?.evidence() ?? NOTHING_SENT;
  }

  /** What is left of an exchange whose answer is read is read to its end; one that was not needed any more is dropped. */
  #leaveExchange(): void {
    this.#http?.finish();
    if (this.#isReading) return;
    this.#isLeaving = true;
    this.#http?.cancel(closedError());
    this.#isLeaving = false;
  }

  /** A peer that has much to be tolerated must not fill our memory with it. */
  readonly #note = (diagnostic: Diagnostic): void => {
    if (this.#diagnostics.length < DIAGNOSTICS_KEPT) this.#diagnostics.push(diagnostic);
    this.#host.report(diagnostic);
  };

  #abort(reason: unknown, delivery: Delivery): void {
    if (this.#end()) this.#settlement.abort(reason, delivery);
  }

  #fail(error: RemoteConnectorError): void {
    if (this.#end()) this.#settlement.fail(error);
  }

  #failInternally(cause: unknown): void {
    this.#fail(internalFault(cause, this.#evidence()));
  }

  #end(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#waiting?.end();
    this.#host.channel.close(this.#id);
    this.#host.onSettled(this);
    return true;
  }
}

const DIAGNOSTICS_KEPT = 100;
