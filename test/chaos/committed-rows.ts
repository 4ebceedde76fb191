import { PRUNED, type WrittenRow } from "./journal.js";

/** Rows by name. A row that is gone is not in it. */
export type Rows = ReadonlyMap<string, unknown>;

/** Told of each row that a commit changes. */
export type RowListener = (name: string, before: unknown, after: unknown) => void;

/** The rows of a host's file, by what was written down of its transactions. */
export class CommittedRows {
  readonly #rows = new Map<string, unknown>();
  /** What the open transaction is about to commit. */
  #open: readonly WrittenRow[] | undefined;

  /** The rows that are committed as far as was written down. */
  get rows(): Rows {
    return this.#rows;
  }

  /** The same with what the last transaction was about to commit, when it is not known whether it did. */
  get rowsIfCommitted(): Rows {
    const rows = new Map(this.#rows);
    change(rows, this.#open ?? []);
    return rows;
  }

  /** Whether a write transaction is open, or is being committed. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  begin(): void {
    this.#open = [];
  }

  write(rows: readonly WrittenRow[]): void {
    this.#open = rows;
  }

  commit(onRow: RowListener): void {
    const rows = this.#open ?? [];
    this.#open = undefined;
    for (const { name, row } of rows) onRow(name, this.#rows.get(name), row);
    change(this.#rows, rows);
  }

  rollBack(): void {
    this.#open = undefined;
  }

  /** The process is dead and its file has these rows: the next one goes on from there. */
  resume(rows: Rows): void {
    this.#rows.clear();
    for (const [name, row] of rows) this.#rows.set(name, row);
    this.#open = undefined;
  }
}

function change(rows: Map<string, unknown>, changes: readonly WrittenRow[]): void {
  for (const { name, row } of changes) {
    const [table, key = ""]: readonly string[] = JSON.parse(name);
    if (table === PRUNED) prune(rows, Number(key));
    else if (row === null) rows.delete(name);
    else rows.set(name, row);
  }
}

function prune(rows: Map<string, unknown>, upTo: number): void {
  for (const name of rows.keys()) {
    const [table, seq = ""]: readonly string[] = JSON.parse(name);
    if (table === "event" && Number(seq) <= upTo) rows.delete(name);
  }
}
