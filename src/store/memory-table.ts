import type { Column } from "./columns.js";
import type { ColumnRow, RowTable, TableSpec } from "./row-table.js";

/** How to take a change back. */
export type Undo = () => void;

/** A table in memory. Each change is noted in the list that it was given, so that it can be taken back. */
export class MemoryTable implements RowTable {
  readonly #keyLength: number;
  readonly #changes: Undo[];
  /** By the first key column, then by the whole key. None of the inner maps is empty. */
  readonly #rows = new Map<Column, Map<string, ColumnRow>>();

  constructor(spec: TableSpec, changes: Undo[]) {
    this.#keyLength = spec.keyLength;
    this.#changes = changes;
  }

  get(...key: readonly string[]): ColumnRow | undefined {
    return this.#rows.get(firstOf(key))?.get(rowId(key));
  }

  put(row: ColumnRow): void {
    this.#change(row.slice(0, this.#keyLength), [...row]);
  }

  remove(...key: readonly string[]): void {
    this.#change(key, undefined);
  }

  list(first: string): readonly ColumnRow[] {
    return [...(this.#rows.get(first)?.values() ?? [])];
  }

  keys(first: string): readonly Column[] {
    return this.list(first).map((row) => row[1] ?? null);
  }

  firsts(): readonly Column[] {
    return [...this.#rows.keys()];
  }

  all(): readonly ColumnRow[] {
    return [...this.#rows.values()].flatMap((rows) => [...rows.values()]);
  }

  count(): number {
    let count = 0;
    for (const rows of this.#rows.values()) count += rows.size;
    return count;
  }

  #change(key: readonly Column[], row: ColumnRow | undefined): void {
    const first = firstOf(key);
    const id = rowId(key);
    const before = this.#rows.get(first)?.get(id);
    this.#changes.push(() => this.#set(first, id, before));
    this.#set(first, id, row);
  }

  #set(first: Column, id: string, row: ColumnRow | undefined): void {
    const rows = this.#rows.get(first) ?? new Map<string, ColumnRow>();
    if (row === undefined) rows.delete(id);
    else rows.set(id, row);
    if (rows.size === 0) this.#rows.delete(first);
    else this.#rows.set(first, rows);
  }
}

function firstOf([first = null]: readonly Column[]): Column {
  return first;
}

function rowId(key: readonly Column[]): string {
  return JSON.stringify(key);
}
