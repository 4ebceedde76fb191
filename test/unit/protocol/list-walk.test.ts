import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { LIST_WALK_LIMITS, ListWalk } from "../../../src/protocol/index.js";
import { captureError } from "./capture-error.js";

const method = "tools/list";
interface WalkedPage {
  readonly items: number;
  readonly fresh: number;
  readonly bytes: number;
  readonly nextCursor: unknown;
}

const take = (walk: ListWalk, { items, bytes, fresh, nextCursor }: WalkedPage): string | undefined => {
  walk.received(items, bytes);
  return walk.next(fresh, nextCursor);
};

const page = (changes: Partial<WalkedPage> = {}): WalkedPage => ({
  items: 1,
  fresh: 1,
  bytes: 10,
  nextCursor: "next",
  ...changes,
});

describe("ListWalk", () => {
  it.each(["next", "", " ", "null", "0", "undefined"])("W-30: %j is a cursor and comes back as it is", (nextCursor) => {
    expect(take(new ListWalk(method, LIST_WALK_LIMITS), page({ nextCursor }))).toBe(nextCursor);
  });

  it.each([null, undefined, 0, 7, false, true, {}, ["a"]])("W-30: %j ends the walk", (nextCursor) => {
    expect(take(new ListWalk(method, LIST_WALK_LIMITS), page({ nextCursor }))).toBeUndefined();
  });

  it("W-30: cursors are not compared: one that repeats goes on while names are new", () => {
    const walk = new ListWalk(method, LIST_WALK_LIMITS);
    for (let turn = 0; turn < 10; turn += 1) expect(take(walk, page({ nextCursor: "" }))).toBe("");
    expect(take(walk, page({ nextCursor: null }))).toBeUndefined();
  });

  it.each([0, 3])("W-30: a page of %i entries that adds nothing, and yet a cursor, is no progress", (items) => {
    const walk = new ListWalk(method, LIST_WALK_LIMITS);
    take(walk, page());
    const error = captureError(() => take(walk, page({ items, fresh: 0, nextCursor: "new" })));
    expect(isRemoteConnectorError(error, "no_progress")).toBe(true);
    expect(error).toMatchObject({ delivery: "answered", details: { method, pages: 2 } });
  });

  it("W-30: the same ends a legacy walk in peace", () => {
    const walk = new ListWalk(method, LIST_WALK_LIMITS, "ends");
    expect(take(walk, page())).toBe("next");
    expect(take(walk, page({ fresh: 0 }))).toBeUndefined();
  });

  it.each(["fails", "ends"] as const)("W-30: a last page may add nothing (a stall %s)", (stall) => {
    const walk = new ListWalk(method, LIST_WALK_LIMITS, stall);
    expect(take(walk, page({ items: 0, fresh: 0, nextCursor: undefined }))).toBeUndefined();
  });

  it("W-30: stops at 64 pages, 10,000 entries and 64 MiB unless told otherwise", () => {
    expect(LIST_WALK_LIMITS).toEqual({ maxPages: 64, maxItems: 10_000, maxListBytes: 67_108_864 });
  });

  it.each([
    ["maxPages", { maxPages: 3, maxItems: 100, maxListBytes: 1000 }, 2],
    ["maxItems", { maxPages: 100, maxItems: 3, maxListBytes: 1000 }, 3],
    ["maxListBytes", { maxPages: 100, maxItems: 100, maxListBytes: 30 }, 3],
  ] as const)("W-30: a walk may reach %s, and passing it is an error that names it", (option, limits, pagesBefore) => {
    for (const stall of ["fails", "ends"] as const) {
      const reaching = new ListWalk(method, limits, stall);
      expect([take(reaching, page()), take(reaching, page())]).toEqual(["next", "next"]);
      expect(take(reaching, page({ nextCursor: null }))).toBeUndefined();

      const passing = new ListWalk(method, limits, stall);
      let turns = 0;
      const error = captureError(() => {
        for (; turns < 9; turns += 1) take(passing, page());
      });
      expect(turns).toBe(pagesBefore);
      expect(isRemoteConnectorError(error, "limit_exceeded")).toBe(true);
      expect(error).toMatchObject({ delivery: "answered", details: { option, limit: limits[option] } });
    }
  });

  it.each([
    ["maxItems", page({ items: 101, nextCursor: null })],
    ["maxListBytes", page({ bytes: 1001, nextCursor: undefined })],
  ])("W-30: a last page can pass %s", (option, last) => {
    const walk = new ListWalk(method, { maxPages: 9, maxItems: 100, maxListBytes: 1000 });
    expect(captureError(() => take(walk, last))).toMatchObject({ code: "limit_exceeded", details: { option } });
  });
});
