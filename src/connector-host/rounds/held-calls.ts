import { randomBytes as systemRandomBytes } from "node:crypto";
import { type Delivery, RemoteConnectorError } from "../../errors.js";
import type { JsonObject } from "../../protocol/index.js";
import type { ServerAsk } from "../../protocol/input/index.js";
import type { Clock } from "../../transport/index.js";
import type { Binding } from "../local-server/index.js";
import { continuationRefused } from "./continuation-refused.js";
import { type AttachedRequest, HeldCall, type HeldUpstream, type Round } from "./held-call.js";
import { type HeldCallLimits, resolveHeldCallLimits } from "./held-options.js";
import type { SealedContent, StateSealer } from "./state-sealer.js";

/** Whose call it is, and which one. */
export interface HeldSubject {
  readonly binding: Binding;
  /** The same for requests that may go on with the call, and for no others. */
  readonly digest: string;
}

export interface HeldCallsOptions<Answer> {
  readonly clock: Clock;
  readonly sealer: StateSealer;
  readonly limits?: HeldCallLimits | undefined;
  /** Bytes of an answer that is kept until its agent is there. */
  readonly sizeOf: (answer: Answer) => number;
  /** Left out: those of the platform. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
}

/** A call whose agent was asked at least once. */
interface Kept<Answer> {
  readonly subject: HeldSubject;
  readonly call: HeldCall<Answer>;
  round: number;
  /** Of its answer, while that is kept to be told. */
  bytes: number;
  /** Of the one state that goes on with the call; `undefined` while a request is attached to it. */
  nonce: string | undefined;
  /** Ends the wait for the agent. */
  stopTimer: () => void;
}

const ID_BYTES = 16;

/**
 * Calls of agents that are asked by results, at servers that ask in the midst of a call: while an agent is asked, its call is held. Each
 * round's state goes on with its call once, and only for the agent and the request that it was given for.
 */
export class HeldCalls<Answer> {
  readonly #options: HeldCallsOptions<Answer>;
  readonly #config: ReturnType<typeof resolveHeldCallLimits>;
  readonly #kept = new Map<string, Kept<Answer>>();
  /** Calls that are not over, those included of which nobody was asked anything. */
  readonly #running = new Map<HeldCall<Answer>, Promise<void>>();
  #keptBytes = 0;
  #isClosed = false;

  /** Throws `invalid_options`. */
  constructor(options: HeldCallsOptions<Answer>) {
    this.#options = options;
    this.#config = resolveHeldCallLimits(options.limits);
  }

  /** Calls of which an agent was asked something, and has not been told the end. */
  get size(): number {
    return this.#kept.size;
  }

  /** Bytes of answers that came while no agent was there to be told. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Calls that run, held or not. */
  get running(): number {
    return this.#running.size;
  }

  /**
   * Makes a call that can be held. `run` makes it at its server; it must settle soon after its signal fires.
   *
   * Rejects with `limit_exceeded` of `maxHeldCallsPerBinding` or `maxHeldCalls`: `not_sent` when as many are held already, `unknown`
   * when that turns out as the server asks. Rejects with what `run` rejects with.
   */
  begin(
    subject: HeldSubject,
    attached: AttachedRequest,
    run: (upstream: HeldUpstream) => Promise<Answer>,
  ): Promise<Round<Answer>> {
    const excess = this.#isClosed
      ? ended("host_closed", HOST_CLOSED, "not_sent")
      : this.#excess(subject.binding, "not_sent");
    if (excess !== undefined) return Promise.reject(excess);
    const callId = this.#mint();
    const call: HeldCall<Answer> = new HeldCall({
      maxWaitingAsks: this.#config.maxWaitingAsks,
      soon: (then) => this.#options.clock.schedule(0, then),
      hold: (asks) => this.#hold(callId, subject, call, asks),
      release: () => this.#forget(callId),
    });
    const round = call.attach(attached, {});
    const running = run(call.upstream).then(
      (answer) => this.#answered(callId, call, answer),
      (error: unknown) => this.#settled(call, { kind: "failure", error }),
    );
    this.#running.set(call, running);
    return round;
  }

  /**
   * Goes on with the call that an opened state of the kind `held` stands for. `responses`: what the agent says to what it was asked. What
   * it leaves out is asked again.
   *
   * Rejects with `continuation_refused` (`unknown`; the call stays as it is), and as {@link begin} does.
   */
  resume(
    content: SealedContent,
    subject: HeldSubject,
    attached: AttachedRequest,
    responses: JsonObject,
  ): Promise<Round<Answer>> {
    const { callId, payload } = content;
    const kept = this.#kept.get(callId);
    if (kept === undefined) {
      const { expiresAt } = payload;
      const isLate = typeof expiresAt === "number" && this.#options.clock.now() >= expiresAt;
      return Promise.reject(continuationRefused(isLate ? "expired" : "used", "unknown"));
    }
    const isSame = kept.subject.binding === subject.binding && kept.subject.digest === subject.digest;
    if (!isSame) return Promise.reject(continuationRefused("mismatch", "unknown"));
    if (kept.nonce === undefined || kept.nonce !== payload["nonce"]) {
      return Promise.reject(continuationRefused("used", "unknown"));
    }
    kept.nonce = undefined;
    kept.stopTimer();
    return kept.call.attach(attached, responses);
  }

