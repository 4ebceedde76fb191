import { RemoteConnectorError, type Delivery, type DeliveryEvidence } from "../errors.js";
import type { OurTime } from "../protocol/input/index.js";
import type { Clock, Deadlines, Lifetimes } from "../transport/index.js";
import { PersonTime } from "./person-time.js";

/** What a wait can come to. Exactly one of them is called, once. */
export interface Waiting<V> {
  /** Begins what is waited for. The signal fires when it is no longer wanted; `ours` does what is not a person's part. */
  begin(signal: AbortSignal, ours: OurTime): Promise<V>;
  onValue(value: V): void;
  onError(error: unknown): void;
  onAbort(reason: unknown): void;
  onDeadline(): void;
  /** The client was closed. */
  onClosed(): void;
}

/** The waits of all calls of a client, for its end. */
export class OpenWaits {
  readonly #waits = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(onClosed: () => void): () => void {
    this.#waits.add(onClosed);
    return () => void this.#waits.delete(onClosed);
  }

  close(): void {
    this.#isClosed = true;
    for (const onClosed of this.#waits) onClosed();
  }
}

/** What the watches of a client's calls share. */
export interface WatchScope {
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly waits: OpenWaits;
}

/** One call through all its attempts and what it waits for between them: its total deadline, its signal, and what its requests have in common. */
export class CallWatch {
  /** What its requests are made for, as far as who authorizes them is concerned. */
  readonly purpose: object = {};
  readonly deadlines: Deadlines;
  readonly signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #lifetimes: Lifetimes;
  readonly #waits: OpenWaits;
  #startedAt: number;

  constructor(scope: WatchScope, deadlines: Deadlines, signal: AbortSignal | undefined) {
    const { clock, lifetimes, waits } = scope;
    this.#clock = clock;
    this.#lifetimes = lifetimes;
    this.#waits = waits;
    this.deadlines = deadlines;
    this.signal = signal;
    this.#startedAt = clock.now();
  }

  /** What is left of the total deadline. */
  timeLeft(): number {
    const { totalTimeoutMs } = this.deadlines;
    if (totalTimeoutMs === Infinity) return totalTimeoutMs;
    return Math.max(1, totalTimeoutMs - (this.#clock.now() - this.#startedAt));
  }

  /** Whether the total deadline has passed. */
  get isOver(): boolean {
    return this.#clock.now() - this.#startedAt >= this.deadlines.totalTimeoutMs;
  }

  /**
   * Waits under the call's signal and total deadline while no request of it is under way. `untimed`: the time is a
   * person's, and is not counted, but for what `ours` does.
   */
  wait<V>(waiting: Waiting<V>, { untimed }: { readonly untimed: boolean }): void {
    const { signal } = this;
    if (signal?.aborted === true) {
      waiting.onAbort(signal.reason);
      return;
    }
    if (this.#waits.isClosed) {
      waiting.onClosed();
      return;
    }
    const over = new AbortController();
    let isOver = false;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      lifetime.close();
      forget();
      person?.stop();
      return true;
    };
    const giveUp = (tell: () => void): void => {
      if (!end()) return;
      tell();
      over.abort();
    };
    const lifetime = this.#lifetimes.open(
      {
        onAbort: (reason) => giveUp(() => waiting.onAbort(reason)),
        onDeadline: () => giveUp(() => waiting.onDeadline()),
      },
      { ...this.deadlines, totalTimeoutMs: untimed ? Infinity : this.timeLeft(), signal },
    );
    const person = untimed ? this.#personTime(() => giveUp(() => waiting.onDeadline())) : undefined;
    const forget = this.#waits.add(() => giveUp(() => waiting.onClosed()));
    // Begun when the watch is open: what begins can be the caller's code, and may abort the call.
    waiting.begin(over.signal, person?.ours ?? begun).then(
      (value) => {
        if (end()) waiting.onValue(value);
      },
      (error: unknown) => {
        if (end()) waiting.onError(error);
      },
    );
  }

  #personTime(onDeadline: () => void): PersonTime {
    return new PersonTime({
      now: () => this.#clock.now(),
      excuse: (ms) => void (this.#startedAt += ms),
      watch: () =>
        this.#lifetimes.open(
          { onDeadline, onAbort: onDeadline },
          { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: this.timeLeft() },
        ),
    });
  }

  /** A pause, whose timer goes when the signal fires. */
  pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.schedule(delayMs, resolve);
      signal.addEventListener("abort", cancel, { once: true });
    });
  }

  /** The total deadline as an error: a later attempt had only what was left of it, but the caller knows the whole. */
  totalTimeout(delivery: Delivery, evidence: DeliveryEvidence): RemoteConnectorError<"timeout"> {
    const limitMs = this.deadlines.totalTimeoutMs;
    return new RemoteConnectorError("timeout", {
      message: `The call passed its total deadline of ${String(limitMs)} ms (totalTimeoutMs).`,
      delivery,
      details: { phase: "total", option: "totalTimeoutMs", limitMs, evidence },
    });
  }
}

/** All of the time is ours. */
function begun<W>(work: () => Promise<W>): Promise<W> {
  return work();
}
