import type { ServerResponse } from "node:http";
import { SseWriter } from "../../../serving/index.js";
import type { Clock } from "../../../transport/index.js";
import type { AgentQuestion } from "../agent-question.js";
import type { ResumableStream } from "../exchange.js";
import { EventBuffer, type EventBufferLimits } from "./event-buffer.js";
import { encodeEventId } from "./event-id.js";
import type { KeptStream } from "./kept-streams.js";

export interface EventStreamOptions {
  readonly clock: Clock;
  readonly limits: EventBufferLimits;
  /** Unread bytes of the connection. */
  readonly maxBufferedBytes: number;
  /** How long a reader should wait before it comes back; `undefined` where the revision has no event without a message. */
  readonly retryMs: number | undefined;
  /** Told once when it ends. */
  readonly onEnd?: ((stream: EventStream) => void) | undefined;
}

/** Which stream of which session. */
export interface StreamName {
  readonly tag: string;
  readonly stream: number;
}

/**
 * A stream of server-sent events that outlives its connections: what is sent is kept for a reader that comes back, within
 * limits. At any time it has one connection or none; a new one takes the place of the old, which is ended.
 *
 * Source: 2025-11-25, Transports, Resumability and Redelivery.
 */
export class EventStream implements ResumableStream, KeptStream {
  readonly #name: StreamName;
  readonly #options: EventStreamOptions;
  readonly #buffer: EventBuffer;
  #writer: SseWriter | undefined;
  /** The newest position that some connection took. */
  #writtenUpTo = 0;
  #ended = false;
  /** Questions that were open when the last of them was sent, and the place of each. */
  #questions: { readonly question: AgentQuestion; position: number }[] | undefined;
  /** Where the answer is; `Infinity` before it, and for good when there was none. */
  #answeredAt = Infinity;
  #detachedAt: number;
  #lastSentAt: number;

  constructor(name: StreamName, options: EventStreamOptions) {
    this.#name = name;
    this.#options = options;
    this.#buffer = new EventBuffer(options.limits);
    this.#detachedAt = this.#lastSentAt = options.clock.now();
  }

  get keptBytes(): number {
    return this.#buffer.bytes;
  }

  /** Whether nothing will be sent any more. */
  get ended(): boolean {
    return this.#ended;
  }

  get isAttached(): boolean {
    return this.#writer !== undefined;
  }

  /** Since when it has had no connection; `Infinity` while it has one. */
  get detachedAt(): number {
    return this.#writer === undefined ? this.#detachedAt : Infinity;
  }

  get unsentBytes(): number {
    return this.#writer?.unsentBytes ?? 0;
  }

  /** Whether `position` is one that it handed out. */
  hasReached(position: number): boolean {
    return this.#buffer.after(position) !== undefined;
  }

  /** Whether all that came after `position` is kept; left out: all that no connection took yet. */
  isWholeAfter(position = this.#writtenUpTo): boolean {
    return this.#buffer.after(position)?.isWhole === true;
  }

  /** Whether it ended, and its answer can't be given to a reader at `position` any more. */
  lacksAnswerAfter(position: number): boolean {
    if (!this.#ended || position >= this.#answeredAt) return false;
    const events = this.#buffer.after(position)?.events ?? [];
    return events.at(-1)?.position !== this.#answeredAt;
  }

  /**
   * Gives it a connection, which begins with what comes after `position`; left out: with what no connection took yet. Ends the
   * connection that it had, and the new one too when the stream has ended.
   */
  attach(response: ServerResponse, position = this.#writtenUpTo): void {
    if (response.destroyed) return;
    const { clock, maxBufferedBytes, retryMs } = this.#options;
    this.#writer?.end();
    const writer = new SseWriter(response, { maxBufferedBytes });
    this.#writer = writer;
    this.#lastSentAt = clock.now();
    response.once("close", () => {
      if (this.#writer !== writer) return;
      this.#writer = undefined;
      this.#detachedAt = clock.now();
    });
    const events = this.#buffer.after(position)?.events ?? [];
    if (events.length === 0 && retryMs !== undefined && !this.#ended) {
      this.#writtenUpTo = this.#buffer.mark();
      writer.prime(this.#idOf(this.#writtenUpTo), retryMs);
    }
    for (const event of events) this.#write(event.position, event.message);
    this.#sendAgain(position, events[0]?.position ?? Infinity);
    if (this.#ended) writer.end();
  }

  /** Sends a message, and keeps it. */
  send(message: string | Uint8Array, { wanted }: { readonly wanted?: AgentQuestion | undefined } = {}): void {
    if (this.#ended) return;
    const position = this.#append(message);
    if (wanted === undefined) return;
    const open = (this.#questions ?? []).filter(({ question }) => question.isOpen());
    this.#questions = [...open, { question: wanted, position }];
  }

  /** Sends the answer, and ends the stream. */
  answer(body: string | Uint8Array): void {
    if (this.#ended) return;
    this.#answeredAt = this.#append(body);
    this.end();
  }

  /** A sign of life, when nothing was sent since `before`. */
  keepAlive(before = Infinity): void {
    if (this.#lastSentAt > before) return;
    this.#lastSentAt = this.#options.clock.now();
    this.#writer?.keepAlive();
  }

  /** Ends it after all that was sent. Whoever comes back gets what is kept. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#writer?.end();
    this.#options.onEnd?.(this);
  }

  forget(): void {
    this.#buffer.clear();
  }

  /**
   * Sends open questions that came after `seen`, what the reader has, and before `kept`, what it was given now: they are gone from
   * the buffer, and the request would wait for their answers.
   */
  #sendAgain(seen: number, kept: number): void {
    for (const each of this.#questions ?? []) {
      if (each.position <= seen || each.position >= kept || !each.question.isOpen()) continue;
      each.position = this.#append(each.question.line);
    }
  }

  #append(message: string | Uint8Array): number {
    const bytes = typeof message === "string" ? Buffer.from(message, "utf8") : message;
    const position = this.#buffer.append(bytes);
    this.#write(position, bytes);
    return position;
  }

  #write(position: number, message: Uint8Array): void {
    if (this.#writer?.send(message, { id: this.#idOf(position) }) !== "sent") return;
    this.#writtenUpTo = position;
    this.#lastSentAt = this.#options.clock.now();
  }

  #idOf(position: number): string {
    return encodeEventId({ ...this.#name, position });
  }
}
