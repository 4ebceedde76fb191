import { RemoteConnectorError } from "../errors.js";

/** How far a list walk may go. */
export interface ListWalkLimits {
  readonly maxPages: number;
  readonly maxItems: number;
  readonly maxListBytes: number;
}

/** The default limits of a walk. */
export const LIST_WALK_LIMITS: ListWalkLimits = { maxPages: 64, maxItems: 10_000, maxListBytes: 64 * 1024 * 1024 };

/**
 * The paging decisions of one walk through a list.
 *
 * A cursor is opaque: `""` is one, and cursors are never compared. `null`, absence and anything that is no string end
 * the walk. A page with a cursor that adds no new name ends it with `no_progress` (unless such a page may end it in
 * peace); passing a limit ends it with `limit_exceeded`, never with a silent cut. Both errors have delivery `answered`.
 *
 * Source: 2026-07-28, Pagination.
 */
export class ListWalk {
  readonly #method: string;
  readonly #limits: ListWalkLimits;
  readonly #stall: "fails" | "ends";
  #pages = 0;
  #items = 0;
  #bytes = 0;

  /** `stall`: what a page with a cursor and nothing new does; legacy servers are known to send them. */
  constructor(method: string, limits: ListWalkLimits, stall: "fails" | "ends" = "fails") {
    this.#method = method;
    this.#limits = limits;
    this.#stall = stall;
  }

  /** Counts a page that came, before anything is made of its entries. Throws `limit_exceeded`. */
  received(entries: number, bytes: number): void {
    this.#pages += 1;
    this.#items += entries;
    this.#bytes += bytes;
    this.#require("maxItems", this.#items);
    this.#require("maxListBytes", this.#bytes);
  }

  /**
   * The cursor of the next page, or `undefined` when the walk is over. `fresh`: names or URIs that no earlier page had.
   * Throws `no_progress` and `limit_exceeded`.
   */
  next(fresh: number, nextCursor: unknown): string | undefined {
    if (typeof nextCursor !== "string") return undefined;
    if (fresh === 0) {
      if (this.#stall === "ends") return undefined;
      throw new RemoteConnectorError("no_progress", {
        message: `${this.#method} gave a page that adds nothing new, and yet a cursor.`,
        delivery: "answered",
        details: { method: this.#method, pages: this.#pages },
      });
    }
    this.#require("maxPages", this.#pages + 1);
    return nextCursor;
  }

  #require(option: keyof ListWalkLimits, value: number): void {
    const limit = this.#limits[option];
    if (value <= limit) return;
    throw new RemoteConnectorError("limit_exceeded", {
      message: `${this.#method} passed its limit; ${option} raises it.`,
      delivery: "answered",
      details: { option, limit },
    });
  }
}
