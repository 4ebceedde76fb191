import type { ServerResponse } from "node:http";
import type { Linked } from "../../open-list.js";
import type { RequestId } from "../../protocol/index.js";
import { type ExtraHeaders, sendEmpty, sendJson, SseWriter } from "../../serving/index.js";
import type { Clock } from "../../transport/index.js";
import type { AgentQuestion, QuestionStream } from "./agent-question.js";
import { BatchPart } from "./batch-part.js";
import type { AgentInput, Binding } from "./ports.js";
import { RequestSignal } from "./request-signal.js";
import type { EndReason, Reply, RequestTarget } from "./request-target.js";

/** A stream that outlives its connection for a while: whoever comes back for it gets what was missed. */
export interface ResumableStream {
  /** Bytes that the connection has not taken yet. */
  readonly unsentBytes: number;
  /** Since when it has had no connection; `Infinity` while it has one. */
  readonly detachedAt: number;
  /** What is still `wanted` is sent again to a reader that missed it and can't be given it as it was. */
  send(
    line: string | Uint8Array,
    options?: { readonly droppable?: boolean | undefined; readonly wanted?: AgentQuestion | undefined },
  ): void;
  keepAlive(): void;
  /** Sends the answer, and ends it. */
  answer(body: string | Uint8Array): void;
  /** Ends it without an answer. */
  end(): void;
}

/** The session that a request came in. */
export interface ExchangeSession {
  /** After how long its answer becomes a stream, so that it can be resumed; `undefined`: only with the first message. */
  readonly streamAfterMs: number | undefined;
  /** Begins the stream of a request; `undefined` when it can't be resumed. */
  openStream(requestId: RequestId, response: ServerResponse): ResumableStream | undefined;
  /** How its agent is asked over the stream of a request; `undefined` when it declared nothing that it can be asked. */
  inputOver(stream: QuestionStream): AgentInput | undefined;
  touch(): void;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  /** After how long without a byte a waiting agent is shown a sign of life. */
  readonly keepAliveMs: number;
  /** Unread bytes of a stream that are kept. */
  readonly maxBufferedBytes: number;
  /** How long a request whose stream lost its connection runs on. */
  readonly resumeWindowMs: number;
}

/** How long a request that was ended may take to answer before its connection is cut. */
const SETTLE_MS = 1_000;

/**
 * One POST of an agent and its answer.
 *
 * The answer is one JSON body unless something has to be sent before it: a notification, or a sign of life when it takes
 * long. From then on it is a stream, and the response its last event. There is at most one answer; what comes after it, or
 * after the agent left, is ignored.
 */
export class Exchange implements RequestTarget, QuestionStream, Linked<Exchange> {
  next: Exchange | undefined;
  previous: Exchange | undefined;
  readonly binding: Binding;
  /** Set once the body is read: the one request in it. `undefined` for batches and notifications. */
  requestId: RequestId | undefined;
  /** Set once the body is read, when the agent takes a stream. */
  mayStream = false;
  /** Set once the body is read: the session that the request came in. */
  session: ExchangeSession | undefined;
  /** When the work must have ended, on the server's clock. */
  deadline = Infinity;
  readonly #response: ServerResponse;
  readonly #options: ExchangeOptions;
  readonly #signal = new RequestSignal();
  #stream: SseWriter | ResumableStream | undefined;
  /** The stream, when it is one that can be resumed. */
  #resumable: ResumableStream | undefined;
  /** Set while the exchange outlives its connection: called once when it is over. */
  #onSettled: (() => void) | undefined;
  /** The requests of a batch. */
  #parts: BatchPart[] | undefined;
  /** What the agent was asked over the stream and has not answered. */
  #questions: Set<AgentQuestion> | undefined;
  #answered = false;
  #ended: EndReason | undefined;
  #endedAt = Infinity;
  #lastSentAt: number;

  constructor(binding: Binding, response: ServerResponse, options: ExchangeOptions) {
    this.binding = binding;
    this.#response = response;
    this.#options = options;
    this.#lastSentAt = options.clock.now();
  }

  /** Aborted when the request ends before its answer. */
  get signal(): AbortSignal {
    return this.#signal.real;
  }

  get quickSignal(): AbortSignal {
    return this.#signal;
  }

  abort(reason: unknown): void {
    this.#signal.abort(reason);
  }

  get isAnswered(): boolean {
    return this.#answered;
  }

  get input(): AgentInput | undefined {
    return this.mayStream ? this.session?.inputOver(this) : undefined;
  }

  get ended(): EndReason | undefined {
    return this.#ended;
  }

