import { MODERN_REVISION, type RequestId, type StreamEvent } from "../../protocol/index.js";
import type { ResponseHeaders } from "../../transport/index.js";
import type { AgentRequest, AgentRequests } from "./agent-requests.js";
import { type HostAnswer, isResponse } from "./ask-whole.js";
import { errorLines, failureError, type HostFailure, refusalIn } from "./error-lines.js";
import { answerBroken, answerLost, hostUnreachable, sessionLost } from "./host-failures.js";
import type { HostLink, HostQuestion } from "./host-link.js";
import { type HostEnd, type HostRequest, TOO_LONG } from "./host-request.js";
import type { HostStarter } from "./host-starter.js";
import type { LegacySession } from "./legacy-session.js";
import { type OpenAsks, withdrawalLine } from "./open-asks.js";
import type { ServeStdioConfig } from "./options.js";

/** What all calls share. */
export interface HostCallPorts {
  readonly config: ServeStdioConfig;
  readonly socketPath: string;
  readonly link: HostLink;
  readonly starter: HostStarter;
  readonly requests: AgentRequests<HostCall>;
  readonly asks: OpenAsks<HostCall>;
  /** Answers a question of the host by which an agent that says nothing any more would be asked; whether that is the case. */
  readonly refuseAsk: (id: RequestId) => boolean;
  readonly write: (message: string | Uint8Array) => void;
}

export interface HostCallInit {
  readonly ids: readonly RequestId[];
  readonly isBatch: boolean;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The session that it belongs to; `undefined` for a modern one. */
  readonly session: LegacySession | undefined;
  /** The headers of what begins a session, which has none yet. */
  readonly headers?: readonly string[] | undefined;
  /** A `subscriptions/listen`, which ends in its own way. */
  readonly isSubscription: boolean;
  /** What the agent gets for a whole answer with status 200. Left out: the answer. */
  readonly adapt?: ((answer: Omit<HostAnswer, "kind">) => Uint8Array) | undefined;
  /** Told once that it is over, however that came. */
  readonly onOver?: (() => void) | undefined;
}

/** What has no session is modern, whatever it holds: a request that names no version must not be run as one of a legacy agent. */
const MODERN = ["MCP-Protocol-Version", MODERN_REVISION];

/** How often the stream of an answer is looked for again without anything new. */
const MAX_RESUMES = 3;

/**
 * The requests of one line, from the host's side: asked, answered or failed, and each id told of exactly one of these.
 *
 * Only what the host can't have acted on is asked again: what found no host, once one was started; and what the host refused because
 * it had forgotten the session, once that was renewed. The stream of an answer that broke is read on where the host offers it.
 */
export class HostCall implements AgentRequest {
  readonly #ports: HostCallPorts;
  readonly #init: HostCallInit;
  /** `undefined` while it waits for a host or a session, and nothing of it is there that could run. */
  #running: HostRequest | undefined;
  /** The session by which it was asked. */
  #sessionId: string | undefined;
  #lastEventId: string | undefined;
  #resumes = 0;
  #wasSent = false;
  #wasStarted = false;
  #wasRenewed = false;
  /** A message of it came before its answer. */
  #wasHeard = false;
  #isMuted = false;
  #isOver = false;

  constructor(ports: HostCallPorts, init: HostCallInit) {
    this.#ports = ports;
    this.#init = init;
    ports.requests.add(this);
    this.#begin();
  }

  get ids(): readonly RequestId[] {
    return this.#init.ids;
  }

  get isSubscription(): boolean {
    return this.#init.isSubscription;
  }

  abort(): void {
    const running = this.#running;
    this.#finish();
    running?.abort();
  }

