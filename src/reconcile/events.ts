import { RemoteConnectorError } from "../errors.js";
import { refuseUnknownOptions } from "../options.js";
import type { EventGap, NoticeFact, TransitionEvent, TransitionFact } from "./event-facts.js";
import { encodeTransition } from "./event-form.js";
import { EventListeners, type ReconcileListener } from "./event-listeners.js";
import { type EventRetention, isExpired } from "./event-retention.js";
import { type EventLook, lookAfter, pruneEvents } from "./kept-events.js";
import { onCommit } from "./on-commit.js";
import type { Clock, ConvergenceTx, UnitOfWork } from "./ports.js";

/** From where on transitions are read, and for how long. */
export interface FollowOptions {
  /** Goes on after this transition of the same store: a `seq` that was read, or `position()`. From now on, if not given. */
  readonly after?: number | undefined;
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** The part of {@link EventLog} that others see. */
export interface ReconcileEvents {
  /** The number of the store's last transition; 0 before the first. Rejects with what the store rejects with. */
  position(): Promise<number>;
  /**
   * Calls `listener` with every event from now on, transitions and notices, in order, synchronously: it never falls behind,
   * and everyone else waits for it. The returned function ends that.
   */
  subscribe(listener: ReconcileListener): () => void;
  /**
   * Reads transitions from the store at the reader's own pace, in order, each once; a reader goes on where it was before a
   * restart. Nobody waits for a reader: transitions are kept for an hour, and 10,000 of them at most (`keepEventsMs`,
   * `maxKeptEvents`). A reader that asks for one that is gone, or for a place that the store never reached, gets a `gap` in
   * place of all that it missed, reads a snapshot (`Controller.status`), and goes on with what follows. To begin, take
   * `position()`, then read the snapshot, then follow `after` that number: nothing falls in between.
   *
   * Ends with the signal, and when the controller is closed and everything was read. Rejects with what the store rejects
   * with, when it fails or is closed while there is something to read; another reader may go on after the last `seq`. Throws
   * `invalid_options` for an unknown option, and `invalid_argument` for an `after` that is no whole number of at least 0.
   */
  follow(options?: FollowOptions): AsyncGenerator<TransitionEvent | EventGap, void, undefined>;
}

/** Every so many transitions, what is expired goes. A reader does not see it before that either. */
const APPENDS_PER_PRUNE = 64;

/** Keeps transitions in the store, and gives all events to every subscriber in order. */
export class EventLog<Tx extends ConvergenceTx> implements ReconcileEvents {
  readonly #store: UnitOfWork<Tx>;
  readonly #clock: Clock;
  readonly #limits: EventRetention;
  readonly #listeners = new EventListeners((error) => this.notify({ kind: "listener_dropped", error }));
  /** Readers that are up to date. Each is called once. */
  readonly #waiting = new Set<() => void>();
  /**
   * The store's last number. Known from the first look at the store or the first commit on, and true from then on: whatever
   * is committed is told of before anyone else has a turn.
   */
  #last: number | undefined;
  /** What the last number was when this was first known, before the first commit. */
  #first: number | undefined;
  #makingRoom: Promise<void> | undefined;
  #ended = false;

  constructor(store: UnitOfWork<Tx>, clock: Clock, limits: EventRetention) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  async position(): Promise<number> {
    if (this.#last !== undefined) return this.#last;
    return this.#store.read(async (tx) => {
      const last = await tx.events.last();
      this.#learn(last);
      return last;
    });
  }

  subscribe(listener: ReconcileListener): () => void {
    return this.#listeners.add(listener);
  }

  follow(options: FollowOptions = {}): AsyncGenerator<TransitionEvent | EventGap, void, undefined> {
    refuseUnknownOptions(options, ["after", "signal"]);
    const { after, signal } = options;
    if (after !== undefined && (!Number.isSafeInteger(after) || after < 0)) {
      throw new RemoteConnectorError("invalid_argument", {
        message: "The place to follow from must be a whole number of at least 0.",
        details: { argument: "after", reason: "not a number of an event" },
      });
    }
    const start = after === undefined ? this.#now() : Promise.resolve(after);
    // Now is when it is asked for, and not when it is first read from; whoever reads hears of a failure.
    start.catch(() => undefined);
    return this.#read(start, signal);
  }

