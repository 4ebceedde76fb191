import { join } from "node:path";
import { checkFormat, migrate } from "./file-format.js";
import { makeDirectory, makeFile } from "./make-file.js";
import { patiently } from "./patience.js";
import { sharedCredentials } from "./shared-credentials.js";
import { sharedEras } from "./shared-eras.js";
import { SHARED_FORMAT } from "./shared-format.js";
import { sharedLeases } from "./shared-leases.js";
import { resolveSharedStoreOptions, type SharedStoreConfig, type SharedStoreOptions } from "./shared-options.js";
import type { SharedStore } from "./shared-store.js";
import { type DatabaseConstructor, SqliteConnection } from "./sqlite-connection.js";
import { storeError } from "./sqlite-errors.js";
import { SqliteSharedEngine } from "./sqlite-shared-engine.js";

/** How long SQLite itself waits for another process, in which nothing else happens in this one. */
const BLOCKING_WAIT_MS = 5;

/**
 * Opens what several processes of one user know together: a file that each of them opens for itself, beside `host.db` or
 * elsewhere. What was committed survives the end of every process, and a loss of power too.
 *
 * Texts of credentials are kept as they are given, in a file that its owner alone can read.
 *
 * Rejects with `invalid_options`; `store_in_use` when another process keeps the file busy for `busyTimeoutMs`; `store_full`;
 * `store_newer_format`; `store_unavailable` when the directory or the file can't be made or used.
 */
export async function openSharedStore(options: SharedStoreOptions): Promise<SharedStore> {
  const config = resolveSharedStoreOptions(options);
  const { directory, fileName, busyTimeoutMs, bounds } = config;
  const path = join(directory, fileName);
  try {
    await makeDirectory(directory);
    await makeFile(path);
    // Native code: it is loaded by those who open a file, and by nobody else.
    const { default: Constructor } = await import("libsql");
    const engine = await patiently(bounds.clock, busyTimeoutMs, () => openEngine(Constructor, path, config));
    return {
      eraMemory: sharedEras(engine, bounds),
      credentials: sharedCredentials(engine, bounds),
      leases: sharedLeases(engine),
      close: () => engine.close(),
    };
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Each try has a connection of its own: one that met another process outside of a transaction can't be used any more. */
function openEngine(Constructor: DatabaseConstructor, path: string, config: SharedStoreConfig): SqliteSharedEngine {
  const connection = new SqliteConnection(Constructor, path);
  try {
    connection.all(`PRAGMA busy_timeout=${String(BLOCKING_WAIT_MS)}`);
    checkFormat(connection, SHARED_FORMAT);
    connection.all("PRAGMA journal_mode=WAL");
    // A token that its server has rotated must not be lost with the power: there is no other copy.
    connection.all("PRAGMA synchronous=FULL");
    connection.limitLog();
    connection.limitSize(config.maxFileBytes);
    migrate(connection, SHARED_FORMAT);
    return new SqliteSharedEngine(connection, config);
  } catch (error) {
    connection.close();
    throw error;
  }
}
