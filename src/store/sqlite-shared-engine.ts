import { newerFormat } from "./file-format.js";
import { patiently } from "./patience.js";
import { CREDENTIAL_TABLE } from "./shared-credentials.js";
import { type SharedEngine, type SharedTables, storeClosed } from "./shared-engine.js";
import { ERA_TABLE } from "./shared-eras.js";
import { SHARED_FORMAT } from "./shared-format.js";
import { LEASE_TABLE } from "./shared-leases.js";
import type { SharedStoreConfig } from "./shared-options.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { SqliteTable } from "./sqlite-table.js";

const NEXT =
  "INSERT INTO counter (name, last) VALUES ('generation', 1) ON CONFLICT (name) DO UPDATE SET last = last + 1 RETURNING last";

/**
 * Rows in one file that several processes use. Everything, reading too, is done between BEGIN IMMEDIATE and COMMIT: a statement
 * that meets another process anywhere else makes the connection useless.
 */
export class SqliteSharedEngine implements SharedEngine {
  readonly #connection: SqliteConnection;
  readonly #config: SharedStoreConfig;
  readonly #tables: SharedTables;
  #isClosed = false;

  /** `connection` is at the known format. */
  constructor(connection: SqliteConnection, config: SharedStoreConfig) {
    this.#connection = connection;
    this.#config = config;
    this.#tables = {
      credentials: new SqliteTable(connection, CREDENTIAL_TABLE),
      leases: new SqliteTable(connection, LEASE_TABLE),
      eras: new SqliteTable(connection, ERA_TABLE),
      nextGeneration: () => connection.number(NEXT),
    };
  }

  transact<T>(work: (tables: SharedTables) => T): Promise<T> {
    const { bounds, busyTimeoutMs } = this.#config;
    return patiently(bounds.clock, busyTimeoutMs, () => this.#attempt(work));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }

  #attempt<T>(work: (tables: SharedTables) => T): T {
    const connection = this.#connection;
    if (this.#isClosed) throw storeClosed(connection.path);
    return connection.transact("IMMEDIATE", () => {
      this.#assertFormat();
      return work(this.#tables);
    });
  }

  /** A process of a newer version may have brought the file to its format since it was opened. */
  #assertFormat(): void {
    const found = this.#connection.number("PRAGMA user_version");
    const known = SHARED_FORMAT.steps.length;
    if (found > known) throw newerFormat(this.#connection.path, found, known);
  }
}