  /** Adds a request of a batch. */
  addPart(requestId: RequestId): BatchPart {
    const part = new BatchPart(this.binding, requestId);
    (this.#parts ??= []).push(part);
    return part;
  }

  /** Whether a request with this id is under way in it. */
  runs(requestId: RequestId): boolean {
    if (this.#answered) return false;
    return this.requestId === requestId || this.#partOf(requestId) !== undefined;
  }

  /** Ends the work on the request; an answer is still sent if it comes soon and somebody is there to read it. */
  end(reason: EndReason): void {
    if (this.#answered || this.#ended !== undefined) return;
    this.#ended = reason;
    const now = this.#options.clock.now();
    this.#endedAt = now;
    this.#signal.abort();
    this.#endQuestions(reason);
    for (const part of this.#parts ?? []) part.end(reason, now);
  }

  /** Ends the one request with this id, and with it the exchange unless that is a batch. */
  cancel(requestId: RequestId): void {
    if (this.requestId === requestId) this.end("agent_cancelled");
    else this.#partOf(requestId)?.end("agent_cancelled", this.#options.clock.now());
  }

  /**
   * Sends a notification ahead of the answer. Dropped when the agent takes no stream or does not read it; one that is not
   * `droppable` cuts the connection of an agent that does not read.
   */
  notify(line: string, options: { readonly droppable: boolean }): void {
    if (this.#ended !== undefined) return;
    const stream = this.#openStream();
    // Half of the buffer is kept for what can't be dropped, the answer first of all.
    if (stream === undefined) return;
    if (options.droppable && stream.unsentBytes * 2 > this.#options.maxBufferedBytes) return;
    stream.send(line, options);
  }

  put(question: AgentQuestion): boolean {
    const stream = this.#ended === undefined ? this.#openStream() : undefined;
    if (stream === undefined) return false;
    (this.#questions ??= new Set()).add(question);
    stream.send(question.line, { wanted: question });
    return true;
  }

  takeBack(question: AgentQuestion, line?: string): void {
    if (this.#questions?.delete(question) === true && line !== undefined) this.#openStream()?.send(line);
  }

  /** Sends the answer. */
  reply(reply: Reply, headers?: ExtraHeaders): void {
    if (this.#answered) return;
    this.#endQuestions("answered");
    this.#answered = true;
    if (reply === "accepted") {
      sendEmpty(this.#response, 202, headers);
    } else if (this.#stream === undefined) {
      const all = headers === undefined || reply.headers === undefined ? headers : { ...headers, ...reply.headers };
      sendJson(this.#response, reply.status, reply.body, all ?? reply.headers);
    } else if (this.#resumable === undefined) {
      this.#stream.send(reply.body);
      this.#stream.end();
    } else {
      this.#resumable.answer(reply.body);
    }
    this.#onSettled?.();
  }

  /**
   * Notes that the connection is gone. Returns whether the work goes on, for an agent that may come back to its stream, or
   * has done so already: then `onSettled` is called once, with its end.
   */
  detach(onSettled: () => void): boolean {
    if (this.#answered) return false;
    if (this.#resumable === undefined) {
      this.end("agent_left");
      return false;
    }
    this.#onSettled = onSettled;
    return true;
  }

  /** Does what is due at `now`: enforces the deadlines, and shows a waiting agent that it is not forgotten. */
  tick(now: number): void {
    if (this.#answered) return;
    const { keepAliveMs, resumeWindowMs } = this.#options;
    for (const part of this.#parts ?? []) if (now >= part.deadline) part.end("deadline", now);
    if (now - this.#endedAt >= SETTLE_MS || this.#parts?.some(({ endedAt }) => now - endedAt >= SETTLE_MS) === true)
      this.#giveUp();
    else if (now >= this.deadline) this.end("deadline");
    else if (this.#ended !== undefined) return;
    else if (this.#resumable !== undefined && now - this.#resumable.detachedAt >= resumeWindowMs)
      this.end("agent_left");
    else if (now - this.#lastSentAt >= (this.#streamAfterMs ?? keepAliveMs)) this.#openStream()?.keepAlive();
  }

  /** What the session has for an answer that is no stream yet. */
  get #streamAfterMs(): number | undefined {
    return this.#stream === undefined ? this.session?.streamAfterMs : undefined;
  }

  #endQuestions(reason: Parameters<AgentQuestion["end"]>[0]): void {
    if (this.#questions !== undefined) for (const question of this.#questions) question.end(reason);
  }

  #partOf(requestId: RequestId): BatchPart | undefined {
    return this.#parts?.find((part) => part.isRunning && part.requestId === requestId);
  }

  #giveUp(): void {
    this.#response.destroy();
    if (this.#resumable === undefined) return;
    this.#answered = true;
    this.#resumable.end();
    this.#onSettled?.();
  }

  #openStream(): SseWriter | ResumableStream | undefined {
    if (!this.mayStream || this.#answered) return undefined;
    if (this.#stream === undefined && this.#response.destroyed) return undefined;
    this.#lastSentAt = this.#options.clock.now();
    this.#stream ??= this.#createStream();
    return this.#stream;
  }

  #createStream(): SseWriter | ResumableStream {
    if (this.requestId !== undefined) this.#resumable = this.session?.openStream(this.requestId, this.#response);
    return this.#resumable ?? new SseWriter(this.#response, { maxBufferedBytes: this.#options.maxBufferedBytes });
  }
}
