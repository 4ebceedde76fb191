import { CONVERGENCE_TABLE, convergenceRows } from "./convergence-rows.js";
import { DOCUMENT_TABLE, documentRows } from "./document-rows.js";
import { eventRows } from "./event-rows.js";
import { GenerationCounter } from "./generation-counter.js";
import { FLOW_TABLE, flowRows } from "./flow-rows.js";
import { OVERLAY_TABLE, overlayRows } from "./overlay-rows.js";
import { ACCOUNT_TABLE, PROJECTION_TABLE, projectionRows } from "./projection-rows.js";
import type { StoreEngine } from "./serial-store.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { SqliteEventTable } from "./sqlite-event-table.js";
import { SqliteTable } from "./sqlite-table.js";
import type { StoreTx } from "./store.js";
import type { Transaction, TransactionMode } from "./transaction.js";

/** Rows in one file that belongs to this process alone. */
export class SqliteEngine implements StoreEngine {
  readonly name: string;
  readonly #connection: SqliteConnection;
  readonly #counter: GenerationCounter;
  readonly #convergence: SqliteTable;
  readonly #events: SqliteEventTable;
  readonly #accounts: SqliteTable;
  readonly #projections: SqliteTable;
  readonly #overlays: SqliteTable;
  readonly #flows: SqliteTable;
  readonly #documents: SqliteTable;

  /** `connection` is at the known format. Throws `store_*`. */
  constructor(connection: SqliteConnection) {
    this.name = connection.path;
    this.#connection = connection;
    this.#convergence = new SqliteTable(connection, CONVERGENCE_TABLE);
    this.#events = new SqliteEventTable(connection);
    this.#accounts = new SqliteTable(connection, ACCOUNT_TABLE);
    this.#projections = new SqliteTable(connection, PROJECTION_TABLE);
    this.#overlays = new SqliteTable(connection, OVERLAY_TABLE);
    this.#flows = new SqliteTable(connection, FLOW_TABLE);
    this.#documents = new SqliteTable(connection, DOCUMENT_TABLE);
    this.#counter = new GenerationCounter(connection);
    this.#counter.replenish();
  }

  begin(transaction: Transaction): StoreTx {
    if (transaction.mode === "write") this.#replenish();
    // Reading needs a transaction too: outside of one, each statement would be one of its own.
    this.#connection.begin(transaction.mode === "write" ? "IMMEDIATE" : "DEFERRED");
    return {
      convergence: convergenceRows(this.#convergence, () => this.#counter.next(), transaction),
      events: eventRows(this.#events, transaction),
      projections: projectionRows(this.#accounts, this.#projections, transaction),
      overlays: overlayRows(this.#overlays, transaction),
      flows: flowRows(this.#flows, transaction),
      documents: documentRows(this.#documents, transaction),
      onSettled: (run) => transaction.onSettled(run),
    };
  }

  commit(mode: TransactionMode): void {
    this.#connection.commit();
    if (mode === "write") this.#counter.settle(true);
  }

  rollback(mode: TransactionMode): void {
    this.#connection.rollback();
    if (mode === "write") this.#counter.settle(false);
  }

  close(): void {
    this.#connection.close();
  }

  /** A full disk must not keep out the transaction that revokes something: it may need no new numbers, or find room. */
  #replenish(): void {
    try {
      this.#counter.replenish();
    } catch {
      // The counter tries again when it has none left, inside the transaction, and fails that then.
    }
  }
}
