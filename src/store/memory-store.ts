import type { Column } from "./columns.js";
import { CONVERGENCE_TABLE, convergenceRows } from "./convergence-rows.js";
import { OVERLAY_TABLE, overlayRows } from "./overlay-rows.js";
import { ACCOUNT_TABLE, PROJECTION_TABLE, projectionRows } from "./projection-rows.js";
import type { ColumnRow, RowTable, TableSpec } from "./row-table.js";
import { SerialStore, type StoreEngine } from "./serial-store.js";
import type { Store, StoreTx } from "./store.js";
import type { Transaction } from "./transaction.js";

/** A store that forgets everything with the process. It obeys the same contract as the one on disk. */
export function createMemoryStore(): Store {
  return new SerialStore(new MemoryEngine());
}

/** How to take a change back. */
type Undo = () => void;

class MemoryEngine implements StoreEngine {
  readonly name = "memory";
  /** Changes of the open transaction, in order. */
  readonly #changes: Undo[] = [];
  readonly #convergence = new MemoryTable(CONVERGENCE_TABLE, this.#changes);
  readonly #accounts = new MemoryTable(ACCOUNT_TABLE, this.#changes);
  readonly #projections = new MemoryTable(PROJECTION_TABLE, this.#changes);
  readonly #overlays = new MemoryTable(OVERLAY_TABLE, this.#changes);
  /** Not taken back by a rollback: a number never comes again. */
  #generation = 0;

  begin(transaction: Transaction): StoreTx {
    const nextGeneration = (): number => (this.#generation += 1);
    return {
      convergence: convergenceRows(this.#convergence, nextGeneration, transaction),
      projections: projectionRows(this.#accounts, this.#projections, transaction),
      overlays: overlayRows(this.#overlays, transaction),
      onSettled: (run) => transaction.onSettled(run),
    };
  }

  commit(): void {
    this.#changes.length = 0;
  }

  rollback(): void {
    for (const undo of this.#changes.splice(0).toReversed()) undo();
  }

  close(): void {
    // Nothing is held.
  }
}

class MemoryTable implements RowTable {
  readonly #keyLength: number;
  readonly #changes: Undo[];
  readonly #rows = new Map<string, ColumnRow>();

  constructor(spec: TableSpec, changes: Undo[]) {
    this.#keyLength = spec.keyLength;
    this.#changes = changes;
  }

  get(...key: readonly string[]): ColumnRow | undefined {
    return this.#rows.get(rowId(key));
  }

  put(row: ColumnRow): void {
    this.#change(rowId(row.slice(0, this.#keyLength)), [...row]);
  }

  remove(...key: readonly string[]): void {
    this.#change(rowId(key), undefined);
  }

  list(first: string): readonly ColumnRow[] {
    return [...this.#rows.values()].filter((row) => row[0] === first);
  }

  #change(id: string, row: ColumnRow | undefined): void {
    const before = this.#rows.get(id);
    this.#changes.push(() => this.#set(id, before));
    this.#set(id, row);
  }

  #set(id: string, row: ColumnRow | undefined): void {
    if (row === undefined) this.#rows.delete(id);
    else this.#rows.set(id, row);
  }
}

function rowId(key: readonly Column[]): string {
  return JSON.stringify(key);
}
