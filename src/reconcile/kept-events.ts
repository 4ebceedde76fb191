import type { EventGap, TransitionEvent } from "./event-facts.js";
import { decodeTransition } from "./event-form.js";
import { type EventRetention, isBeyond, isExpired } from "./event-retention.js";
import type { EventRows } from "./ports.js";

/** Rows read at a time: few enough to be read in a blink, and for a reader to hold. */
const ROWS_PER_READ = 64;

/** What a reader gets at once. */
export type EventPage =
  /** There is nothing newer. */
  | { readonly kind: "up_to_date" }
  | EventGap
  /** The next ones, at least one. */
  | { readonly kind: "events"; readonly events: readonly TransitionEvent[] };

/** What one look at the events found. */
export interface EventLook {
  readonly page: EventPage;
  /** The last number that was given out. */
  readonly last: number;
}

/** What follows for a reader that has heard everything up to `after`, without what is expired at `now`. */
export async function lookAfter(
  rows: EventRows,
  after: number,
  now: number,
  limits: EventRetention,
): Promise<EventLook> {
  const last = await rows.last();
  if (after === last) return { page: { kind: "up_to_date" }, last };
  const next = after < last ? await rows.list(after, ROWS_PER_READ) : [];
  const [head] = next;
  const isSure = head !== undefined && !isExpired(head, { seq: last, at: now }, limits);
  const first = isSure ? head.seq : await firstKept(rows, last, now, limits);
  const gap: EventGap = { kind: "gap", after, seq: last };
  if (isBeyond(after, first, last)) return { page: gap, last };
  const events: TransitionEvent[] = [];
  for (const row of next) {
    const event = decodeTransition(row);
    // What can't be read is not there: its reader is told so when it comes to it, and goes on.
    if (event === undefined) break;
    events.push(event);
  }
  return { page: events.length === 0 ? gap : { kind: "events", events }, last };
}

/** Removes what is expired at `now`. `last`: the last number that was given out. */
export async function pruneEvents(rows: EventRows, last: number, now: number, limits: EventRetention): Promise<void> {
  const first = await firstKept(rows, last, now, limits);
  await rows.prune(first - 1);
}

/** The number of the oldest event that is not expired; `last + 1` when there is none. */
async function firstKept(rows: EventRows, last: number, now: number, limits: EventRetention): Promise<number> {
  const present = { seq: last, at: now };
  // As a rule one row is enough to know.
  for (let after = Math.max(0, last - limits.maxKeptEvents), limit = 1; ; limit = ROWS_PER_READ) {
    const oldest = await rows.list(after, limit);
    for (const row of oldest) {
      if (!isExpired(row, present, limits)) return row.seq;
      after = row.seq;
    }
    if (oldest.length < limit) return last + 1;
  }
}
