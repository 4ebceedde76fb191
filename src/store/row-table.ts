import type { Column } from "./columns.js";

/** A table: its columns in the order in which rows are kept. */
export interface TableSpec {
  readonly name: string;
  readonly columns: readonly string[];
  /** The first so many columns are the key. One or two. */
  readonly keyLength: number;
}

/** The columns of one row, in the order of the table's spec. */
export type ColumnRow = readonly Column[];

/** One table inside the open transaction. */
export interface RowTable {
  get(...key: readonly string[]): ColumnRow | undefined;
  /** Inserts or replaces. */
  put(row: ColumnRow): void;
  /** Removes the row if it is there. */
  remove(...key: readonly string[]): void;
  /** All rows whose first key column is `first`, in no order. */
  list(first: string): readonly ColumnRow[];
  /** The second key column of those rows. */
  keys(first: string): readonly Column[];
  /** The values of the first key column, each once. */
  firsts(): readonly Column[];
  /** Every row, in no order. */
  all(): readonly ColumnRow[];
  count(): number;
}

/** Orders by a text in code units, as JavaScript compares; SQLite would order by bytes. */
export function inCodeUnits<Row>(rows: readonly Row[], textOf: (row: Row) => string): readonly Row[] {
  return [...rows].sort((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0));
}
