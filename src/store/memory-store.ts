import { CONVERGENCE_TABLE, convergenceRows } from "./convergence-rows.js";
import { MemoryTable, type Undo } from "./memory-table.js";
import { FLOW_TABLE, flowRows } from "./flow-rows.js";
import { DOCUMENT_TABLE, documentRows } from "./document-rows.js";
import { eventRows } from "./event-rows.js";
import { MemoryEventTable } from "./memory-event-table.js";
import { OVERLAY_TABLE, overlayRows } from "./overlay-rows.js";
import { ACCOUNT_TABLE, PROJECTION_TABLE, projectionRows } from "./projection-rows.js";
import { SerialStore, type StoreEngine } from "./serial-store.js";
import type { Store, StoreTx } from "./store.js";
import type { Transaction } from "./transaction.js";

/** A store that forgets everything with the process. It obeys the same contract as the one on disk. */
export function createMemoryStore(): Store {
  return new SerialStore(new MemoryEngine());
}

class MemoryEngine implements StoreEngine {
  readonly name = "memory";
  /** Changes of the open transaction, in order. */
  readonly #changes: Undo[] = [];
  readonly #convergence = new MemoryTable(CONVERGENCE_TABLE, this.#changes);
  readonly #events = new MemoryEventTable(this.#changes);
  readonly #accounts = new MemoryTable(ACCOUNT_TABLE, this.#changes);
  readonly #projections = new MemoryTable(PROJECTION_TABLE, this.#changes);
  readonly #overlays = new MemoryTable(OVERLAY_TABLE, this.#changes);
  readonly #flows = new MemoryTable(FLOW_TABLE, this.#changes);
  readonly #documents = new MemoryTable(DOCUMENT_TABLE, this.#changes);
  /** Not taken back by a rollback: a number never comes again. */
  #generation = 0;

  begin(transaction: Transaction): StoreTx {
    const nextGeneration = (): number => (this.#generation += 1);
    return {
      convergence: convergenceRows(this.#convergence, nextGeneration, transaction),
      events: eventRows(this.#events, transaction),
      projections: projectionRows(this.#accounts, this.#projections, transaction),
      overlays: overlayRows(this.#overlays, transaction),
      flows: flowRows(this.#flows, transaction),
      documents: documentRows(this.#documents, transaction),
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
