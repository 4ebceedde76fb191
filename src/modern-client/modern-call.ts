import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, type RemoteConnectorError } from "../errors.js";
import {
  type Diagnostic,
  invalidAnswer,
  type JsonObject,
  type MirroredHeader,
  readRetryDelayMs,
} from "../protocol/index.js";
import {
  type CallTelemetry,
  closedError,
  internalFault,
  NOTHING_SENT,
  resultOfError,
  Settlement,
} from "../transport/index.js";
import { afterRefusal } from "./after-refusal.js";
import type { CallContext, CallPlan } from "./call-plan.js";
import { CallWatch, type Waiting } from "./call-watch.js";
import type { ChannelCall, RequestOwner } from "./channel.js";
import type { AnswerVerdict } from "./classify-answer.js";
import { InputRounds } from "./input/index.js";
import type { CachePlace } from "./response-cache.js";
import { NotificationRelay } from "./notification-relay.js";
import { encodeMeta, withTrace } from "./request-meta.js";
import { encodeBody, type RoundInput } from "./request-message.js";
import { tellOf, toldOwner } from "./told-exchange.js";

/**
 * One call: a request, its answer, and the exchanges that this takes, each with an id of its own.
 *
 * A request is made again when no connection could be made, when the server refused its headers or its version and
 * another attempt can be better (in these cases it was not executed), when it is a read and its failure may pass, and with the
 * input that the server asked for. One that carries such input is never repeated by itself.
 */
export class ModernCall<T> implements RequestOwner {
  readonly #settlement: Settlement<T>;
  readonly #context: CallContext;
  readonly #plan: CallPlan<T>;
  readonly #watch: CallWatch;
  readonly #telemetry: CallTelemetry | undefined;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #relay: NotificationRelay | undefined;
  #attempt = 0;
  #id = 0;
  #mirrored: readonly MirroredHeader[] = [];
  #exchange: ChannelCall | undefined;
  #settled = false;
  #corrected = false;
  #reconnected = false;
  #versionTried = false;
  #retries = 0;
  /** How far the exchange before this one got, while no other is under way. */
  #reached: Delivery = "not_sent";
  #rounds: InputRounds | undefined;
  #input: RoundInput | undefined;
  #place: CachePlace | undefined;

  constructor(context: CallContext, plan: CallPlan<T>) {
    this.#context = context;
    this.#plan = plan;
    this.#telemetry = context.config.telemetry.call();
    this.#settlement = new Settlement(plan.options.onSettled);
    this.#input = plan.input;
    this.#watch = plan.watch ?? new CallWatch(context, plan.deadlines, plan.options.signal);
    const { onProgress, onNotification } = plan.options;
    if (onProgress !== undefined || onNotification !== undefined) {
      this.#relay = new NotificationRelay(plan.options, (diagnostic) => this.note(diagnostic));
    }
  }

  get promise(): Promise<T> {
    return this.#settlement.promise;
  }

