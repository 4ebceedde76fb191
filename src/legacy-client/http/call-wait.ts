import type { LifetimeLimits, Lifetimes } from "../../transport/index.js";

/** Who is told when a wait ends before what is waited for. */
export interface CallWaitOwner {
  onAbort(reason: unknown): void;
  /** The total deadline passed. */
  onDeadline(): void;
}

/** A wait of a call while no exchange of it is under way, under its signal and what is left of its total deadline. */
export class CallWait {
  readonly #close: () => void;
  #cancelTimer: (() => void) | undefined;
  #isOver = false;

  /** The caller has tested `limits.signal.aborted` before. */
  constructor(lifetimes: Lifetimes, limits: LifetimeLimits, owner: CallWaitOwner) {
    const lifetime = lifetimes.open(owner, { ...limits, connectTimeoutMs: Infinity, idleTimeoutMs: Infinity });
    this.#close = () => lifetime.close();
  }

  /** Waits for a moment. `schedule` sets a timer, and gives what cancels it. */
  until(schedule: (run: () => void) => () => void, onOver: () => void): void {
    this.#cancelTimer = schedule(() => {
      if (this.end()) onOver();
    });
  }

  /** Ends the wait. False when it had ended before. */
  end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#close();
    return true;
  }
}
