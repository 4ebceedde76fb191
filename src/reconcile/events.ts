import { RemoteConnectorError } from "../errors.js";
import { refuseUnknownOptions } from "../options.js";
import { EventHistory, type EventGap } from "./event-history.js";
import type { EventRetention } from "./event-retention.js";
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

/** From where on events are read, and for how long. */
export interface FollowOptions {
  /** Goes on after this event of the same controller: a `seq` that was read, or `lastSeq`. From now on, if not given. */
  readonly after?: number | undefined;
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** The part of {@link EventLog} that others see. */
export interface ReconcileEvents {
  /** The number of the last event; 0 before the first. */
  readonly lastSeq: number;
  /**
   * Calls `listener` with every event from now on, in order, synchronously: it never falls behind, and everyone else waits
   * for it. The returned function ends that.
   */
  subscribe(listener: ReconcileListener): () => void;
  /**
   * Reads events at the reader's own pace, in order, each once. Nobody waits for a reader: events are kept for an hour, and
   * 10,000 of them at most (`keepEventsMs`, `maxKeptEvents`). A reader that asks for one that is gone gets a `gap` in place
   * of all that it missed, reads a snapshot (`Controller.status`), and goes on with what follows. To begin, take
   * `lastSeq`, then read the snapshot, then follow `after` that number: nothing falls in between.
   *
   * Ends with the signal, and when the controller is closed and everything was read. Throws `invalid_options` for an unknown
   * option, and `invalid_argument` for an `after` that is no whole number of at least 0.
   */
  follow(options?: FollowOptions): AsyncGenerator<ReconcileEvent | EventGap, void, undefined>;
}

/** Gives events their numbers, and gives them to every subscriber in that order. */
export class EventLog implements ReconcileEvents {
  readonly #clock: Clock;
  readonly #history: EventHistory<ReconcileEvent>;
  readonly #listeners = new Set<ReconcileListener>();
  /** Readers that are up to date. Each is called once. */
  readonly #waiting = new Set<() => void>();
  /** Not empty only while events are given out. */
  readonly #undelivered: ReconcileEvent[] = [];
  #delivering = false;
  #ended = false;

  constructor(clock: Clock, limits: EventRetention) {
    this.#clock = clock;
    this.#history = new EventHistory(limits);
  }

  get lastSeq(): number {
    return this.#history.lastSeq;
  }

  /** How many events are kept. */
  get kept(): number {
    return this.#history.size;
  }

  subscribe(listener: ReconcileListener): () => void {
    // A wrapper of its own, so that the same function can subscribe twice and each end only its own.
    const own: ReconcileListener = (event) => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  follow(options: FollowOptions = {}): AsyncGenerator<ReconcileEvent | EventGap, void, undefined> {
    refuseUnknownOptions(options, ["after", "signal"]);
    const { after = this.lastSeq, signal } = options;
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new RemoteConnectorError("invalid_argument", {
        message: "The place to follow from must be a whole number of at least 0.",
        details: { argument: "after", reason: "not a number of an event" },
      });
    }
    return this.#read(after, signal);
  }

  emit(fact: ReconcileFact): void {
    const event: ReconcileEvent = { ...fact, seq: this.lastSeq + 1, at: this.#clock.now() };
    this.#history.append(event);
    this.#undelivered.push(event);
    // A listener that causes an event must not make the others hear it before the one that they are being told.
    if (this.#delivering) return;
    this.#delivering = true;
    for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
      for (const listener of this.#listeners) this.#tell(listener, next);
    }
    this.#delivering = false;
    this.#wakeReaders();
  }

  /** Lets go of events that are too old, when nothing else happens. */
  prune(): void {
    this.#history.prune(this.#clock.now());
  }

  /** Nothing more comes: readers end when they have read what is there. */
  end(): void {
    this.#ended = true;
    this.#wakeReaders();
  }

  async *#read(
    after: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ReconcileEvent | EventGap, void, undefined> {
    const isOver = (): boolean => signal?.aborted === true;
    let heard = after;
    while (!isOver()) {
      this.prune();
      const next = this.#history.next(heard);
      if (next !== undefined) {
        heard = next.seq;
        yield next;
      } else if (this.#ended) return;
      else await this.#news(signal);
    }
  }

  /** Resolves when there may be something to read, or the signal fires. */
  #news(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }

  #wakeReaders(): void {
    for (const wake of this.#waiting) wake();
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
