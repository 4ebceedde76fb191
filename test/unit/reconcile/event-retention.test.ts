import { describe, expect, it } from "vitest";
import { isBeyond, isExpired } from "../../../src/reconcile/event-retention.js";

const LIMITS = { maxKeptEvents: 10_000, keepEventsMs: 3_600_000 };

describe("isExpired", () => {
  it.each([
    { what: "the newest", seq: 10_000, at: 0, now: 0, expired: false },
    { what: "one that 9,999 came after", seq: 1, at: 0, now: 0, expired: false },
    { what: "one that 10,000 came after", seq: 0, at: 0, now: 0, expired: true },
    { what: "one of an hour ago", seq: 10_000, at: 0, now: 3_600_000, expired: false },
    { what: "one of more than an hour ago", seq: 10_000, at: 0, now: 3_600_001, expired: true },
    { what: "one from before the clock was set back", seq: 10_000, at: 9_000_000, now: 0, expired: false },
  ])("R-8: an hour or 10,000, whichever is less: $what", ({ seq, at, now, expired }) => {
    expect(isExpired({ seq, at }, { seq: 10_000, at: now }, LIMITS)).toBe(expired);
  });
});

describe("isBeyond", () => {
  it.each([
    { what: "nothing ever happened", after: 0, first: 1, last: 0, beyond: false },
    { what: "everything was heard", after: 5, first: 3, last: 5, beyond: false },
    { what: "everything was heard and is gone", after: 5, first: 6, last: 5, beyond: false },
    { what: "the next is there", after: 4, first: 3, last: 5, beyond: false },
    { what: "the next is the oldest", after: 2, first: 3, last: 5, beyond: false },
    { what: "the next is gone", after: 1, first: 3, last: 5, beyond: true },
    { what: "all is gone", after: 4, first: 6, last: 5, beyond: true },
    { what: "the place is not of this store", after: 6, first: 3, last: 5, beyond: true },
    { what: "the store is a new one", after: 6, first: 1, last: 0, beyond: true },
  ])("R-8: $what", ({ after, first, last, beyond }) => {
    expect(isBeyond(after, first, last)).toBe(beyond);
  });
});
