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
  isJsonObject,
  type JsonObject,
  memberRange,
  type Message,
  MetaKey,
  type MirroredHeader,
  RpcCode,
  type StreamEvent,
} from "../protocol/index.js";
import type { AnswerHead, Deadlines, HttpCall, HttpCallOwner, HttpEndpoint } from "../transport/index.js";
import type { CallOptions } from "./call-options.js";
import { type AnswerVerdict, classifyAnswer, classifyResponse, matchId, parseJson } from "./classify-answer.js";
import type { ModernClientConfig } from "./client-options.js";
import { encodeMeta } from "./request-meta.js";
import { encodeBody, encodeHeaders, type OutgoingRequest } from "./request-message.js";

/** What a call came to. */
export interface CallOutcome {
  readonly result: JsonObject;
  /** The whole message that holds the result, as it came: a body's bytes, or an event's data. */
  readonly message: Uint8Array | string;
  readonly diagnostics: Diagnostic[];
}

/** The exact bytes of an outcome's result. */
export function rawResultOf(outcome: CallOutcome): Uint8Array {
  const message = typeof outcome.message === "string" ? Buffer.from(outcome.message) : outcome.message;
  const range = memberRange(message, ["result"]);
  return range === undefined ? new Uint8Array() : message.subarray(range.start, range.end);
}

/** What all calls of a client share. */
export interface CallContext {
  readonly config: ModernClientConfig;
  readonly endpoint: HttpEndpoint;
  /** The next request id: unique for the client's life, from 1. */
  nextId(): number;
}

/** What sets a call apart. */
export interface CallPlan<T> {
  readonly request: OutgoingRequest;
  readonly options: CallOptions;
  readonly deadlines: Deadlines;
  /** The headers that mirror the request's arguments, or how to find them. */
  readonly mirrored: readonly MirroredHeader[] | (() => Promise<readonly MirroredHeader[]>);
  /** Makes of the outcome what the caller gets. May throw a `RemoteConnectorError`. */
  readonly shape: (outcome: CallOutcome) => T;
  /**
   * What to do when the server says that the headers don't match the body: other headers to try once more with, or
   * `undefined` to give up. The refused request was not executed.
   */
  readonly correctHeaders?: (() => Promise<readonly MirroredHeader[] | undefined>) | undefined;
}

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
  #progress = -Infinity;
  #sawJunk = false;

  constructor(context: CallContext, plan: CallPlan<T>) {
    this.#context = context;
    this.#plan = plan;
    this.#startedAt = context.config.transport.clock.now();
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
        this.#notify(message.method, message.params);
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
    this.#progress = -Infinity;
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

  #notify(method: string, params: unknown): void {
    const { onProgress, onNotification } = this.#plan.options;
    if (method === "notifications/progress" && onProgress !== undefined) {
      if (!isJsonObject(params) || params[MetaKey.progressToken] !== this.#id) return;
      const { progress, total, message } = params;
      if (typeof progress !== "number") return;
      if (progress <= this.#progress) {
        this.#note({ kind: "progress_not_increasing", message: "Progress that does not increase was passed on." });
      }
      this.#progress = progress;
      this.#tell(onProgress, {
        progress,
        ...(typeof total === "number" ? { total } : {}),
        ...(typeof message === "string" ? { message } : {}),
      });
      return;
    }
    if (onNotification !== undefined) this.#tell(onNotification, { method, params });
  }

  /** A handler can't hold a call up or end it: its promise is not awaited, its failure is a diagnostic. */
  #tell<V>(handler: (value: V) => unknown, value: V): void {
    const onError = (): void => this.#note({ kind: "handler_failed", message: "A handler of the call threw." });
    try {
      const returned = handler(value);
      if (returned instanceof Promise) returned.catch(onError);
    } catch {
      onError();
    }
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
