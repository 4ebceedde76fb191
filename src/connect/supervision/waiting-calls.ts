import { RemoteConnectorError } from "../../errors.js";
import {
  type Clock,
  type DeadlinePhase,
  deadlineFailure,
  type Lifetime,
  type LifetimeLimits,
  type LifetimeOwner,
  Lifetimes,
} from "../../transport/index.js";

/** How a wait ended: with what was waited for, or without anything sent. */
export type WaitOutcome<T> =
  | { readonly kind: "served"; readonly value: T }
  | { readonly kind: "refused"; readonly reason: unknown };

export interface WaitingConfig {
  readonly clock: Clock;
  readonly maxWaitingCalls: number;
}

/** Calls that wait for a server, each within its own deadline and signal. Waiting counts as connecting. */
export class WaitingCalls<T> {
  readonly #config: WaitingConfig;
  readonly #lifetimes: Lifetimes;
  readonly #open = new Set<WaitingCall<T>>();

  constructor(config: WaitingConfig) {
    this.#config = config;
    this.#lifetimes = new Lifetimes(config.clock);
  }

  /** `done` is called once. `holdup` says what keeps the server from being there, when a deadline passed. */
  add(limits: LifetimeLimits, holdup: () => unknown, done: (outcome: WaitOutcome<T>) => void): void {
    const { maxWaitingCalls: limit } = this.#config;
    if (limits.signal?.aborted === true) {
      done({ kind: "refused", reason: limits.signal.reason });
    } else if (this.#open.size >= limit) {
      const message = "Too many calls wait for the server to start; maxWaitingCalls raises the limit.";
      const details = { option: "maxWaitingCalls", limit };
      done({ kind: "refused", reason: new RemoteConnectorError("limit_exceeded", { message, details }) });
    } else {
      const call = new WaitingCall<T>(holdup, (outcome) => {
        this.#open.delete(call);
        done(outcome);
      });
      this.#open.add(call);
      call.start(this.#lifetimes, limits);
    }
  }

  /** The server is there: every call goes, in the order in which they came. */
  serve(value: T): void {
    for (const call of Array.from(this.#open)) call.end({ kind: "served", value });
  }

  /** The server will not be there. */
  refuse(reason: () => RemoteConnectorError): void {
    for (const call of Array.from(this.#open)) call.end({ kind: "refused", reason: reason() });
  }
}

class WaitingCall<T> implements LifetimeOwner {
  readonly #holdup: () => unknown;
  readonly #done: (outcome: WaitOutcome<T>) => void;
  #lifetime: Lifetime | undefined;
  #isOver = false;

  constructor(holdup: () => unknown, done: (outcome: WaitOutcome<T>) => void) {
    this.#holdup = holdup;
    this.#done = done;
  }

  start(lifetimes: Lifetimes, limits: LifetimeLimits): void {
    this.#lifetime = lifetimes.open(this, limits);
    this.#lifetime.connecting();
  }

  end(outcome: WaitOutcome<T>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lifetime?.close();
    this.#done(outcome);
  }

  onDeadline(phase: DeadlinePhase, limitMs: number): void {
    const { code, message, details } = deadlineFailure(phase, limitMs);
    const cause = this.#holdup();
    this.end({ kind: "refused", reason: new RemoteConnectorError(code, { message, details, cause }) });
  }

  onAbort(reason: unknown): void {
    this.end({ kind: "refused", reason });
  }
}
