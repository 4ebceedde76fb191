import {
  type Delivery,
  type DeliveryEvidence,
  type ErrorCode,
  type ErrorDetails,
  RemoteConnectorError,
} from "../errors.js";
import type { Answer, Diagnostic, LegacyRevision, Notification, Progress } from "../protocol/index.js";
import {
  type DeadlinePhase,
  type ExchangeTelemetry,
  failureOf,
  type Lifetime,
  type LifetimeOwner,
  type Lifetimes,
  resultOfAbort,
  resultOfError,
  Settlement,
  type Telemetry,
} from "../transport/index.js";
import type { Outgoing } from "../transport/process/index.js";
import { CallListeners } from "./call-listeners.js";
import type { CallSpec } from "./connection.js";
import { encodeTold, resultOfRead, tellOf } from "./told-request.js";

/** A request under way, whatever its result will be. */
export interface OpenCall extends Outgoing {
  readonly id: number;
  /** The server shows that it lives, in a way that belongs to no other call. */
  touch(): void;
  /** The server waits for us: until {@link release} its silence is no fault. */
  hold(): void;
  release(): void;
  onAnswer(answer: Answer, line: Uint8Array, diagnostic: Diagnostic | undefined): void;
  onProgress(progress: Progress): void;
  onNotification(notification: Notification): void;
  /** Ends the call with an error whose verdict is what is known while no answer is. */
  fail<C extends ErrorCode>(code: C, message: string, details: ErrorDetails[C], cause?: unknown): void;
  /** As {@link fail}; the verdict of `error` itself does not count. */
  failWith(error: RemoteConnectorError): void;
  /** Ends the call with a refusal of the peer, whose own verdict counts. */
  refuse(error: RemoteConnectorError): void;
}

/** What a call needs of the connection that it runs on. */
export interface CallHost {
  readonly lifetimes: Lifetimes;
  now(): number;
  /** Called right before the line is written: from now on it can be answered. */
  onSending(call: OpenCall): void;
  /** The call is settled. */
  onSettled(call: OpenCall): void;
  /** The pipe broke before the line was written, or while it was. */
  onSendFailed(call: OpenCall, cause: Error): void;
  /** Tell the server that nobody waits for the answer any more. */
  cancelRequest(id: number): void;
  report(diagnostic: Diagnostic): void;
  readonly telemetry: Telemetry;
  /** The revision that was agreed on. */
  revision(): LegacyRevision | undefined;
}

/**
 * One request under way, from the caller's wish to its settlement.
 *
 * It is settled once, by whatever comes first: an answer, a deadline, the caller's abort, or the end of the connection. Its
 * delivery verdict turns on one moment: when its line was handed to the server's stdin.
 */
export class PendingCall<T> implements OpenCall, LifetimeOwner {
  readonly id: number;
  readonly #spec: CallSpec<T>;
  readonly #host: CallHost;
  /** The encoded request. */
  readonly line: string;
  readonly #settlement: Settlement<T>;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #listeners: CallListeners;
  readonly #startedAt: number;
  readonly #told: ExchangeTelemetry | undefined;
  #lifetime: Lifetime | undefined;
  /** How far it got, while no answer is known. */
  #reached: Delivery = "not_sent";
  #settled = false;
  #messages = 0;

