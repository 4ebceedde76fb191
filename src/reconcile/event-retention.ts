/** How much of what happened is kept. */
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
 * An event that is too old is kept as long as an older one is: what is kept has no holes, also when the clock was set back.
 */
export function isExpired(event: EventStamp, present: EventStamp, limits: EventRetention): boolean {
  return present.seq - event.seq >= limits.maxKeptEvents || present.at - event.at > limits.keepEventsMs;
}

/**
 * Whether what follows for a reader that has heard everything up to `after` is not there any more, or never was: its place is
 * one of another store. `first` is the oldest number that is kept, and `last + 1` when nothing is.
 */
export function isBeyond(after: number, first: number, last: number): boolean {
  return after > last || after + 1 < first;
}
