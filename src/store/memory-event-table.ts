import type { EventTable } from "./event-rows.js";
import type { Undo } from "./memory-table.js";
import type { ColumnRow } from "./row-table.js";

/** Events in memory, by number and without holes. */
export class MemoryEventTable implements EventTable {
  /** How to take the changes of the open transaction back. */
  readonly #changes: Undo[];
  readonly #rows = new Map<number, ColumnRow>();
  #first = 1;
  #last = 0;

  constructor(changes: Undo[]) {
    this.#changes = changes;
  }

  append(at: number, fact: string): number {
    const seq = this.#last + 1;
    this.#last = seq;
    this.#rows.set(seq, [seq, at, fact]);
    this.#changes.push(() => {
      this.#rows.delete(seq);
      this.#last = seq - 1;
    });
    return seq;
  }

  last(): number {
    return this.#last;
  }

  list(after: number, limit: number): readonly ColumnRow[] {
    const found: ColumnRow[] = [];
    for (let seq = Math.max(after + 1, this.#first); seq <= this.#last && found.length < limit; seq += 1) {
      const row = this.#rows.get(seq);
      if (row !== undefined) found.push(row);
    }
    return found;
  }

  prune(upTo: number): void {
    const first = this.#first;
    const gone: (readonly [number, ColumnRow])[] = [];
    for (; this.#first <= Math.min(upTo, this.#last); this.#first += 1) {
      const row = this.#rows.get(this.#first);
      if (row !== undefined) gone.push([this.#first, row]);
      this.#rows.delete(this.#first);
    }
    this.#changes.push(() => {
      this.#first = first;
      for (const [seq, row] of gone) this.#rows.set(seq, row);
    });
  }
}
