import { PRUNED, type WrittenRow } from "./journal.js";

/** Rows by name. A row that is gone is not in it. */
export type Rows = ReadonlyMap<string, unknown>;

/** Told of each row that a commit changes. */
export type RowListener = (name: string, before: unknown, after: unknown) => void;

/** The rows of a host's file, by what was written down of its transactions. */
export class CommittedRows {
  readonly #rows = new Map<string, unknown>();
  #goneUpTo = 0;
  /** What the open transaction is about to commit. */
  #open: readonly WrittenRow[] | undefined;

  /** The rows that are committed as far as was written down. */
  get rows(): Rows {
    return this.#rows;
  }

  /** The number up to which no event is kept any more. */
  get goneUpTo(): number {
    return this.#goneUpTo;
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
    this.#goneUpTo = Math.max(this.#goneUpTo, change(this.#rows, rows));
  }

  rollBack(): void {
    this.#open = undefined;
  }

  /** The process is dead and its file has these rows: the next one goes on from there. */
  resume(rows: Rows): void {
    this.#rows.clear();
    for (const [name, row] of rows) this.#rows.set(name, row);
    this.#open = undefined;
    const kept = [...eventsOf(rows)].map(([, seq]) => seq);
    if (kept.length > 0) this.#goneUpTo = Math.max(this.#goneUpTo, Math.min(...kept) - 1);
  }
}

/** Makes the changes. Answers the number up to which they removed events; 0 when they removed none. */
function change(rows: Map<string, unknown>, changes: readonly WrittenRow[]): number {
  let goneUpTo = 0;
  for (const { name, row } of changes) {
    const [table, key = ""]: readonly string[] = JSON.parse(name);
    if (table === PRUNED) {
      goneUpTo = Math.max(goneUpTo, Number(key));
      for (const [event, seq] of eventsOf(rows)) if (seq <= goneUpTo) rows.delete(event);
    } else if (row === null) rows.delete(name);
    else rows.set(name, row);
  }
  return goneUpTo;
}

function* eventsOf(rows: Rows): Iterable<readonly [name: string, seq: number]> {
  for (const name of rows.keys()) {
    const [table, seq = ""]: readonly string[] = JSON.parse(name);
    if (table === "event") yield [name, Number(seq)];
  }
}