  /** Sends the request. Failures settle the promise; nothing is thrown. */
  start(): this {
    const { mirrored } = this.#plan;
    if (this.#findKept()) return this;
    if (typeof mirrored === "function") {
      this.#await(mirrored, "not_sent", {
        onValue: (headers) => this.#sendWith(headers),
        onError: (error) => this.#failUnsent(error),
      });
    } else {
      this.#sendWith(mirrored);
    }
    return this;
  }

  onNotification(method: string, params: unknown): void {
    this.#relay?.notify(method, params, this.#id);
  }

  onVerdict(verdict: AnswerVerdict, message: Uint8Array | string): void {
    if (verdict.idAsString === true) {
      this.note({ kind: "id_echoed_as_string", message: "The response carries our id as a string." });
    }
    switch (verdict.kind) {
      case "failed":
        this.#refused(this.#withEvidence(verdict.error));
        return;
      case "asks":
        if (this.#plan.shapeAsks === undefined) this.#ask(verdict.result);
        else this.#deliver(verdict.result, message, this.#plan.shapeAsks);
        return;
      case "task":
        this.#deliver(verdict.result, message, this.#plan.shapeTask ?? refuseTask);
        return;
      case "result":
        if (this.#place !== undefined && this.#input === undefined) {
          this.#context.cache?.keep(this.#place, verdict.result, message);
        }
        this.#deliver(verdict.result, message, this.#plan.shape);
    }
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (noConnection && !this.#reconnected && this.#isRepeatable && !this.#context.channel.isClosed) {
      this.#reconnected = true;
      this.#send();
      return;
    }
    const isTotal = isRemoteConnectorError(error, "timeout") && error.details.phase === "total";
    this.#failOrRetry(isTotal ? this.#watch.totalTimeout(error.delivery, this.#evidence()) : error);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    if (this.#settle()) this.#settlement.abort(reason, delivery);
  }

  /** What carries input that was asked for is never repeated by itself, nor what the caller will not have repeated. */
  get #isRepeatable(): boolean {
    return this.#input === undefined && this.#plan.options.repeats !== "never";
  }

  /** Whether a kept result, or an abort that stands in its way, has settled the call. */
  #findKept(): boolean {
    const { cache } = this.#context;
    const { request, options, shape } = this.#plan;
    if (cache === undefined || this.#input !== undefined) return false;
    try {
      this.#place = cache.placeOf(request.method, request.paramsJson);
      if (this.#place === undefined || options.cache === "refresh" || options.signal?.aborted === true) return false;
      const kept = cache.find(this.#place);
      if (kept !== undefined) this.#deliver(kept.result, kept.message, shape);
      return kept !== undefined;
    } catch (error) {
      this.#failInternally(error);
      return true;
    }
  }

  #send(): void {
    const { request, options, deadlines } = this.#plan;
    const { config, channel } = this.#context;
    const { signal, logLevel, capabilities } = options;
    if (this.#watch.isOver) {
      this.#fail(this.#watch.totalTimeout(this.#reached, this.#evidence()));
      return;
    }
    const attempt = (this.#attempt += 1);
    this.#id = this.#context.nextId();
    this.#relay?.begin();
    const told = tellOf(this.#telemetry, request, this.#id, attempt);
    try {
      const progressToken = options.onProgress === undefined ? undefined : this.#id;
      const metaJson = encodeMeta(config.meta, { members: request.meta, progressToken, logLevel, capabilities });
      const message = {
        method: request.method,
        id: this.#id,
        name: request.name,
        mirrored: this.#mirrored,
        body: encodeBody(request, this.#id, withTrace(metaJson, told?.carried, config.meta, request.meta), this.#input),
        isLong: false,
        attempt,
        // Member by member: an object that is spread and then added to is slow to make, and slow to read ever after.
        limits: {
          connectTimeoutMs: deadlines.connectTimeoutMs,
          idleTimeoutMs: deadlines.idleTimeoutMs,
          totalTimeoutMs: this.#watch.timeLeft(),
          signal,
        },
        admit: options.admit,
        // Following one sends it again.
        maxRedirects: options.repeats === "never" ? 0 : undefined,
        purpose: this.#watch.purpose,
      };
      const exchange = channel.begin(message, toldOwner(this, told));
      // What fails while it begins can have begun the next one.
      if (attempt === this.#attempt) this.#exchange = exchange;
    } catch (error) {
      told?.end(resultOfError(error));
      if (isRemoteConnectorError(error)) this.#fail(error);
      else this.#failInternally(error);
    }
  }

  #sendWith(mirrored: readonly MirroredHeader[]): void {
    this.#mirrored = mirrored;
    this.#send();
  }

  #deliver(result: JsonObject, message: Uint8Array | string, shape: CallPlan<T>["shape"]): void {
    try {
      const value = shape({ result, message, diagnostics: this.#diagnostics });
      if (this.#settle()) this.#settlement.resolve(value);
    } catch (error) {
      if (isRemoteConnectorError(error)) this.#fail(this.#withEvidence(error));
      else this.#failInternally(error);
    }
  }

  #refused(error: RemoteConnectorError): void {
    this.#reached = error.delivery;
    const { correctHeaders, refine } = this.#plan;
    const canCorrect = correctHeaders !== undefined && !this.#corrected;
    const next = !this.#isRepeatable ? FAIL : afterRefusal(error, { canCorrect, canRepeat: !this.#versionTried });
    if (next.kind === "repeat") {
      this.#versionTried = true;
      this.#send();
    } else if (next.kind === "correct_headers" && correctHeaders !== undefined) {
      this.#corrected = true;
      const giveUp = (): void => this.#fail(error);
      this.#await(correctHeaders, "answered", {
        onValue: (headers) => {
          if (headers === undefined || sameHeaders(headers, this.#mirrored)) giveUp();
          else this.#sendWith(headers);
        },
        onError: giveUp,
      });
    } else {
      const failure = next.kind === "fail_with" ? this.#withEvidence(next.error) : error;
      this.#failOrRetry(refine?.(failure) ?? failure);
    }
  }

  /** Answers what the server asks for, and makes the request again with that. */
  #ask(result: JsonObject): void {
    this.#reached = "answered";
    const { config } = this.#context;
    try {
      this.#rounds ??= new InputRounds(config.input);
      const step = this.#rounds.next(result);
      const onValue = (input: RoundInput): void => {
        this.#input = input;
        this.#send();
      };
      const onError = (error: unknown): void => {
        if (isRemoteConnectorError(error)) this.#fail(this.#withEvidence(error));
        else this.#failInternally(error);
      };
      if (step.kind === "ask") {
        this.#await(step.answer, "answered", { onValue, onError, untimed: true });
      } else {
        this.#pause(step.delayMs, "answered", () => onValue(step.input));
      }
    } catch (error) {
      if (isRemoteConnectorError(error)) this.#fail(this.#withEvidence(error));
      else this.#failInternally(error);
    }
  }

  /** Ends the call, or makes a read that may yet succeed again. */
  #failOrRetry(error: RemoteConnectorError): void {
    const { config, channel } = this.#context;
    const { options, request } = this.#plan;
    const { method } = request;
    const canRetry = this.#isRepeatable && !channel.isClosed;
    const { maxReadRetries = config.readRetries.maxReadRetries } = options;
    const retries = { ...config.readRetries, maxReadRetries };
    const delayMs = canRetry ? readRetryDelayMs(method, error, this.#retries, retries) : undefined;
    if (delayMs === undefined || this.#watch.isOver || delayMs >= this.#watch.timeLeft()) {
      this.#fail(error);
      return;
    }
    this.#retries += 1;
    this.#reached = error.delivery;
    this.#pause(delayMs, error.delivery, () => this.#send());
  }

  #pause(delayMs: number, delivery: Delivery, onOver: () => void): void {
    const begin = (signal: AbortSignal): Promise<void> => this.#watch.pause(delayMs, signal);
    this.#await(begin, delivery, { onValue: onOver, onError: (error) => this.#failInternally(error) });
  }

  /** Waits while no request of this call is under way. */
  #await<V>(
    begin: Waiting<V>["begin"],
    delivery: Delivery,
    { onValue, onError, untimed = false }: Continuation<V>,
  ): void {
    const waiting = {
      begin,
      onValue,
      onError,
      onAbort: (reason: unknown) => this.onAbort(reason, delivery),
      onDeadline: () => this.#fail(this.#watch.totalTimeout(delivery, this.#evidence())),
      onClosed: () => this.#fail(closedError().withEvidence(delivery, this.#evidence())),
    };
    this.#watch.wait(waiting, { untimed });
  }

  #evidence(): DeliveryEvidence {
    return this.#exchange?.evidence() ?? NOTHING_SENT;
  }

  #withEvidence(error: RemoteConnectorError): RemoteConnectorError {
    return this.#exchange === undefined ? error : error.withEvidence(error.delivery, this.#exchange.evidence());
  }

  /** What failed was a request of another kind, made for this one, of which nothing was sent. */
  #failUnsent(error: unknown): void {
    this.#fail(isRemoteConnectorError(error) ? error.withEvidence("not_sent", NOTHING_SENT) : error);
  }

  /** A peer that has much to be tolerated must not fill our memory with it. */
  note(diagnostic: Diagnostic): void {
    if (this.#diagnostics.length < DIAGNOSTICS_KEPT) this.#diagnostics.push(diagnostic);
    this.#context.config.onDiagnostic(diagnostic);
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#settlement.fail(error);
  }

  #failInternally(cause: unknown): void {
    this.#fail(internalFault(cause, this.#evidence()));
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    return true;
  }
}

interface Continuation<V> {
  readonly onValue: (value: V) => void;
  readonly onError: (error: unknown) => void;
  readonly untimed?: boolean;
}

const FAIL = { kind: "fail" } as const;

function refuseTask(): never {
  throw invalidAnswer("a task where none was declared");
}

const DIAGNOSTICS_KEPT = 100;

function sameHeaders(a: readonly MirroredHeader[], b: readonly MirroredHeader[]): boolean {
  return a.length === b.length && a.every(({ header, value }, i) => header === b[i]?.header && value === b[i]?.value);
}
