import type { Clock, Lifetime, LifetimeOwner, Lifetimes } from "../../../transport/index.js";
import type { LeaseTerms } from "./lease-terms.js";

/** Why a lease ended. */
export type LeaseEnd = "revoked" | "expired" | "login_ended" | "closing";

/** A request under a lease. */
export interface LeasedCall {
  /** Ends it at once, with what is known of it. Synchronous. */
  leaseEnded(end: LeaseEnd): void;
}

/**
 * What one guest may do, and what it does. It ends once: by the desktop's word, by its time, or with its login; whatever is
 * under way then ends in the same turn, and nothing begins after it.
 */
export class Lease implements LifetimeOwner {
  readonly id: string;
  readonly terms: LeaseTerms;
  /** Of the bearer. */
  readonly hash: Uint8Array;
  readonly #clock: Clock;
  readonly #lifetimes: Lifetimes;
  readonly #loginSignal: AbortSignal;
  readonly #forget: (lease: Lease) => void;
  readonly #calls = new Set<LeasedCall>();
  #lifetime: Lifetime | undefined;
  /** When its time is over, on the clock. */
  #dueAt = 0;
  #end: LeaseEnd | undefined;

  constructor(
    id: string,
    terms: LeaseTerms,
    parts: {
      readonly hash: Uint8Array;
      readonly clock: Clock;
      readonly lifetimes: Lifetimes;
      readonly loginSignal: AbortSignal;
      readonly forget: (lease: Lease) => void;
    },
  ) {
    this.id = id;
    this.terms = terms;
    this.hash = parts.hash;
    this.#clock = parts.clock;
    this.#lifetimes = parts.lifetimes;
    this.#loginSignal = parts.loginSignal;
    this.#forget = parts.forget;
  }

  /** `undefined` while it is good. */
  get ended(): LeaseEnd | undefined {
    return this.#end;
  }

  /** Requests under way. */
  get size(): number {
    return this.#calls.size;
  }

  /** It is good for so long from now. */
  last(lifetimeMs: number): void {
    if (this.#end !== undefined) return;
    this.#lifetime?.close();
    if (this.#loginSignal.aborted) {
      this.end("login_ended");
      return;
    }
    this.#dueAt = this.#clock.now() + lifetimeMs;
    this.#lifetime = this.#lifetimes.open(this, {
      totalTimeoutMs: lifetimeMs,
      connectTimeoutMs: Infinity,
      idleTimeoutMs: Infinity,
      signal: this.#loginSignal,
    });
  }

  /** Whether it is good now. A timer can be late; a lease whose time is over ends here, too. */
  isGood(): boolean {
    if (this.#clock.now() >= this.#dueAt) this.end("expired");
    return this.#end === undefined;
  }

  add(call: LeasedCall): void {
    this.#calls.add(call);
  }

  delete(call: LeasedCall): void {
    this.#calls.delete(call);
  }

  end(end: LeaseEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#lifetime?.close();
    this.#forget(this);
    for (const call of this.#calls) call.leaseEnded(end);
  }

  onDeadline(): void {
    this.end("expired");
  }

  onAbort(): void {
    this.end("login_ended");
  }
}
