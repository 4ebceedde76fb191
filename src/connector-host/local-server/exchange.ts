import type { ServerResponse } from "node:http";
import type { RequestId } from "../../protocol/index.js";
import { type ExtraHeaders, sendEmpty, sendJson, SseWriter } from "../../serving/index.js";
import type { Clock } from "../../transport/index.js";
import type { Binding } from "./ports.js";

/** Why a request was ended before it had its answer. */
export type EndReason = "agent_left" | "agent_cancelled" | "binding_ended" | "deadline" | "server_closing";

/** A JSON-RPC response, and the HTTP status that goes with it unless a stream began already. */
export interface Answer {
  readonly status: number;
  readonly body: Uint8Array | string;
}

/** What a POST is answered with: a response, or only that it was taken. */
export type Reply = Answer | "accepted";

export interface ExchangeOptions {
  readonly clock: Clock;
  /** After how long without a byte a waiting agent is shown a sign of life. */
  readonly keepAliveMs: number;
  /** Unread bytes of a stream that are kept. */
  readonly maxBufferedBytes: number;
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
export class Exchange {
  readonly binding: Binding;
  /** Set once the body is read: the one request in it. `undefined` for batches and notifications. */
  requestId: RequestId | undefined;
  /** Set once the body is read, when the agent takes a stream. */
  mayStream = false;
  /** When the work must have ended, on the server's clock. */
  deadline = Infinity;
  readonly #response: ServerResponse;
  readonly #options: ExchangeOptions;
  readonly #controller = new AbortController();
  #stream: SseWriter | undefined;
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
    return this.#controller.signal;
  }

  get ended(): EndReason | undefined {
    return this.#ended;
  }

  /** Ends the work on the request; an answer is still sent if it comes soon and somebody is there to read it. */
  end(reason: EndReason): void {
    if (this.#answered || this.#ended !== undefined) return;
    this.#ended = reason;
    this.#endedAt = this.#options.clock.now();
    this.#controller.abort();
  }

  /**
   * Sends a notification ahead of the answer. Dropped when the agent takes no stream or does not read it; one that is not
   * `droppable` cuts the connection of an agent that does not read.
   */
  notify(line: string, options: { readonly droppable: boolean }): void {
    if (this.#ended !== undefined) return;
    const stream = this.#openStream();
    // Half of the buffer is kept for what can't be dropped, the answer first of all.
    if (options.droppable && this.#response.writableLength * 2 > this.#options.maxBufferedBytes) return;
    stream?.send(line, options);
  }

  /** Sends the answer. */
  reply(reply: Reply, headers: ExtraHeaders = {}): void {
    if (this.#answered) return;
    this.#answered = true;
    if (reply === "accepted") {
      sendEmpty(this.#response, 202, headers);
    } else if (this.#stream === undefined) {
      sendJson(this.#response, reply.status, reply.body, headers);
    } else {
      this.#stream.send(reply.body);
      this.#stream.end();
    }
  }

  /** Does what is due at `now`: enforces the deadlines, and shows a waiting agent that it is not forgotten. */
  tick(now: number): void {
    if (this.#answered) return;
    if (now - this.#endedAt >= SETTLE_MS) this.#response.destroy();
    else if (now >= this.deadline) this.end("deadline");
    else if (this.#ended === undefined && now - this.#lastSentAt >= this.#options.keepAliveMs) {
      this.#openStream()?.keepAlive();
    }
  }

  #openStream(): SseWriter | undefined {
    if (!this.mayStream || this.#answered || this.#response.destroyed) return undefined;
    this.#lastSentAt = this.#options.clock.now();
    this.#stream ??= new SseWriter(this.#response, { maxBufferedBytes: this.#options.maxBufferedBytes });
    return this.#stream;
  }
}
