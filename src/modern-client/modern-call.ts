import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import {
  classifyMessage,
  type Diagnostic,
  type Message,
  type MirroredHeader,
  plainText,
  RpcCode,
  type StreamEvent,
} from "../protocol/index.js";
import { type AnswerHead, type HttpCall, type HttpCallOwner, Settlement } from "../transport/index.js";
import type { CallContext, CallPlan } from "./call-plan.js";
import { type AnswerVerdict, classifyAnswer, classifyResponse, matchId, parseJson } from "./classify-answer.js";
import { NotificationRelay } from "./notification-relay.js";
import { encodeMeta } from "./request-meta.js";
import { encodeBody, encodeHeaders } from "./request-message.js";

/**
 * One call: a request, its answer, and the attempts that this takes.
 *
 * A second attempt, with a new id, is made in two cases, in both of which the first was not executed: when no connection
 * could be made, and when the server refused the headers and a fresh list gives other ones.
 */
export class ModernCall<T> implements HttpCallOwner {
  readonly #settlement = new Settlement<T>();
  readonly #context: CallContext;
  readonly #plan: CallPlan<T>;
  readonly #startedAt: number;
  readonly #diagnostics: Diagnostic[] = [];
  #attempt = 0;
  #id = 0;
  #mirrored: readonly MirroredHeader[] = [];
  #http: HttpCall | undefined;
  #settled = false;
  #corrected = false;
  #reconnected = false;
  readonly #relay: NotificationRelay | undefined;
  #sawJunk = false;

  constructor(context: CallContext, plan: CallPlan<T>) {
    this.#context = context;
    this.#plan = plan;
    this.#startedAt = context.config.transport.clock.now();
    const { onProgress, onNotification } = plan.options;
    if (onProgress !== undefined || onNotification !== undefined) {
      this.#relay = new NotificationRelay(plan.options, (diagnostic) => this.#note(diagnostic));
    }
  }

  get promise(): Promise<T> {
    return this.#settlement.promise;
  }

  /** Sends the request. Failures settle the promise; nothing is thrown. */
  start(): this {
    const { mirrored } = this.#plan;
    if (typeof mirrored === "function") {
      this.#await(
        mirrored,
        "not_sent",
        (headers) => this.#sendWith(headers),
        (error) => this.#failUnsent(error),
      );
    } else {
      this.#sendWith(mirrored);
    }
    return this;
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    try {
      const { url } = this.#context.endpoint;
      const verdict = classifyAnswer({ head, body, isWhole, url }, this.#plan.request.method, this.#id);
      this.#conclude(verdict, body);
    } catch (error) {
      this.#failInternally(error);
    }
  }

  onEvent(event: StreamEvent): void {
    try {
      if (event.data !== "") this.#read(event);
    } catch (error) {
      this.#http?.finish();
      this.#failInternally(error);
    }
  }

