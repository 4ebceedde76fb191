import type { RemoteConnectorError } from "../../errors.js";
import { isNotAuthorized, parseJson, parseRetryAfter, type StreamEvent } from "../../protocol/index.js";
import {
  type AnswerHead,
  closedError,
  hintsOf,
  type HttpCall,
  type HttpCallOwner,
  type HttpEndpoint,
  isSuccess,
} from "../../transport/index.js";
import { type ListeningEnd, planListening } from "./plan-listening.js";
import type { ResumeConfig } from "./plan-resume.js";
import type { RequestScope } from "./session.js";
import { StreamPlace } from "./stream-place.js";

/** What a listening stream needs of its connection. */
export interface ListeningHost {
  readonly endpoint: HttpEndpoint;
  readonly resume: ResumeConfig;
  readonly connectTimeoutMs: number;
  readonly wallNow: () => number;
  receive(value: unknown, message: string): void;
  /** It is not opened again. `reason` is missing when the server never had one. */
  onListeningEnd(reason: string | undefined): void;
  onSessionLost(scope: RequestScope): void;
}

/** A stream that was open for so long did what it is for, though nothing came. */
const STABLE_MS = 10_000;

/**
 * The one stream of a session on which the server speaks by itself; opened again when it ends, as {@link planListening} says.
 *
 * No call waits for it, and its failures are nobody's. Source: 2025-11-25, Transports, Listening for Messages from the
 * Server; Resumability and Redelivery.
 */
export class ListeningStream implements HttpCallOwner {
  /** Resolves when the server has first answered, or could not. Never rejects. */
  readonly answered: Promise<void>;
  readonly #host: ListeningHost;
  readonly #scope: RequestScope;
  #onAnswered: () => void = ignore;
  #http: HttpCall | undefined;
  #cancelTimer: (() => void) | undefined;
  #isClosed = false;
  #hasWorked = false;
  #openedAt: number | undefined;
  readonly #place = new StreamPlace();

  constructor(host: ListeningHost, scope: RequestScope) {
    this.#host = host;
    this.#scope = scope;
    this.answered = new Promise((resolve) => {
      this.#onAnswered = resolve;
    });
  }

  /** Whether it was open, and is or will be again. */
  get isKept(): boolean {
    return this.#hasWorked && !this.#isClosed;
  }

  open(): void {
    if (this.#isClosed) return;
    const { endpoint, connectTimeoutMs } = this.#host;
    this.#openedAt = undefined;
    this.#place.beginAttempt();
    const { lastEventId } = this.#place;
    const place = lastEventId === undefined ? [] : ["Last-Event-ID", lastEventId];
    const headers = [...this.#scope.getHeaders, ...place];
    // Silence is what it is for.
    const limits = { connectTimeoutMs, idleTimeoutMs: Infinity, totalTimeoutMs: Infinity };
    const call = {
      method: "GET",
      operation: "GET",
      headers,
      body: null,
      acceptsStream: true,
      attempt: 1,
      limits,
    } as const;
    const http = endpoint.begin(call, this);
    if (this.#cancelTimer === undefined) this.#http = http;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#http?.cancel(closedError());
    this.#onAnswered();
  }

  onHead({ status, mediaType }: AnswerHead): void {
    if (!isSuccess(status) || mediaType !== "text/event-stream") return;
    this.#hasWorked = true;
    this.#openedAt = this.#host.endpoint.config.clock.now();
    this.#onAnswered();
  }

  onRetry(retryMs: number): void {
    this.#place.retryMs = retryMs;
  }

  onEvent(event: StreamEvent): void {
    if (this.#isClosed) return;
    this.#place.moveTo(event);
    const { data, unterminated } = event;
    if (data === "") return;
    const value = parseJson(data);
    if (value === undefined && unterminated) return;
    this.#place.bearFruit();
    this.#host.receive(value, data);
  }

  onBody({ status, headers }: AnswerHead): void {
    const retryAfterMs = parseRetryAfter(hintsOf(headers).retryAfter, this.#host.wallNow());
    this.#over({ kind: "refused", status, retryAfterMs });
  }

  onStreamEnd(): void {
    this.#over({ kind: "ended" });
  }

  onFailure(error: RemoteConnectorError): void {
    if (isNotAuthorized(error)) this.#over({ kind: "unauthorized" });
    else this.#over(this.#openedAt === undefined ? { kind: "failed" } : { kind: "ended" });
  }

  onAbort(): void {
    // It has no signal.
  }

  #over(end: ListeningEnd): void {
    this.#onAnswered();
    if (this.#isClosed) return;
    const { clock } = this.#host.endpoint.config;
    if (this.#openedAt !== undefined && clock.now() - this.#openedAt >= STABLE_MS) this.#place.bearFruit();
    this.#place.endAttempt();
    const history = { ...this.#place.end(), hasWorked: this.#hasWorked, hasId: this.#scope.id !== undefined };
    const plan = planListening(end, history, this.#host.resume);
    switch (plan.kind) {
      case "open":
        this.#cancelTimer = clock.schedule(plan.delayMs, () => {
          this.#cancelTimer = undefined;
          this.open();
        });
        return;
      case "stop":
        this.#isClosed = true;
        this.#host.onListeningEnd(plan.reason);
        return;
      case "session_lost":
        this.#isClosed = true;
        this.#host.onSessionLost(this.#scope);
    }
  }
}

function ignore(): void {
  // Replaced by the promise's executor before anyone can call it.
}
