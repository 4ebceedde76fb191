import type { EventTable } from "./event-rows.js";
import type { ColumnRow } from "./row-table.js";
import type { SqliteConnection } from "./sqlite-connection.js";

const APPEND = "INSERT INTO event (at, fact) VALUES (?, ?)";
/** SQLite's own record of the numbers that were given out: it knows them when every row is gone, and is rolled back like a row. */
const LAST = "SELECT seq FROM sqlite_sequence WHERE name = 'event'";
const LIST = "SELECT seq, at, fact FROM event WHERE seq > ? ORDER BY seq LIMIT ?";
const PRUNE = "DELETE FROM event WHERE seq <= ?";

/** Events on disk. */
export class SqliteEventTable implements EventTable {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  append(at: number, fact: string): number {
    return this.#connection.insert(APPEND, [at, fact]);
  }

  last(): number {
    return this.#connection.number(LAST);
  }

  list(after: number, limit: number): readonly ColumnRow[] {
    return this.#connection.all(LIST, [after, limit]);
  }

  prune(upTo: number): void {
    this.#connection.run(PRUNE, [upTo]);
  }
}