  /**
   * The agent does not want it any more, and hears nothing of it from now on, unless it is one of a batch. Whether the host must be told: it is not when ending
   * the request says it all.
   */
  cancel(): boolean {
    // The others of its line go on: the host ends the one, and says so in the answer to all.
    if (this.#init.isBatch) return this.#running !== undefined;
    const mustTell = this.#sessionId !== undefined && this.#running !== undefined;
    if (!mustTell || !this.#wasSent) {
      // What tells the host goes another way, and may be there before the request is; then its end says it. A request of which the
      // host has sent something already, and nobody here has seen it, is known there when it is told.
      this.abort();
      return mustTell;
    }
    // A session's request outlives its connection, and is over when the host says so.
    this.#isMuted = true;
    this.#ports.requests.freeIds(this);
    return true;
  }

  #begin(): void {
    // It was cancelled before the host could hear of it.
    if (this.#isMuted) return this.#finish();
    const { session, body, headers = session?.headers ?? MODERN } = this.#init;
    this.#sessionId = session?.id;
    // What was refused for its session is sent anew.
    this.#wasSent = false;
    this.#ask({ method: "POST", body, headers });
  }

  #ask(question: HostQuestion): void {
    let status = 0;
    let headers: ResponseHeaders = {};
    this.#running = this.#ports.link.ask(question, {
      onHead: (seen, fields) => {
        status = seen;
        headers = fields;
        this.#wasSent = true;
      },
      onEvent: (event) => this.#onEvent(event, headers),
      onEnd: (end) => {
        if (this.#isOver) return;
        this.#running = undefined;
        if (end.kind !== "answered") this.#onCut(end);
        else if (question.method === "GET") this.#fail(answerLost("stream_ended"));
        else this.#onAnswer({ status, headers, body: end.body });
      },
    });
  }

  #onEvent({ data, id, unterminated }: StreamEvent, headers: ResponseHeaders): void {
    if (unterminated || this.#isOver) return;
    if (id !== undefined) this.#lastEventId = id;
    if (data === "") return;
    this.#resumes = 0;
    const message = Buffer.from(data, "utf8");
    if (isResponse(message)) return this.#answer({ status: 200, headers, body: message });
    this.#wasHeard = true;
    this.#hear(message);
  }

  /** A message ahead of the answer. What was muted may still withdraw what it asked. */
  #hear(message: Uint8Array): void {
    const { asks, refuseAsk, write } = this.#ports;
    const word = asks.classify(message);
    if (word.kind === "withdrawal") asks.delete(word.id);
    else if (this.#isMuted || (word.kind === "question" && refuseAsk(word.id))) return;
    else if (word.kind === "question") asks.add(word.id, this);
    write(message);
  }

  #onAnswer(answer: Omit<HostAnswer, "kind">): void {
    const { status, body } = answer;
    if (status === 404 && this.#sessionId !== undefined) void this.#renew(this.#sessionId);
    else if (status === 200 && body.byteLength > 0) this.#answer(answer);
    else if (this.ids.length === 0) this.#finish();
    else this.#refused(status, body);
  }

  #answer(answer: Omit<HostAnswer, "kind">): void {
    this.#finish();
    const line = this.#init.adapt?.(answer) ?? answer.body;
    if (!this.#isMuted) this.#ports.write(line);
  }

  /** The host refused it, or failed at it. */
  #refused(status: number, body: Uint8Array): void {
    const refusal = refusalIn(body);
    // Refusals come before anything acted on a request, and so does 503. What else failed in the host may have acted.
    const isRefused = status < 500 || status === 503;
    const unexpected = {
      code: "unexpected_answer",
      facts: { httpStatus: status },
      delivery: isRefused ? ("not_sent" as const) : ("unknown" as const),
      message: `The host answered with ${String(status)}.`,
    };
    if (refusal === undefined) {
      return this.#fail(isRefused ? { ...unexpected, delivery: "answered" } : unexpected);
    }
    const { error, hasId } = refusal;
    this.#finish();
    if (this.#isMuted) return;
    if (hasId) return this.#ports.write(body);
    const verdict = failureError(unexpected, this.#ports.config.deliveryKey);
    this.#ports.write(errorLines(this.ids, this.#init.isBatch, { ...error, data: error.data ?? verdict.data }));
  }

  /** The answer did not come, or not whole. */
  #onCut(end: Exclude<HostEnd, { readonly kind: "answered" }>): void {
    // What was too long would be so again.
    const canResume = end.kind === "streamed" || end.reason !== TOO_LONG;
    if (canResume && this.#lastEventId !== undefined && this.#sessionId !== undefined && this.#resumes < MAX_RESUMES) {
      this.#resumes += 1;
      const headers = [...(this.#init.session?.headers ?? []), "Last-Event-ID", this.#lastEventId];
      return this.#ask({ method: "GET", body: null, headers });
    }
    if (end.kind === "streamed") return this.#fail(answerLost("stream_ended"));
    const { delivery, reason } = end;
    if (this.#wasSent || delivery !== "not_sent") return this.#fail(answerBroken(reason, this.#ports.config));
    if (this.#ports.starter.canStart && !this.#wasStarted) void this.#start();
    else this.#fail(hostUnreachable(this.#ports.socketPath, reason));
  }

  async #start(): Promise<void> {
    this.#wasStarted = true;
    const outcome = await this.#ports.starter.start();
    if (this.#isOver) return;
    if (outcome.kind === "ready") this.#begin();
    else this.#fail(hostUnreachable(this.#ports.socketPath, outcome.reason));
  }

  async #renew(lostId: string): Promise<void> {
    const isRenewed = !this.#wasRenewed && (await this.#init.session?.renew(lostId)) === true;
    this.#wasRenewed = true;
    if (this.#isOver) return;
    if (isRenewed) this.#begin();
    else this.#fail(sessionLost());
  }

  #fail(failure: HostFailure): void {
    if (this.#isOver) return;
    this.#finish();
    const { ids, isBatch, isSubscription } = this.#init;
    const [id] = ids;
    if (this.#isMuted || id === undefined) return;
    // Source: 2026-07-28, Cancellation: a subscription that is torn down is cancelled, and has no answer.
    const line =
      isSubscription && this.#wasHeard
        ? JSON.stringify({
            jsonrpc: "2.0",
            method: "notifications/cancelled",
            params: { requestId: id, reason: failure.message },
          })
        : errorLines(ids, isBatch, failureError(failure, this.#ports.config.deliveryKey));
    this.#ports.write(line);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#running = undefined;
    const { asks, requests, write } = this.#ports;
    for (const id of asks.takeOf(this)) write(withdrawalLine(id, "The request that this was asked for is over."));
    requests.remove(this);
    this.#init.onOver?.();
  }
}