  /** Throws `invalid_argument` (`not_sent`) for what can't be sent. */
  constructor(id: number, spec: CallSpec<T>, host: CallHost) {
    this.id = id;
    this.#told = tellOf(host.telemetry.call(), spec, { id, attempt: 1, protocolVersion: host.revision() });
    this.line = encodeTold(spec, id, this.#told);
    this.#spec = spec;
    this.#settlement = new Settlement(spec.onSettled);
    this.#host = host;
    this.#listeners = new CallListeners(spec, (diagnostic) => this.#note(diagnostic));
    this.#startedAt = host.now();
  }

  get promise(): Promise<T> {
    return this.#settlement.promise;
  }

  /** Starts the clock. False when the caller's signal had fired before: then the call is settled, and nothing is sent. */
  begin(): boolean {
    const { signal } = this.#spec.limits;
    if (signal?.aborted === true) {
      this.onAbort(signal.reason);
      return false;
    }
    this.#lifetime = this.#host.lifetimes.open(this, this.#spec.limits);
    this.#lifetime.connecting();
    return true;
  }

  take(): string | undefined {
    if (this.#settled || !this.#isAdmitted()) return undefined;
    this.#reached = "unknown";
    this.#host.onSending(this);
    this.#lifetime?.established();
    return this.line;
  }

  /** It was refused before it could run, and may be made again: until {@link takeUp} nothing is waited for of the peer. */
  putOff(): void {
    this.#reached = "answered";
    this.#lifetime?.waiting();
  }

  /** It is about to be taken again. */
  takeUp(): void {
    this.#reached = "not_sent";
    this.#lifetime?.connecting();
  }

  failed(cause: Error): void {
    if (!this.#settled) this.#host.onSendFailed(this, cause);
  }

  onDeadline(phase: DeadlinePhase, limitMs: number): void {
    const { totalTimeoutMs, totalOption } = this.#spec;
    const option = phase === "total" ? totalOption : `${phase}TimeoutMs`;
    const limit = phase === "total" ? (totalTimeoutMs ?? limitMs) : limitMs;
    const message = `The request passed its ${phase} deadline of ${String(limit)} ms (${option}).`;
    this.#cancelRequest();
    this.fail("timeout", message, { phase, option, limitMs: limit });
  }

  onAbort(reason: unknown): void {
    this.#cancelRequest();
    if (!this.#end()) return;
    this.#told?.end(resultOfAbort(this.#reached));
    this.#settlement.abort(reason, this.#reached);
  }

  touch(): void {
    // While it waits to be written it is the server's reading that is waited for.
    if (this.#isRunning) this.#lifetime?.touch();
  }

  hold(): void {
    this.#lifetime?.hold();
  }

  release(): void {
    this.#lifetime?.release();
  }

  onAnswer(answer: Answer, line: Uint8Array, diagnostic: Diagnostic | undefined): void {
    if (!this.#end()) return;
    this.#messages += 1;
    if (diagnostic !== undefined) this.#note(diagnostic);
    try {
      const note = (noted: Diagnostic): void => this.#note(noted);
      const value = this.#spec.read({ answer, line, diagnostics: this.#diagnostics, note });
      this.#told?.end(resultOfRead(answer));
      this.#settlement.resolve(value);
    } catch (error) {
      const known = failureOf(error, "answered");
      this.#reject(known, known.delivery);
    }
  }

  onProgress(progress: Progress): void {
    // Nobody asked for it under this token.
    if (this.#settled || this.#spec.onProgress === undefined) return;
    this.#messages += 1;
    this.touch();
    this.#listeners.progress(progress);
  }

  onNotification(notification: Notification): void {
    if (this.#isRunning) this.#listeners.notification(notification);
  }

  fail<C extends ErrorCode>(code: C, message: string, details: ErrorDetails[C], cause?: unknown): void {
    this.failWith(new RemoteConnectorError(code, { message, details, cause }));
  }

  failWith(error: RemoteConnectorError): void {
    if (this.#end()) this.#reject(error, this.#reached);
  }

  refuse(error: RemoteConnectorError): void {
    if (this.#end()) this.#reject(error, error.delivery);
  }

  #isAdmitted(): boolean {
    const { admit } = this.#spec;
    if (admit === undefined) return true;
    try {
      const refusal = admit();
      if (refusal === undefined) return true;
      this.fail("not_admitted", `The request was not admitted: ${refusal}.`, { reason: refusal });
    } catch (cause) {
      this.fail("not_admitted", "The request was not admitted: admit threw.", { reason: "admit threw" }, cause);
    }
    return false;
  }

  #cancelRequest(): void {
    if (!this.#settled && this.#isRunning && this.#spec.cancellable) this.#host.cancelRequest(this.id);
  }

  #reject(error: RemoteConnectorError, delivery: Delivery): void {
    const seen = error.withEvidence(delivery, this.#evidence());
    this.#told?.end(resultOfError(seen));
    this.#settlement.fail(seen);
  }

  /** It was handed over, and no answer is known. */
  get #isRunning(): boolean {
    return this.#reached === "unknown";
  }

  #evidence(): DeliveryEvidence {
    return {
      handedOver: this.#reached !== "not_sent",
      headersSeen: false,
      messages: this.#messages,
      elapsedMs: Math.round(this.#host.now() - this.#startedAt),
      attempts: 1,
    };
  }

  #note(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
    this.#host.report(diagnostic);
  }

  #end(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#lifetime?.close();
    this.#host.onSettled(this);
    return true;
  }
}
