import type { Find } from "./finding.js";
import { member } from "./generations.js";
import type { JournalLine } from "./journal.js";
import type { Rows } from "./committed-rows.js";
import { rowName } from "./journal.js";

type EventLine = Extract<JournalLine, { t: "event" }>;

/** What a reader of events heard, over all lives: every number once, in order. */
export class EventOrder {
  readonly #find: Find;
  readonly #heard = new Map<number, EventLine>();
  #last = 0;

  constructor(find: Find) {
    this.#find = find;
  }

  /** The number of the last event that was heard; 0 for none. */
  get last(): number {
    return this.#last;
  }

  /** `goneUpTo`: the events up to this number were given up, for want of room. There is no gap for another reason. */
  hear(event: EventLine, goneUpTo: number): void {
    if (event.kind === "gap") {
      if (goneUpTo <= this.#last) this.#find("events", `there was a gap after ${String(this.#last)}`);
      this.#last = event.seq;
      return;
    }
    if (event.seq !== this.#last + 1) this.#find("events", `${String(event.seq)} came after ${String(this.#last)}`);
    this.#last = event.seq;
    this.#heard.set(event.seq, event);
  }

  /**
   * What was heard is what the file has, and nothing was heard that was not committed. What the file has given up can't be
   * compared any more.
   */
  judgeFile(file: Rows, goneUpTo: number): void {
    for (const [seq, { kind, key, generation }] of this.#heard) {
      if (seq <= goneUpTo) continue;
      const row = file.get(rowName("event", String(seq)));
      const text = member(row, "fact");
      const fact: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
      const isSame =
        member(fact, "kind") === kind &&
        (member(fact, "key") ?? null) === key &&
        (member(fact, "generation") ?? null) === generation;
      if (!isSame) this.#find("events", `${String(seq)} was heard as ${kind}, and the file has ${String(text)}`);
    }
    // Each is looked at once: the file keeps it, or a later look would say that it does not.
    this.#heard.clear();
  }

  /** The last event of the file was heard. */
  judgeEnd(file: Rows): void {
    if (file.has(rowName("event", String(this.#last + 1)))) {
      this.#find("events", `${String(this.#last + 1)} was never heard`);
    }
  }
}
