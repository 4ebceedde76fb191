import { join } from "node:path";
import { makeDirectory, makeFile } from "./make-file.js";
import { checkFormat, migrate } from "./file-format.js";
import { HOST_FORMAT } from "./migrations.js";
import { SerialStore } from "./serial-store.js";
import { type DatabaseConstructor, SqliteConnection } from "./sqlite-connection.js";
import { SqliteEngine } from "./sqlite-engine.js";
import { storeError } from "./sqlite-errors.js";
import { resolveSqliteStoreOptions, type SqliteStoreConfig, type SqliteStoreOptions } from "./sqlite-options.js";
import type { Store } from "./store.js";

/** How long another process may still be letting go of the file. Nothing else happens in this one meanwhile. */
const BUSY_TIMEOUT_MS = 250;

/**
 * Opens the store in a file, and holds it alone until `close` or the end of the process, however that comes.
 *
 * What was committed survives the end of the process. When the machine loses power the last transactions may be missing, whole.
 *
 * Rejects with `invalid_options`; `store_in_use` when another process, or this one, has it open; `store_full`;
 * `store_newer_format`; `store_unavailable` when the directory or the file can't be made or used.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const config = resolveSqliteStoreOptions(options);
  const path = join(config.directory, config.fileName);
  try {
    await makeDirectory(config.directory);
    await makeFile(path);
    // The driver is native code: it is loaded by those who open a file, and by nobody else.
    const { default: Constructor } = await import("libsql");
    return new SerialStore(openEngine(Constructor, path, config));
  } catch (error) {
    throw storeError(error, path);
  }
}

function openEngine(Constructor: DatabaseConstructor, path: string, config: SqliteStoreConfig): SqliteEngine {
  const connection = new SqliteConnection(Constructor, path);
  try {
    holdAlone(connection);
    checkFormat(connection, HOST_FORMAT);
    connection.all("PRAGMA journal_mode=WAL");
    connection.all("PRAGMA synchronous=NORMAL");
    connection.limitLog();
    connection.limitSize(config.maxFileBytes);
    migrate(connection, HOST_FORMAT);
    return new SqliteEngine(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Takes the lock for good. In exclusive mode a lock that was got is kept, and the log needs no shared memory beside the file.
 * The strongest lock is taken at once: two processes that each began with a weaker one would keep each other from it.
 */
function holdAlone(connection: SqliteConnection): void {
  connection.all(`PRAGMA busy_timeout=${String(BUSY_TIMEOUT_MS)}`);
  connection.all("PRAGMA locking_mode=EXCLUSIVE");
  connection.transact("EXCLUSIVE", () => undefined);
}
