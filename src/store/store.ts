import type { ProjectionTx } from "../auth-projection/index.js";
import type { DocumentTx } from "../connector-host/documents/index.js";
import type { ConvergenceTx } from "../reconcile/index.js";

/**
 * A transaction, as the owners of rows see it. Usable until the work that it was given to has ended; after that, and for
 * writing inside `read`, its methods reject with `invalid_argument`.
 */
export interface StoreTx extends ConvergenceTx, ProjectionTx, DocumentTx {}

/**
 * Rows on disk or in memory, and one unit of work to read and write them in.
 *
 * All work is done one after the other, in the order in which it was asked for. Inside the work only methods of `tx` are
 * awaited: anything else that is awaited there keeps everyone else waiting, and another `write` or `read` never comes.
 */
export interface Store {
  /**
   * One transaction: committed when `work` resolves, rolled back when it rejects, which `write` then rejects with as it is.
   * Rejects with `store_full` when there is no room, and nothing was written then; with `store_unavailable` when the store
   * is closed or its file fails.
   */
  write<T>(work: (tx: StoreTx) => Promise<T>): Promise<T>;
  /** Like `write`, for work that writes nothing. It sees one state throughout. */
  read<T>(work: (tx: StoreTx) => Promise<T>): Promise<T>;
  /** Waits for work that was asked for before, and lets go of everything. Idempotent. */
  close(): Promise<void>;
}
