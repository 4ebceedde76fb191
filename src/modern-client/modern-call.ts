import {
  type Delivery,
  type DeliveryEvidence,
  isRemoteConnectorError,
  recordDelivery,
  RemoteConnectorError,
} from "../errors.js";
import {
  classifyMessage,
  type Diagnostic,
  type Message,
  type MirroredHeader,
  RpcCode,
  type StreamEvent,
} from "../protocol/index.js";
import type { AnswerHead, HttpCall, HttpCallOwner } from "../transport/index.js";
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
  readonly promise: Promise<T>;
  readonly #context: CallContext;
  readonly #plan: CallPlan<T>;
  readonly #startedAt: number;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;
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
    let resolve: (value: T) => void = unset;
    let reject: (reason: unknown) => void = unset;
    this.promise = new Promise<T>((onValue, onReason) => {
      resolve = onValue;
      reject = onReason;
    });
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Sends the request. Failures settle the promise; nothing is thrown. */
  start(): this {
    const { options, mirrored } = this.#plan;
    if (options.signal?.aborted === true) {
      this.onAbort(options.signal.reason, "not_sent");
    } else if (typeof mirrored === "function") {
      this.#await(
        mirrored(),
        "not_sent",
        (headers) => this.#sendWith(headers),
        (error) => this.#failUnsent(error),
      );
    } else {
      this.#sendWith(mirrored);
    }
    return this;
  }

  onBody(head: AnswerHead, body: Uint8Array): void {
    this.#conclude(classifyAnswer(head, body, this.#plan.request.method, this.#id), body);
  }

  onEvent({ data, unterminated }: StreamEvent): void {
    if (data === "") return;
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
          subject: message.method,
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

  onFailure(error: RemoteConnectorError): void {
    if (error.code === "connect_failed" && !this.#reconnected && !this.#context.endpoint.isClosed) {
      this.#reconnected = true;
      this.#send();
      return;
    }
    this.#fail(error);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    if (!this.#settle()) return;
    recordDelivery(this.promise, reason, delivery);
    this.#reject(reason);
  }

  #send(): void {
    const { request, options, deadlines } = this.#plan;
    const { config, endpoint } = this.#context;
    this.#attempt += 1;
    this.#id = this.#context.nextId();
    this.#sawJunk = false;
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
      const { error } = verdict;
      if (isRemoteConnectorError(error, "peer_error") && this.#correct(error)) return;
      this.#fail(error);
      return;
    }
    try {
      const value = this.#plan.shape({ result: verdict.result, message, diagnostics: this.#diagnostics });
      if (this.#settle()) this.#resolve(value);
    } catch (error) {
      this.#fail(error);
    }
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
      correctHeaders(),
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
    promise: Promise<V>,
    delivery: Delivery,
    onValue: (value: V) => void,
    onError: (error: unknown) => void,
  ): void {
    const { deadlines, options } = this.#plan;
    const lifetime = this.#context.endpoint.lifetimes.open(
      {
        onAbort: (reason) => this.onAbort(reason, delivery),
        onDeadline: () => this.#fail(totalTimeout(deadlines.totalTimeoutMs, delivery)),
      },
      { ...deadlines, totalTimeoutMs: this.#timeLeft(), signal: options.signal },
    );
    promise.then(
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

  #note(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
    this.#context.config.onDiagnostic?.(diagnostic);
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    return true;
  }
}

const STREAM_HEAD: AnswerHead = { status: 200, mediaType: "text/event-stream", headers: {} };

const NOTHING_SENT: DeliveryEvidence = {
  handedOver: false,
  headersSeen: false,
  messages: 0,
  elapsedMs: 0,
  attempts: 0,
};

function totalTimeout(limitMs: number, delivery: Delivery): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The call passed its total deadline of ${String(limitMs)} ms (totalTimeoutMs).`,
    delivery,
    details: { phase: "total", option: "totalTimeoutMs", limitMs },
  });
}

function sameHeaders(a: readonly MirroredHeader[], b: readonly MirroredHeader[]): boolean {
  return a.length === b.length && a.every(({ header, value }, i) => header === b[i]?.header && value === b[i]?.value);
}

function unset(): void {
  // Replaced synchronously by the promise's executor.
}
