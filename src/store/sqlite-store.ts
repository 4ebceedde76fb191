import { join } from "node:path";
import { makeDirectory, makeFile } from "./make-file.js";
import { HOST_FORMAT } from "./migrations.js";
import { openAlone } from "./open-alone.js";
import { SerialStore } from "./serial-store.js";
import type { DatabaseConstructor } from "./sqlite-connection.js";
import { SqliteEngine } from "./sqlite-engine.js";
import { storeError } from "./sqlite-errors.js";
import { resolveSqliteStoreOptions, type SqliteStoreConfig, type SqliteStoreOptions } from "./sqlite-options.js";
import type { Store } from "./store.js";

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

function openEngine(Constructor: DatabaseConstructor, path: string, { maxFileBytes }: SqliteStoreConfig): SqliteEngine {
  const connection = openAlone(Constructor, path, HOST_FORMAT, maxFileBytes);
  try {
    return new SqliteEngine(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}