  /** Ends the calls that are held for an agent session that is over: nobody can go on with them. */
  endBinding(binding: Binding): void {
    for (const [callId, { subject, call, nonce }] of this.#kept) {
      if (subject.binding !== binding || nonce === undefined) continue;
      this.#forget(callId);
      call.end(ended("binding_ended", "The agent's session ended while its request waited for answers."));
    }
  }

  /** Ends all calls, and resolves once they are over at their servers, as far as that can be known. Nothing can be begun any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const callId of this.#kept.keys()) this.#forget(callId);
    const running = [...this.#running];
    for (const [call] of running) call.end(ended("host_closed", HOST_CLOSED));
    await Promise.all(running.map(([, end]) => end));
  }

  /** An answer that nobody is there for is kept, if there is room. */
  #answered(callId: string, call: HeldCall<Answer>, answer: Answer): void {
    const kept = this.#kept.get(callId);
    const { maxHeldResultBytes: limit } = this.#config;
    const bytes = kept?.nonce === undefined ? 0 : this.#options.sizeOf(answer);
    if (this.#keptBytes + bytes > limit) return this.#settled(call, { kind: "failure", error: notKept(limit) });
    if (kept !== undefined) kept.bytes = bytes;
    this.#keptBytes += bytes;
    this.#settled(call, { kind: "answer", answer });
  }

  #settled(call: HeldCall<Answer>, outcome: Parameters<HeldCall<Answer>["settle"]>[0]): void {
    this.#running.delete(call);
    call.settle(outcome);
  }

  /** Keeps a call until its agent goes on with it, and makes the result by which that is asked. */
  #hold(
    callId: string,
    subject: HeldSubject,
    call: HeldCall<Answer>,
    asks: ReadonlyMap<string, ServerAsk>,
  ): Uint8Array {
    const known = this.#kept.get(callId);
    const excess = known === undefined ? this.#excess(subject.binding, "unknown") : undefined;
    if (excess !== undefined) throw excess;
    const { clock, sealer } = this.#options;
    const { heldCallTimeoutMs } = this.#config;
    const kept = known ?? { subject, call, round: 0, bytes: 0, nonce: undefined, stopTimer: ignore };
    const nonce = this.#mint();
    kept.round += 1;
    kept.nonce = nonce;
    kept.stopTimer = clock.schedule(heldCallTimeoutMs, () => {
      this.#forget(callId);
      call.end(ended("not_continued", "The agent was asked, and did not go on with its request in time."));
    });
    this.#kept.set(callId, kept);
    const payload = { nonce, round: kept.round, expiresAt: clock.now() + heldCallTimeoutMs };
    return askingResult(asks, sealer.seal({ kind: "held", callId, payload }));
  }

  #forget(callId: string): void {
    const kept = this.#kept.get(callId);
    if (kept === undefined) return;
    kept.stopTimer();
    this.#keptBytes -= kept.bytes;
    this.#kept.delete(callId);
  }

  /** Why no more can be held for a binding. What is over and was only kept to be told makes room, the oldest first. */
  #excess(binding: Binding, delivery: Delivery): RemoteConnectorError | undefined {
    const { maxHeldCalls, maxHeldCallsPerBinding } = this.#config;
    const ofBinding = [...this.#kept].filter(([, { subject }]) => subject.binding === binding);
    if (ofBinding.length >= maxHeldCallsPerBinding && !this.#dropOver(ofBinding)) {
      return tooManyHeld("maxHeldCallsPerBinding", maxHeldCallsPerBinding, delivery);
    }
    if (this.#kept.size >= maxHeldCalls && !this.#dropOver(this.#kept)) {
      return tooManyHeld("maxHeldCalls", maxHeldCalls, delivery);
    }
    return undefined;
  }

  #dropOver(kept: Iterable<[string, Kept<Answer>]>): boolean {
    for (const [callId, { call }] of kept) {
      if (!call.isOver) continue;
      this.#forget(callId);
      return true;
    }
    return false;
  }

  #mint(): string {
    const { randomBytes = systemRandomBytes } = this.#options;
    return Buffer.from(randomBytes(ID_BYTES)).toString("base64url");
  }
}

/** Source: 2026-07-28, Multi Round-Trip Requests, InputRequiredResult. */
function askingResult(asks: ReadonlyMap<string, ServerAsk>, requestState: string): Uint8Array {
  const inputRequests = Object.fromEntries(asks);
  return Buffer.from(JSON.stringify({ resultType: "input_required", inputRequests, requestState }), "utf8");
}

function tooManyHeld(
  option: "maxHeldCalls" | "maxHeldCallsPerBinding",
  limit: number,
  delivery: Delivery,
): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${String(limit)} requests wait for answers to what their servers ask; ${option} raises the limit.`,
    delivery,
    details: { option, limit },
  });
}

function notKept(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message:
      "The result came while the agent was asked, and there was no room to keep it; maxHeldResultBytes raises the limit.",
    delivery: "answered",
    details: { option: "maxHeldResultBytes", limit },
  });
}

const HOST_CLOSED = "The host was closed while the request waited for answers.";

/** What ends a call from our side. No failure of its server, which may have acted. */
function ended(reason: string, message: string, delivery: Delivery = "unknown"): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", { message, delivery, details: { reason } });
}

function ignore(): void {}
