import type { DeadlinePhase, Lifetime, LifetimeLimits, Lifetimes } from "../../transport/index.js";

/** Who is told when a wait ends before what is waited for. */
export interface CallWaitOwner {
  onAbort(reason: unknown): void;
  onDeadline(phase: DeadlinePhase, limitMs: number): void;
}

/** A wait of a call while no exchange of it is under way, under its signal and what is left of its total deadline. */
export class CallWait {
  readonly #lifetime: Lifetime;
  #cancelTimer: (() => void) | undefined;
  #isOver = false;

  /** The caller has tested `limits.signal.aborted` before. `isIdle`: the peer is waited for, whose silence has a deadline. */
  constructor(lifetimes: Lifetimes, limits: LifetimeLimits, owner: CallWaitOwner, isIdle: boolean) {
    const idleTimeoutMs = isIdle ? limits.idleTimeoutMs : Infinity;
    this.#lifetime = lifetimes.open(owner, { ...limits, connectTimeoutMs: Infinity, idleTimeoutMs });
    this.#lifetime.established();
  }

  /** Waits for a moment. `schedule` sets a timer, and gives what cancels it. */
  until(schedule: (run: () => void) => () => void, onOver: () => void): void {
    this.#cancelTimer = schedule(() => {
      if (this.end()) onOver();
    });
  }

  touch(): void {
    this.#lifetime.touch();
  }

  hold(): void {
    this.#lifetime.hold();
  }

  release(): void {
    this.#lifetime.release();
  }

  /** Ends the wait. False when it had ended before. */
  end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#lifetime.close();
    return true;
  }
}
