import { RemoteConnectorError } from "../errors.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/** What a kind of file is called, and how it came to its present form. */
export interface FileFormat {
  /** Marks a file as one of this kind. */
  readonly applicationId: number;
  /** Step n leads from format n to format n + 1. The last one leads to the format that this version writes. */
  readonly steps: readonly string[];
}

/**
 * Checks that a file may be used, without changing it. Throws `store_newer_format`, or `store_unavailable` for a database of
 * something else.
 */
export function checkFormat(connection: SqliteConnection, { applicationId, steps }: FileFormat): void {
  const { path } = connection;
  // Together: somebody else may be making the file.
  const [owner, found, isEmpty] = connection.transact("DEFERRED", () => [
    connection.number("PRAGMA application_id"),
    connection.number("PRAGMA user_version"),
    connection.number("SELECT count(*) FROM sqlite_schema") === 0,
  ]);
  if (owner !== applicationId && !(isEmpty && owner === 0 && found === 0)) {
    throw new RemoteConnectorError("store_unavailable", {
      message: "The file is a database of another program.",
      details: { path, reason: "another_program" },
    });
  }
  if (found > steps.length) throw newerFormat(path, found, steps.length);
}

/**
 * Brings a checked file to the known format, each step in a transaction of its own. Somebody else may do the same at the same
 * time: what a file needs is looked at inside the transaction.
 */
export function migrate(connection: SqliteConnection, { applicationId, steps }: FileFormat): void {
  for (const [format, step] of steps.entries()) {
    if (connection.number("PRAGMA user_version") > format) continue;
    connection.transact("IMMEDIATE", () => {
      if (connection.number("PRAGMA user_version") !== format) return;
      connection.exec(step);
      connection.exec(`PRAGMA application_id = ${String(applicationId)}`);
      connection.exec(`PRAGMA user_version = ${String(format + 1)}`);
    });
  }
}

/** The error for a file that a newer version has written. */
export function newerFormat(path: string, found: number, known: number): RemoteConnectorError<"store_newer_format"> {
  return new RemoteConnectorError("store_newer_format", {
    message: `The store has format ${String(found)}; this version knows ${String(known)}.`,
    details: { path, found, known },
  });
}
