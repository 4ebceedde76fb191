import { checkFormat, type FileFormat, migrate } from "./file-format.js";
import { type DatabaseConstructor, SqliteConnection } from "./sqlite-connection.js";

/** How long another process may still be letting go of the file. Nothing else happens in this one meanwhile. */
const BUSY_TIMEOUT_MS = 250;

/**
 * Opens a file that is there for this process alone, and brings it to its format. What was committed survives the end of the
 * process. Throws `store_*`, and nothing is held then.
 */
export function openAlone(
  Constructor: DatabaseConstructor,
  path: string,
  format: FileFormat,
  maxFileBytes: number,
): SqliteConnection {
  const connection = new SqliteConnection(Constructor, path);
  try {
    holdAlone(connection);
    checkFormat(connection, format);
    connection.all("PRAGMA journal_mode=WAL");
    connection.all("PRAGMA synchronous=NORMAL");
    connection.limitLog();
    connection.limitSize(maxFileBytes);
    migrate(connection, format);
    return connection;
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
