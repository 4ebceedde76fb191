import type { JsonObject } from "../../protocol/index.js";
import type { AnswerAsk, ServerAsk } from "../../protocol/input/index.js";
import type { ForwardedRequest } from "../local-server/index.js";
import { WaitingAsks } from "./waiting-asks.js";

/** The agent's request that a call is made for just now. */
export interface AttachedRequest {
  readonly request: Pick<ForwardedRequest, "onNotification" | "onProgress" | "signal">;
  /** What can be asked in answer to it. */
  readonly capabilities: JsonObject;
}

/** What becomes of an agent's request: the call is over, or the agent is asked and may go on with it. */
export type Round<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  /** `raw`: a whole result of the type `input_required`. */
  | { readonly kind: "asks"; readonly raw: Uint8Array };

/** What a call sees of the agent's requests that it is made for, one after the other. */
export interface HeldUpstream {
  /** Fires when the call must end. Not when an exchange of the agent's does that was answered. */
  readonly signal: AbortSignal;
  /** Fires the signal. */
  readonly abort: (reason: unknown) => void;
  /** Has the agent asked. */
  readonly answer: AnswerAsk;
  readonly onProgress: NonNullable<ForwardedRequest["onProgress"]>;
  readonly onNotification: NonNullable<ForwardedRequest["onNotification"]>;
  /** Whether the agent was asked, so that the call waits for it as long as calls do that are held. */
  isHeld(): boolean;
}

/** What a call needs of whoever keeps it. */
export interface HeldCallPorts {
  readonly maxWaitingAsks: number;
  /** Runs `run` soon: what is asked at once is put to the agent at once. */
  readonly soon: (run: () => void) => () => void;
  /** Keeps the call, for the first time or again, and makes the result that asks. Throws `limit_exceeded`. */
  readonly hold: (asks: ReadonlyMap<string, ServerAsk>) => Uint8Array;
  /** The agent knows what became of the call. */
  readonly release: () => void;
}

type Outcome<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "failure"; readonly error: unknown };

interface Waiter<Answer> extends AttachedRequest {
  readonly resolve: (round: Round<Answer>) => void;
  readonly reject: (reason: unknown) => void;
  readonly leave: () => void;
}

/**
 * One call at a legacy server, and the agent's requests that it is made for: at any time at most one is attached. While none is,
 * the agent was asked, and the call is held.
 *
 * That an attached request ends from the agent's side ends the call.
 */
export class HeldCall<Answer> {
  readonly #ports: HeldCallPorts;
  readonly #upstream = new AbortController();
  readonly #asks: WaitingAsks;
  #waiter: Waiter<Answer> | undefined;
  /** What became of the call, as long as no request was there to be told. */
  #outcome: Outcome<Answer> | undefined;
  #wasAsked = false;
  /** Set from the first of several asks until they are put to the agent. */
  #stopGathering: (() => void) | undefined;

  constructor(ports: HeldCallPorts) {
    this.#ports = ports;
    this.#asks = new WaitingAsks(ports.maxWaitingAsks);
  }

  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  get upstream(): HeldUpstream {
    return {
      signal: this.#upstream.signal,
      abort: (reason) => this.end(reason),
      answer: (ask, signal) => this.#ask(ask, signal),
      onProgress: (progress) => this.#waiter?.request.onProgress?.(progress),
      onNotification: (notification) => this.#waiter?.request.onNotification?.(notification),
      isHeld: () => this.#wasAsked,
    };
  }

  /**
   * Makes the call for this request from now on, until it is answered. `responses`: what the agent says to what it was asked. Only one
   * request is attached at a time.
   */
  attach(attached: AttachedRequest, responses: JsonObject): Promise<Round<Answer>> {
    const { signal } = attached.request;
    return new Promise((resolve, reject) => {
      const outcome = this.#outcome;
      if (outcome !== undefined) {
        this.#ports.release();
        if (outcome.kind === "answer") resolve(outcome);
        else reject(outcome.error);
        return;
      }
      const onAbort = (): void => this.end(signal.reason);
      signal.addEventListener("abort", onAbort);
      const leave = (): void => signal.removeEventListener("abort", onAbort);
      this.#waiter = { ...attached, resolve, reject, leave };
      if (signal.aborted) return onAbort();
      this.#asks.answer(responses);
      this.#gather();
    });
  }

  /** Ends the call at its server. What it ends with is what that says. */
  end(reason: unknown): void {
    this.#upstream.abort(reason);
  }

  /** What became of the call. Called once. */
  settle(outcome: Outcome<Answer>): void {
    this.#stopGathering?.();
    this.#stopGathering = undefined;
    this.#outcome = outcome;
    this.#asks.end();
    const waiter = this.#takeWaiter();
    if (waiter === undefined) return;
    this.#ports.release();
    if (outcome.kind === "answer") waiter.resolve(outcome);
    else waiter.reject(outcome.error);
  }

  #ask(ask: ServerAsk, signal: AbortSignal): ReturnType<AnswerAsk> {
    const answer = this.#asks.add(ask, signal);
    if (this.isOver) this.#asks.end();
    else this.#gather();
    return answer;
  }

  #gather(): void {
    if (this.#waiter === undefined || this.#asks.size === 0) return;
    this.#stopGathering ??= this.#ports.soon(() => {
      this.#stopGathering = undefined;
      this.#put();
    });
  }

  /** Answers the agent's request with everything that waits. */
  #put(): void {
    const waiter = this.#waiter;
    const shown = waiter && this.#asks.show(waiter.capabilities);
    if (shown === undefined || shown.size === 0 || this.#upstream.signal.aborted) return;
    try {
      const raw = this.#ports.hold(shown);
      this.#wasAsked = true;
      this.#takeWaiter()?.resolve({ kind: "asks", raw });
    } catch (error) {
      this.end(error);
    }
  }

  #takeWaiter(): Waiter<Answer> | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.leave();
    return waiter;
  }
}
