/** How much of what happened is kept for those who read at their own pace. */
export interface EventRetention {
  readonly maxKeptEvents: number;
  readonly keepEventsMs: number;
}

/** Where an event is in the order, and when it was. */
export interface EventStamp {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Whether an event is kept no longer: as many as are kept came after it, or it is too old. `present`: the last number given
 * out, and the time now.
 *
 * Only the oldest is ever asked about: what is kept has no holes, also when the clock was set back.
 */
export function isExpired(event: EventStamp, present: EventStamp, limits: EventRetention): boolean {
  return present.seq - event.seq >= limits.maxKeptEvents || present.at - event.at > limits.keepEventsMs;
}

/** What a reader gets next. */
export type ReadVerdict =
  /** There is nothing newer. */
  | { readonly kind: "up_to_date" }
  | { readonly kind: "event"; readonly seq: number }
  /** What came after its place is not there any more; it goes on after `seq`. */
  | { readonly kind: "gap"; readonly seq: number };

/**
 * Decides what follows for a reader that has heard everything up to `after`. `first` is the oldest number that is kept, and
 * `last + 1` when nothing is.
 *
 * A gap ends at the last event of all, not at the first that is kept: the reader reads a snapshot, in which all of these are
 * contained, and one that is slow is not at once too slow again. A place behind the last event is one of another process.
 */
export function decideRead(after: number, first: number, last: number): ReadVerdict {
  if (after === last) return { kind: "up_to_date" };
  if (after > last || after + 1 < first) return { kind: "gap", seq: last };
  return { kind: "event", seq: after + 1 };
}
