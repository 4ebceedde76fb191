import {
  type Delivery,
  type DeliveryEvidence,
  isRemoteConnectorError,
  type RemoteConnectorError,
} from "../../errors.js";
import {
  type Answer,
  type Diagnostic,
  invalidAnswer,
  type Notification,
  type Progress,
  readRetryDelayMs,
} from "../../protocol/index.js";
import {
  closedError,
  deadlineFailure,
  type DeadlinePhase,
  type HttpCallRequest,
  type LifetimeLimits,
  NOTHING_SENT,
  resultOfError,
  type WholeAnswer,
} from "../../transport/index.js";
import { CallListeners } from "../call-listeners.js";
import type { CallSpec } from "../connection.js";
import { CallOutcome, type CallOutcomeOwner } from "./call-outcome.js";
import { CallRequest } from "./call-request.js";
import { CallTime } from "./call-time.js";
import { CallWait } from "./call-wait.js";
import { type NoResponse, refusalOf } from "./classify-http-answer.js";
import { HttpReceivedAnswer } from "./received.js";
import type { RequestScope } from "./session.js";
import type { BoundCall, SessionCallHost } from "./session-call-ports.js";
import { SessionExchange, type SessionExchangeOwner } from "./session-exchange.js";
import { StreamResumption } from "./stream-resumption.js";

/**
 * One request over HTTP, from the caller's wish to its settlement, with all exchanges that this takes.
 *
 * It is settled once, by whatever comes first: an answer on whichever stream of the session, a deadline, the caller's abort,
 * the end of the client. It is posted again, under a new id, in two cases, in both of which it did not run: when no
 * connection could be made (once), and when the server did not know its session any more (once, in the next session); and when it
 * is a read and its failure may pass. One that is to be sent once is not. A stream that ends without the answer is taken up again
 * where it has event ids.
 *
 * Source: 2025-11-25, Transports, Streamable HTTP.
 */
export class SessionCall<T> implements SessionExchangeOwner, CallOutcomeOwner {
  readonly #host: SessionCallHost;
  readonly #spec: CallSpec<T>;
  readonly #bound: BoundCall | undefined;
  readonly #request: CallRequest;
  readonly #outcome: CallOutcome<T>;
  readonly #time: CallTime;
  readonly #purpose: object;
  #listeners: CallListeners | undefined;
  #scope: RequestScope | undefined;
  #exchange: SessionExchange | undefined;
  #exchanges = 0;
  #reconnected = false;
  #renewed = false;
  /** Set while no exchange is under way. */
  #waiting: CallWait | undefined;
  /** What is known while none is. */
  #reached: Delivery = "not_sent";
  #stream: StreamResumption;
  /** How the call ends when the response, which is to come on the session's own stream, can't come there. */
  #missing: RemoteConnectorError | undefined;
  #retries = 0;

  /** Throws `invalid_argument` (`not_sent`) for what can't be sent. */
  constructor(host: SessionCallHost, spec: CallSpec<T>, bound?: BoundCall) {
    this.#host = host;
    this.#spec = spec;
    this.#bound = bound;
    this.#request = new CallRequest(host, spec);
    this.#outcome = new CallOutcome(this.#request, this, spec.onSettled);
    this.#purpose = bound?.purpose ?? {};
    this.#time = new CallTime(host.endpoint.config.clock, spec);
    this.#stream = new StreamResumption(host.resume);
    if (spec.onProgress !== undefined || spec.onNotification !== undefined) {
      this.#listeners = new CallListeners(spec, this.#outcome.note);
    }
  }

  get promise(): Promise<T> {
    return this.#outcome.promise;
  }

  /** Sends the request. Failures settle the promise; nothing is thrown. */
  start(): this {
    const { signal } = this.#spec.limits;
    if (signal?.aborted === true) this.#outcome.abort(signal.reason, "not_sent");
    else this.#postIn(this.#bound?.scope ?? this.#host.session());
    return this;
  }

  /** Following a redirect sends the request again. */
  get maxRedirects(): number | undefined {
    return this.#spec.isSentOnce === true ? 0 : undefined;
  }

  get requestId(): number {
    return this.#request.id;
  }

  get isOver(): boolean {
    return this.#outcome.isOver;
  }

  get stream(): StreamResumption {
    return this.#stream;
  }

  note(diagnostic: Diagnostic): void {
    this.#outcome.note(diagnostic);
  }