  /**
   * Records a transition in the transaction that makes it. After the commit subscribers are told of it, at this place among
   * what was registered for the end of the transaction; after a rollback it never was. Rejects with what `tx` rejects with.
   */
  async record(tx: ConvergenceTx, fact: TransitionFact): Promise<void> {
    const at = this.#clock.now();
    const seq = await tx.events.append(at, encodeTransition(fact));
    onCommit(tx, () => {
      this.#first ??= seq - 1;
      this.#last = seq;
      this.#listeners.tell({ ...fact, seq, at });
      this.#wakeReaders();
    });
    if (seq % APPENDS_PER_PRUNE === 0) await pruneEvents(tx.events, seq, at, this.#limits);
  }

  /** Tells subscribers of something that is not kept. */
  notify(fact: NoticeFact): void {
    this.#listeners.tell({ ...fact, seq: this.#last ?? 0, at: this.#clock.now() });
  }

  /** Lets go of what is too old, when nothing else happens. Never rejects. */
  async prune(): Promise<void> {
    try {
      await this.#store.write(async (tx) => {
        await pruneEvents(tx.events, await tx.events.last(), this.#clock.now(), this.#limits);
      });
    } catch (error) {
      this.notify({ kind: "trouble", scope: undefined, key: undefined, error });
    }
  }

  /**
   * Gives up the older half of what is kept: a store that is full must not keep anyone from revoking something for the sake of
   * what was. Called again, it gives up half of the rest. Readers who are not so far get a `gap`. Never rejects; one at a time.
   */
  makeRoom(): Promise<void> {
    this.#makingRoom ??= this.#giveUpHalf().finally(() => (this.#makingRoom = undefined));
    return this.#makingRoom;
  }

  async #giveUpHalf(): Promise<void> {
    try {
      await this.#store.write(async ({ events }) => {
        const [oldest] = await events.list(0, 1);
        const last = await events.last();
        if (oldest !== undefined) await events.prune(oldest.seq + Math.floor((last - oldest.seq) / 2));
      });
    } catch (error) {
      this.notify({ kind: "trouble", scope: undefined, key: undefined, error });
    }
  }

  /** Nothing more comes: readers end when they have read what is there. */
  end(): void {
    this.#ended = true;
    this.#wakeReaders();
  }

  async *#read(
    start: Promise<number>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<TransitionEvent | EventGap, void, undefined> {
    const isOver = (): boolean => signal?.aborted === true;
    let heard = await start;
    while (!isOver()) {
      if (heard === this.#last) {
        if (this.#ended) return;
        await this.#news(signal);
        continue;
      }
      const lookedAt = this.#clock.now();
      const { page, last } = await this.#look(heard, lookedAt);
      if (page.kind === "up_to_date") continue;
      for (const each of page.kind === "gap" ? [page] : page.events) {
        if (isOver()) return;
        // A reader takes its time: what has expired meanwhile is looked for again.
        if (each.kind !== "gap" && this.#isGone(each) && !isExpired(each, { seq: last, at: lookedAt }, this.#limits))
          break;
        heard = each.seq;
        yield each;
      }
    }
  }

  #look(after: number, now: number): Promise<EventLook> {
    return this.#store.read(async (tx) => {
      const look = await lookAfter(tx.events, after, now, this.#limits);
      // Not after the transaction: another one may have been committed by then.
      this.#learn(look.last);
      return look;
    });
  }

  /** The position at the time of the call. What is committed before the store is read comes after it. */
  async #now(): Promise<number> {
    if (this.#last !== undefined) return this.#last;
    const last = await this.position();
    return this.#first ?? last;
  }

  #learn(last: number): void {
    this.#first ??= last;
    this.#last = last;
  }

  #isGone(event: TransitionEvent): boolean {
    return isExpired(event, { seq: this.#last ?? event.seq, at: this.#clock.now() }, this.#limits);
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
}
