import type { Socket } from "node:net";
import type { AnswerPlan, Ending } from "./plan-answer.js";
import { playPlan } from "./play-plan.js";
import { ReceivedRequest } from "./received-request.js";
import { RequestReader } from "./request-reader.js";
import type { TestClock } from "./test-clock.js";

export interface ConnectionOptions {
  /** Counted from 0. */
  readonly index: number;
  /** The TCP connection, which is reset when that is asked for. */
  readonly socket: Socket;
  /** What requests are read from: the same, or the TLS stream on it. */
  readonly stream: Socket;
  readonly clock: TestClock;
  readonly closeIdleAfterMs: number;
  readonly maxRequestBytes: number;
  /** Gives the plan of each request's answer. Never throws or rejects. */
  readonly onRequest: (request: ReceivedRequest) => AnswerPlan | Promise<AnswerPlan>;
  readonly onFault: (reason: string) => void;
}

/** A reset that comes together with bytes makes the reader lose them, or take it for an ordinary end. */
const BEFORE_RESET_MS = 2;

/** One connection: reads requests, and plays the answer of each, in the order in which they came. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Requests that wait for the answers before them. */
  readonly #waiting: { readonly request: ReceivedRequest; readonly plan: AnswerPlan | Promise<AnswerPlan> }[] = [];
  /** Ends the answer that is being played. */
  #stopPlaying: (() => void) | undefined;
  #stopIdling: (() => void) | undefined;
  #isBusy = false;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { stream, socket, index, maxRequestBytes, closeIdleAfterMs, onRequest, onFault } = options;
    const reader = new RequestReader({
      maxRequestBytes,
      onRequest: (raw) => {
        const request = new ReceivedRequest(raw, index);
        this.#waiting.push({ request, plan: onRequest(request) });
        void this.#next();
      },
      onFault: (reason) => {
        onFault(reason);
        this.close();
      },
    });
    stream.on("data", (bytes) => reader.push(bytes));
    // The other side may reset whenever it likes; the socket is gone then, and that is all.
    for (const each of new Set([stream, socket])) {
      each.on("error", () => this.close());
      each.on("close", () => this.close());
    }
    this.#idle(closeIdleAfterMs);
  }

  /** Ends what is played, and destroys the connection. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopPlaying?.();
    this.#stopIdling?.();
    this.#options.stream.destroy();
    this.#options.socket.destroy();
  }

  async #next(): Promise<void> {
    if (this.#isBusy || this.#isClosed) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#isBusy = true;
    this.#stopIdling?.();
    const plan = await next.plan;
    if (this.#isClosed) return;
    const { stream, clock, closeIdleAfterMs } = this.#options;
    this.#stopPlaying = playPlan({
      plan,
      request: next.request,
      clock,
      outlet: {
        write: (bytes) => stream.destroyed || stream.writableEnded || stream.write(bytes),
        onDrain: (run) => void stream.once("drain", run),
      },
      onEnd: (ending) => {
        const isLast = next.request.header("connection")?.toLowerCase() === "close";
        this.#conclude(ending === "next" && isLast ? "fin" : ending, plan.closeIdleAfterMs ?? closeIdleAfterMs);
      },
    });
  }

  #conclude(ending: Ending, closeIdleAfterMs: number): void {
    const { stream, socket } = this.#options;
    switch (ending) {
      case "stall":
        return;
      case "fin":
        stream.end();
        return;
      case "reset":
        this.#stopIdling = this.#options.clock.schedule(BEFORE_RESET_MS, () => {
          if (!socket.destroyed) socket.resetAndDestroy();
        });
        return;
      case "next":
        this.#isBusy = false;
        this.#idle(closeIdleAfterMs);
        void this.#next();
    }
  }

  #idle(ms: number): void {
    this.#stopIdling?.();
    this.#stopIdling = ms === Infinity ? undefined : this.#options.clock.schedule(ms, () => this.#options.stream.end());
  }
}
