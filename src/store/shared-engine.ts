import { RemoteConnectorError } from "../errors.js";
import type { RowTable } from "./row-table.js";

/** The tables of a shared store inside one transaction. */
export interface SharedTables {
  readonly credentials: RowTable;
  readonly leases: RowTable;
  readonly eras: RowTable;
  /** A number greater than every one before it, which counts when the transaction is committed. */
  nextGeneration(): number;
}

/** Where the rows of a shared store are kept. */
export interface SharedEngine {
  /**
   * One transaction, alone in all processes: committed with what `work` returns, rolled back when it throws, which this rejects
   * with. `work` is synchronous, so that a transaction is as short as it can be. It may be begun again when it could not begin.
   */
  transact<T>(work: (tables: SharedTables) => T): Promise<T>;
  close(): Promise<void>;
}

/** The error for what is asked of a store that is closed. */
export function storeClosed(path: string): RemoteConnectorError<"store_unavailable"> {
  return new RemoteConnectorError("store_unavailable", {
    message: "The store is closed.",
    details: { path, reason: "closed" },
  });
}