  #read({ data, unterminated }: StreamEvent): void {
    const message = classifyMessage(parseJson(data));
    if (unterminated && message.kind !== "invalid") {
      this.#note({ kind: "unterminated_event", message: "The last event of the stream came without its blank line." });
    }
    switch (message.kind) {
      case "notification":
        this.#relay?.notify(message.method, message.params, this.#id);
        return;
      case "request":
        this.#note({
          kind: "server_request",
          message: "The server sent a request, which this revision does not allow.",
          subject: plainText(message.method, 128),
        });
        return;
      case "invalid":
        if (message.id !== undefined && matchId(message.id, this.#id) === "same") this.#answer(message, data);
        else this.#skipJunk(message.reason, unterminated);
        return;
      case "result":
      case "error":
        if (matchId(message.id, this.#id) !== "other") this.#answer(message, data);
        else
          this.#note({
            kind: "unmatched_response",
            message: "A response on the stream belongs to no request of ours.",
          });
    }
  }

  onStreamEnd(evidence: DeliveryEvidence): void {
    this.#fail(
      new RemoteConnectorError("stream_ended", {
        message: "The stream ended without the response.",
        delivery: "unknown",
        details: { reason: "end of stream", evidence },
      }),
    );
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (noConnection && !this.#reconnected && !this.#context.endpoint.isClosed) {
      this.#reconnected = true;
      this.#send();
      return;
    }
    const isTotal = isRemoteConnectorError(error, "timeout") && error.details.phase === "total";
    // A later attempt had only what was left of the deadline; the caller knows the whole.
    this.#fail(isTotal ? this.#totalTimeout(error.delivery) : error);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    if (this.#settle()) this.#settlement.abort(reason, delivery);
  }

  #send(): void {
    const { request, options, deadlines } = this.#plan;
    const { config, endpoint } = this.#context;
    this.#attempt += 1;
    this.#id = this.#context.nextId();
    this.#sawJunk = false;
    this.#relay?.begin();
    try {
      const progressToken = options.onProgress === undefined ? undefined : this.#id;
      const metaJson = encodeMeta(config.meta, { members: request.meta, progressToken, logLevel: options.logLevel });
      const call = {
        method: "POST",
        operation: request.method,
        headers: encodeHeaders(config.headers, request, this.#mirrored),
        body: encodeBody(request, this.#id, metaJson),
        acceptsStream: true,
        attempt: this.#attempt,
        limits: { ...deadlines, totalTimeoutMs: this.#timeLeft(), signal: options.signal },
        admit: options.admit,
      } as const;
      this.#http = endpoint.begin(call, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What is left of the total deadline, which runs through all attempts. */
  #timeLeft(): number {
    const { totalTimeoutMs } = this.#plan.deadlines;
    if (totalTimeoutMs === Infinity) return totalTimeoutMs;
    return Math.max(1, totalTimeoutMs - (this.#context.config.transport.clock.now() - this.#startedAt));
  }

  #answer(message: Message, data: string): void {
    this.#http?.finish();
    const verdict = classifyResponse(message, this.#plan.request.method, this.#id, STREAM_HEAD);
    this.#conclude(verdict, data);
  }

  #conclude(verdict: AnswerVerdict, message: Uint8Array | string): void {
    if (verdict.idAsString === true) {
      this.#note({ kind: "id_echoed_as_string", message: "The response carries our id as a string." });
    }
    if (verdict.kind === "failed") {
      const error = this.#withEvidence(verdict.error);
      if (isRemoteConnectorError(error, "peer_error") && this.#correct(error)) return;
      this.#fail(this.#plan.refine?.(error) ?? error);
      return;
    }
    try {
      const value = this.#plan.shape({ result: verdict.result, message, diagnostics: this.#diagnostics });
      if (this.#settle()) this.#settlement.resolve(value);
    } catch (error) {
      if (isRemoteConnectorError(error)) this.#fail(this.#withEvidence(error));
      else this.#failInternally(error);
    }
  }

  #withEvidence(error: RemoteConnectorError): RemoteConnectorError {
    return this.#http === undefined ? error : error.withEvidence(error.delivery, this.#http.evidence());
  }

  /** Whether another attempt with other headers is under way. */
  #correct(refusal: RemoteConnectorError<"peer_error">): boolean {
    const { correctHeaders } = this.#plan;
    if (refusal.details.rpcCode !== RpcCode.headerMismatch || correctHeaders === undefined || this.#corrected) {
      return false;
    }
    this.#corrected = true;
    const giveUp = (): void => this.#fail(refusal);
    this.#await(
      correctHeaders,
      "answered",
      (headers) => {
        if (headers === undefined || sameHeaders(headers, this.#mirrored)) giveUp();
        else this.#sendWith(headers);
      },
      giveUp,
    );
    return true;
  }

  /** Waits under the call's own signal and total deadline, while no request of it is under way. */
  #await<V>(
    begin: () => Promise<V>,
    delivery: Delivery,
    onValue: (value: V) => void,
    onError: (error: unknown) => void,
  ): void {
    const { deadlines, options } = this.#plan;
    const { signal } = options;
    if (signal?.aborted === true) {
      this.onAbort(signal.reason, delivery);
      return;
    }
    const lifetime = this.#context.endpoint.lifetimes.open(
      {
        onAbort: (reason) => this.onAbort(reason, delivery),
        onDeadline: () => this.#fail(this.#totalTimeout(delivery)),
      },
      { ...deadlines, totalTimeoutMs: this.#timeLeft(), signal },
    );
    // Begun when the watch is open: what begins can be the caller's code, and may abort the call.
    begin().then(
      (value) => {
        lifetime.close();
        if (!this.#settled) onValue(value);
      },
      (error: unknown) => {
        lifetime.close();
        if (!this.#settled) onError(error);
      },
    );
  }

  #totalTimeout(delivery: Delivery): RemoteConnectorError<"timeout"> {
    const limitMs = this.#plan.deadlines.totalTimeoutMs;
    const error = new RemoteConnectorError("timeout", {
      message: `The call passed its total deadline of ${String(limitMs)} ms (totalTimeoutMs).`,
      delivery,
      details: { phase: "total", option: "totalTimeoutMs", limitMs, evidence: this.#http?.evidence() ?? NOTHING_SENT },
    });
    return error;
  }

  #sendWith(mirrored: readonly MirroredHeader[]): void {
    this.#mirrored = mirrored;
    this.#send();
  }

  /** What failed was a request of another kind, made for this one, of which nothing was sent. */
  #failUnsent(error: unknown): void {
    this.#fail(isRemoteConnectorError(error) ? error.withEvidence("not_sent", NOTHING_SENT) : error);
  }

  /** Cut data is not worth a word: the failure that follows says more. */
  #skipJunk(reason: string, unterminated: boolean): void {
    if (this.#sawJunk || unterminated) return;
    this.#sawJunk = true;
    this.#note({ kind: "not_a_message", message: `Data on the stream is no JSON-RPC message: ${reason}.` });
  }

  /** A peer that has much to be tolerated must not fill our memory with it. */
  #note(diagnostic: Diagnostic): void {
    if (this.#diagnostics.length < DIAGNOSTICS_KEPT) this.#diagnostics.push(diagnostic);
    this.#context.config.onDiagnostic(diagnostic);
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#settlement.fail(error);
  }

  #failInternally(cause: unknown): void {
    const evidence = this.#http?.evidence() ?? NOTHING_SENT;
    this.#fail(
      new RemoteConnectorError("internal_error", {
        message: "A fault inside the client ended the call.",
        delivery: evidence.handedOver ? "unknown" : "not_sent",
        details: { reason: "unexpected throw", evidence },
        cause,
      }),
    );
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    return true;
  }
}

const DIAGNOSTICS_KEPT = 100;

const STREAM_HEAD: AnswerHead = { status: 200, mediaType: "text/event-stream", headers: {} };

const NOTHING_SENT: DeliveryEvidence = {
  handedOver: false,
  headersSeen: false,
  messages: 0,
  elapsedMs: 0,
  attempts: 0,
};

function sameHeaders(a: readonly MirroredHeader[], b: readonly MirroredHeader[]): boolean {
  return a.length === b.length && a.every(({ header, value }, i) => header === b[i]?.header && value === b[i]?.value);
}