  onStreamOver(error: RemoteConnectorError, refusedWith?: number): void {
    const step = this.#stream.after({ error, evidence: this.#evidence(), refusedWith }, this.#spec.cancellable);
    if (step.kind === "fail") {
      this.#failOrRetry(step.error);
      return;
    }
    this.#reached = "unknown";
    const { clock } = this.#host.endpoint.config;
    this.#wait()?.until(
      (run) => clock.schedule(step.delayMs, run),
      () => this.#resume(step.lastEventId),
    );
  }

  onNoStream(refusal: RemoteConnectorError): void {
    this.#failOrRetry(this.#stream.givenUp(refusal, this.#evidence()));
  }

  onSessionLost(answer: WholeAnswer): boolean {
    const scope = this.#scope;
    const canRenew = this.#bound === undefined && this.#spec.isSentOnce !== true && !this.#renewed;
    if (!canRenew || scope?.id === undefined) return false;
    this.#renewed = true;
    this.#reached = "answered";
    this.#request.tell(resultOfError(refusalOf(answer)));
    this.#postIn(this.#host.renew(scope.generation));
    return true;
  }

  onNoResponse({ kind, error }: NoResponse): void {
    const seen = error.withEvidence(error.delivery, this.#evidence());
    if (kind === "failed" || !this.#host.isListening) {
      this.#failOrRetry(seen);
      return;
    }
    // The response may come on any stream of the session.
    this.#missing = seen;
    this.#reached = "unknown";
    const waiting = this.#wait(true);
    if (this.#host.isServing) waiting?.hold();
  }

  onRead(): void {
    if (this.#outcome.isOver || this.#waiting !== undefined) return;
    this.#outcome.fail(invalidAnswer("no response to the request").withEvidence("unknown", this.#evidence()));
  }

  onExchangeFailed(error: RemoteConnectorError, noConnection: boolean): void {
    const isResuming = this.#stream.hasEnded;
    if (isRemoteConnectorError(error, "timeout")) {
      const { phase } = error.details;
      this.#passDeadline(phase === "total" ? this.#time.passed(error.delivery, this.#evidence()) : error);
    } else if (noConnection && !isResuming && this.#canReconnect()) {
      this.#reconnected = true;
      this.#request.tell(resultOfError(error));
      this.#post(this.#scope);
    } else if (error.code === "connection_broken" || (noConnection && isResuming)) {
      this.onStreamOver(error);
    } else {
      this.#failOrRetry(isResuming ? this.#asUnknown(error) : error);
    }
  }

  onAborted(reason: unknown, delivery: Delivery): void {
    if (this.#outcome.isOver) return;
    const known = this.#stream.hasEnded ? "unknown" : delivery;
    this.#cancelRequest(known);
    this.#outcome.abort(reason, known);
  }

  onFault(cause: unknown): void {
    this.#outcome.failInternally(cause, this.#evidence());
  }

  onAnswer(answer: Answer, message: Uint8Array | string, diagnostic: Diagnostic | undefined): void {
    if (this.#outcome.isOver) return;
    const context = this.#exchange?.context;
    this.#waiting?.end();
    this.#exchange?.leave();
    if (diagnostic !== undefined) this.#outcome.note(diagnostic);
    const { read, method, params } = this.#spec;
    let value: T;
    try {
      const received = { answer, message, context };
      value = read(new HttpReceivedAnswer(received, this.#outcome.diagnostics, this.#outcome.note));
    } catch (error) {
      if (isRemoteConnectorError(error)) this.#failOrRetry(error.withEvidence(error.delivery, this.#evidence()));
      else this.onFault(error);
      return;
    }
    this.#host.onResult(method, params);
    this.#outcome.resolve(value, answer);
  }

  onProgress(progress: Progress): void {
    if (this.#outcome.isOver) return;
    this.#waiting?.touch();
    this.#listeners?.progress(progress);
  }

  onNotification(notification: Notification): void {
    if (!this.#outcome.isOver) this.#listeners?.notification(notification);
  }

  hold(): void {
    this.#exchange?.hold();
    this.#waiting?.hold();
  }

  release(): void {
    this.#exchange?.release();
    this.#waiting?.release();
  }

  touch(): void {
    this.#waiting?.touch();
  }

  onDeaf(): void {
    const error = this.#missing;
    if (error !== undefined && this.#waiting?.end() === true) this.#failOrRetry(error);
  }

  onClosed(): void {
    if (this.#outcome.isOver) return;
    const delivery = this.#delivery();
    this.#outcome.fail(closedError().withEvidence(delivery, this.#evidence()));
    this.#exchange?.leave();
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
        if (isRemoteConnectorError(error)) this.#outcome.fail(error.withEvidence(this.#reached, this.#evidence()));
        else this.onFault(error);
      },
    );
  }

  #post(scope: RequestScope | undefined): void {
    if (scope === undefined) return;
    const { method, admit } = this.#spec;
    const limits = this.#limits();
    if (limits === undefined) return;
    try {
      const attempt = this.#exchanges + 1;
      this.#request.open(this, attempt);
      this.#scope = scope;
      const headers = [...scope.postHeaders];
      const { body } = this.#request;
      this.#begin(scope, {
        method: "POST",
        operation: method,
        purpose: this.#purpose,
        headers,
        body,
        acceptsStream: true,
        maxRedirects: this.maxRedirects,
        attempt,
        limits,
        admit,
      });
    } catch (error) {
      this.onFault(error);
    }
  }

  #resume(lastEventId: string): void {
    const limits = this.#limits();
    const scope = this.#scope;
    if (limits === undefined || scope === undefined) return;
    this.#stream.place.beginAttempt();
    const headers = [...scope.getHeaders, "Last-Event-ID", lastEventId];
    const attempt = this.#exchanges + 1;
    this.#begin(scope, {
      method: "GET",
      operation: "GET",
      purpose: this.#purpose,
      headers,
      body: null,
      acceptsStream: true,
      attempt,
      limits,
    });
  }

  #begin(scope: RequestScope, request: HttpCallRequest): void {
    this.#waiting = undefined;
    this.#exchanges += 1;
    // Before it begins: what fails meanwhile can begin the next one.
    const exchange = new SessionExchange(this.#host, this, scope, this.#bound);
    this.#exchange = exchange;
    exchange.begin(this.#bound?.endpoint ?? this.#host.endpoint, request);
  }

  /** Ends the call, or makes a read that may yet succeed again, as if nothing had been. */
  #failOrRetry(error: RemoteConnectorError): void {
    if (this.#outcome.isOver) return;
    const delayMs = this.#retryDelayMs(error);
    if (delayMs === undefined) {
      this.#outcome.fail(error);
      return;
    }
    this.#request.tell(resultOfError(error));
    this.#missing = undefined;
    this.#retries += 1;
    this.#reached = error.delivery;
    this.#stream = new StreamResumption(this.#host.resume);
    const { clock } = this.#host.endpoint.config;
    this.#wait()?.until(
      (run) => clock.schedule(delayMs, run),
      () => this.#postIn(this.#host.session()),
    );
  }

  #canReconnect(): boolean {
    return !this.#reconnected && this.#spec.isSentOnce !== true && !this.#host.endpoint.isClosed;
  }

  #retryDelayMs(error: RemoteConnectorError): number | undefined {
    if (this.#bound !== undefined || this.#spec.isSentOnce === true || this.#host.isClosed) return undefined;
    const delayMs = readRetryDelayMs(this.#spec.method, error, this.#retries, this.#host.readRetries);
    return delayMs !== undefined && this.#time.outlasts(delayMs) ? delayMs : undefined;
  }

  /** Waits while no exchange is under way; `undefined` when there is nothing to wait for any more. */
  #wait(isIdle = false): CallWait | undefined {
    const limits = this.#limits();
    if (limits === undefined) return undefined;
    if (limits.signal?.aborted === true) {
      this.onAborted(limits.signal.reason, this.#reached);
      return undefined;
    }
    const owner = {
      onAbort: (reason: unknown) => this.onAborted(reason, this.#reached),
      onDeadline: (phase: DeadlinePhase, limitMs: number) => this.#passWaiting(phase, limitMs),
    };
    this.#waiting = new CallWait(this.#host.endpoint.lifetimes, limits, owner, isIdle);
    return this.#waiting;
  }

  /** What is left of the deadlines; `undefined` when the total one has passed, which ends the call. */
  #limits(): LifetimeLimits | undefined {
    const limits = this.#time.left();
    if (limits === undefined) this.#passDeadline(this.#time.passed(this.#delivery(), this.#evidence()));
    return limits;
  }

  #passWaiting(phase: DeadlinePhase, limitMs: number): void {
    const evidence = this.#evidence();
    this.#passDeadline(
      phase === "total"
        ? this.#time.passed(this.#reached, evidence)
        : deadlineFailure(phase, limitMs).withEvidence(this.#reached, evidence),
    );
  }

  #passDeadline(error: RemoteConnectorError): void {
    if (this.#outcome.isOver) return;
    const known = this.#stream.hasEnded ? this.#asUnknown(error) : error;
    this.#cancelRequest(known.delivery);
    this.#outcome.fail(known);
  }

  #asUnknown(error: RemoteConnectorError): RemoteConnectorError {
    return error.withEvidence("unknown", this.#evidence());
  }

  /** Only a request that may be running is worth a word. */
  #cancelRequest(delivery: Delivery): void {
    const isRunning = delivery === "unknown" && this.#spec.cancellable;
    if (isRunning && this.#scope !== undefined) this.#host.cancelRequest(this.#scope, this.#request.id);
  }

  #delivery(): Delivery {
    if (this.#stream.hasEnded) return "unknown";
    if (this.#waiting !== undefined) return this.#reached;
    return this.#evidence().handedOver ? "unknown" : "not_sent";
  }

  #evidence(): DeliveryEvidence {
    return this.#exchange?.evidence() ?? NOTHING_SENT;
  }

  report(diagnostic: Diagnostic): void {
    this.#host.report(diagnostic);
  }

  onOver(): void {
    this.#waiting?.end();
    this.#host.onSettled(this);
  }
}
