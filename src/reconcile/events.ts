import type { Clock, Readiness } from "./ports.js";

/** Names one key. */
interface OfKey {
  readonly scope: string;
  readonly key: string;
}

/** Names one key and the generation that it is about. */
interface OfGeneration extends OfKey {
  readonly generation: number;
}

/** What happened, without its place in the order. */
export type ReconcileFact =
  | { readonly kind: "scope_activated"; readonly scope: string; readonly epoch: string }
  | { readonly kind: "scope_shut"; readonly scope: string; readonly epoch: string }
  /** Something new is desired. */
  | (OfGeneration & { readonly kind: "planned"; readonly enabled: boolean; readonly identity: string })
  /** Everything up to this generation was revoked; `committed` is false when its reason was rolled back. */
  | (OfGeneration & { readonly kind: "fenced"; readonly committed: boolean })
  | (OfGeneration & { readonly kind: "run_started"; readonly runToken: number })
  /** What is desired is the case. */
  | (OfGeneration & { readonly kind: "observed"; readonly readiness: Exclude<Readiness, "failed"> })
  /** Someone else is at work on it. */
  | (OfGeneration & { readonly kind: "starting" })
  | (OfGeneration & { readonly kind: "requeued"; readonly nextAttemptAt: number })
  /** It can't be had. `reason` is the reconciler's code. */
  | (OfGeneration & { readonly kind: "terminal"; readonly reason: string })
  | (OfGeneration & {
      readonly kind: "failed";
      readonly error: unknown;
      readonly counts: boolean;
      readonly attempts: number;
      readonly parked: boolean;
      readonly nextAttemptAt: number;
    })
  /** A result came too late to be written. */
  | (OfGeneration & { readonly kind: "superseded" })
  /** A run was told to end and did not; it has no right to write any more. */
  | (OfGeneration & { readonly kind: "abandoned" })
  /** A route that was observed is gone by itself. */
  | (OfGeneration & { readonly kind: "lost"; readonly error: unknown })
  /** The row of a key that nobody knows any more is gone. */
  | (OfKey & { readonly kind: "removed" })
  /** A store or a port failed. What it was for is tried again. `key` is undefined when it is about the whole scope. */
  | { readonly kind: "trouble"; readonly scope: string; readonly key: string | undefined; readonly error: unknown }
  /** A subscriber threw, and is no longer told anything. */
  | { readonly kind: "listener_dropped"; readonly error: unknown };

/** What happened, and where in the order. */
export type ReconcileEvent = ReconcileFact & {
  /** 1 for the first event of this controller, and one more each time. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** Hears every event. Does not throw. */
export type ReconcileListener = (event: ReconcileEvent) => void;

/** The part of {@link EventLog} that others see. */
export interface ReconcileEvents {
  /** Calls `listener` with every event from now on, in order, synchronously. The returned function ends that. */
  subscribe(listener: ReconcileListener): () => void;
}

/** Gives events their numbers, and gives them to every subscriber in that order. */
export class EventLog implements ReconcileEvents {
  readonly #clock: Clock;
  readonly #listeners = new Set<ReconcileListener>();
  /** Not empty only while events are given out. */
  readonly #undelivered: ReconcileEvent[] = [];
  #delivering = false;
  #seq = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  subscribe(listener: ReconcileListener): () => void {
    // A wrapper of its own, so that the same function can subscribe twice and each end only its own.
    const own: ReconcileListener = (event) => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  emit(fact: ReconcileFact): void {
    this.#seq += 1;
    this.#undelivered.push({ ...fact, seq: this.#seq, at: this.#clock.now() });
    // A listener that causes an event must not make the others hear it before the one that they are being told.
    if (this.#delivering) return;
    this.#delivering = true;
    for (let event = this.#undelivered.shift(); event !== undefined; event = this.#undelivered.shift()) {
      for (const listener of this.#listeners) this.#tell(listener, event);
    }
    this.#delivering = false;
  }

  #tell(listener: ReconcileListener, event: ReconcileEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#listeners.delete(listener);
      this.emit({ kind: "listener_dropped", error });
    }
  }
}
