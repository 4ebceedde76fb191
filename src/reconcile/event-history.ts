import { decideRead, type EventRetention, type EventStamp, isExpired } from "./event-retention.js";

/**
 * Says that events were not kept long enough for their reader. Whatever they told is in a snapshot that is read now
 * (`Controller.status`); what follows is news.
 */
export interface EventGap {
  readonly kind: "gap";
  /** The last event that was heard. */
  readonly after: number;
  /** The last event that was missed: what follows comes after it. */
  readonly seq: number;
}

/** The events that are kept, by number and without holes. */
export class EventHistory<Event extends EventStamp> {
  readonly #limits: EventRetention;
  readonly #kept = new Map<number, Event>();
  #first = 1;
  #last = 0;

  constructor(limits: EventRetention) {
    this.#limits = limits;
  }

  /** The number of the last event; 0 before the first. */
  get lastSeq(): number {
    return this.#last;
  }

  /** How many events are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** Keeps an event, whose number is the next one. */
  append(event: Event): void {
    this.#last = event.seq;
    this.#kept.set(event.seq, event);
    this.prune(event.at);
  }

  /** Lets go of what is expired at `now`. */
  prune(now: number): void {
    const present = { seq: this.#last, at: now };
    // By number, not in the order of the map: its iterators begin by skipping everything that was ever deleted.
    for (let oldest = this.#kept.get(this.#first); oldest !== undefined; oldest = this.#kept.get(this.#first)) {
      if (!isExpired(oldest, present, this.#limits)) return;
      this.#kept.delete(this.#first);
      this.#first += 1;
    }
  }

  /** What follows for a reader that has heard everything up to `after`; `undefined` when it is up to date. */
  next(after: number): Event | EventGap | undefined {
    const verdict = decideRead(after, this.#first, this.#last);
    switch (verdict.kind) {
      case "up_to_date":
        return undefined;
      case "event":
        return this.#kept.get(verdict.seq);
      case "gap":
        return { kind: "gap", after, seq: verdict.seq };
    }
  }
}
