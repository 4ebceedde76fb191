import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { JournalRow, JournalRows, PruneStep, RowChanges, RowCounts } from "../connector-host/journal/index.js";
import { RemoteConnectorError } from "../errors.js";
import { integerColumn, textColumn } from "./columns.js";
import { BEGUN_COLUMNS, decodeCall, encodeBegun, encodeEnd, END_COLUMNS, LAST_COLUMNS } from "./journal-columns.js";
import { JOURNAL_FORMAT } from "./journal-format.js";
import { makeDirectory, makeFile } from "./make-file.js";
import { openAlone } from "./open-alone.js";
import { storeClosed } from "./shared-engine.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { storeError } from "./sqlite-errors.js";
import { resolveFilePlace, type SqliteStoreOptions } from "./sqlite-options.js";
import { refuseUnknownOptions } from "../options.js";

const KEY_BYTES = 32;
const ALL = [...BEGUN_COLUMNS, ...END_COLUMNS, ...LAST_COLUMNS].join(", ");
const BEGIN = `INSERT INTO call (${BEGUN_COLUMNS.join(", ")}, superseded) VALUES (${BEGUN_COLUMNS.map(() => "?").join(", ")}, 0)`;
const SUPERSEDE = "UPDATE call SET superseded = 1 WHERE seq = ? AND verdict IS NULL";
const END = `UPDATE call SET ${END_COLUMNS.map((name) => `${name} = ?`).join(", ")} WHERE seq = ? AND verdict IS NULL`;
const END_LOST =
  "UPDATE call SET verdict = 'unknown' WHERE verdict IS NULL AND superseded = 0 AND epoch <> ? RETURNING seq";
const PAGE = `SELECT ${ALL} FROM call WHERE seq < ? ORDER BY seq DESC LIMIT ?`;
const IS_UNKNOWN = "verdict = 'unknown' AND acknowledged_at IS NULL";
const UNKNOWNS = `SELECT ${ALL} FROM call WHERE ${IS_UNKNOWN} ORDER BY seq DESC LIMIT ?`;
const ACKNOWLEDGE = `UPDATE call SET acknowledged_at = ? WHERE seq = ? AND ${IS_UNKNOWN} RETURNING seq`;
const IS_SETTLED =
  "(superseded = 1 OR verdict IN ('not_sent', 'answered') OR (verdict = 'unknown' AND acknowledged_at IS NOT NULL))";
const OLDEST_SETTLED = `SELECT seq, started_at FROM call WHERE ${IS_SETTLED} ORDER BY seq LIMIT ?`;
const PRUNE_SETTLED = `DELETE FROM call WHERE seq IN (SELECT seq FROM (${OLDEST_SETTLED})) RETURNING seq`;
const PRUNE_OLD = `DELETE FROM call WHERE seq IN (SELECT seq FROM (${OLDEST_SETTLED}) WHERE started_at < ?) RETURNING seq`;
const PRUNE_UNKNOWN = `DELETE FROM call WHERE seq IN (SELECT seq FROM call WHERE ${IS_UNKNOWN} ORDER BY seq LIMIT ?) RETURNING seq`;

/**
 * Opens the journal of requests in a file (`calls.db`), and holds it alone until `close` or the end of the process, however that comes.
 * What was committed survives the end of the process. When the machine loses power the last transactions may be missing, whole.
 *
 * Rejects as `openSqliteStore` does.
 */
export async function openSqliteJournalRows(options: SqliteStoreOptions): Promise<JournalRows> {
  refuseUnknownOptions(options, ["directory", "fileName", "maxFileBytes"]);
  const { directory, fileName, maxFileBytes } = resolveFilePlace(options, "calls.db");
  const path = join(directory, fileName);
  try {
    await makeDirectory(directory);
    await makeFile(path);
    // The driver is native code: it is loaded by those who open a file, and by nobody else.
    const { default: Constructor } = await import("libsql");
    const connection = openAlone(Constructor, path, JOURNAL_FORMAT, maxFileBytes);
    try {
      return new SqliteJournalRows(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw storeError(error, path);
  }
}

class SqliteJournalRows implements JournalRows {
  readonly key: Uint8Array;
  readonly #connection: SqliteConnection;
  /** All rows of the file: counting them takes a look at each page. */
  #rows: number;
  #isClosed = false;

  /** `connection` is at the known format. Throws `store_*`. */
  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.key = connection.transact("IMMEDIATE", () => keyOf(connection));
    this.#rows = connection.number("SELECT count(*) FROM call");
  }

  lastSeq(): number {
    return this.#open().number("SELECT coalesce(max(seq), 0) FROM call");
  }

  write({ begun, superseded, ended }: RowChanges): void {
    const connection = this.#open();
    connection.transact("IMMEDIATE", () => {
      for (const row of begun) connection.run(BEGIN, encodeBegun(row));
      for (const seq of superseded) connection.run(SUPERSEDE, [integerColumn("seq", seq)]);
      for (const { seq, end } of ended) connection.run(END, [...encodeEnd(end), integerColumn("seq", seq)]);
    });
    this.#rows += begun.length;
  }

  endLost(epoch: string): number {
    const connection = this.#open();
    return connection.transact("IMMEDIATE", () => connection.all(END_LOST, [textColumn(epoch)]).length);
  }

  page(before: number | undefined, limit: number): readonly JournalRow[] {
    return this.#open()
      .all(PAGE, [before ?? Number.MAX_SAFE_INTEGER, limit])
      .map(decodeCall);
  }

  unknowns(limit: number): readonly JournalRow[] {
    return this.#open().all(UNKNOWNS, [limit]).map(decodeCall);
  }

  acknowledge(seqs: readonly number[], at: number): number {
    const connection = this.#open();
    return connection.transact("IMMEDIATE", () =>
      seqs.reduce((count, seq) => count + connection.all(ACKNOWLEDGE, [at, seq]).length, 0),
    );
  }

  counts(): RowCounts {
    return { rows: this.#rows, unknowns: this.#open().number(`SELECT count(*) FROM call WHERE ${IS_UNKNOWN}`) };
  }

  prune({ settled, old, unknowns }: PruneStep): number {
    const connection = this.#open();
    const gone = connection.transact("IMMEDIATE", () => {
      const tooMany = settled === 0 ? 0 : connection.all(PRUNE_SETTLED, [settled]).length;
      const tooOld = old.count === 0 ? 0 : connection.all(PRUNE_OLD, [old.count, old.before]).length;
      return tooMany + tooOld + (unknowns === 0 ? 0 : connection.all(PRUNE_UNKNOWN, [unknowns]).length);
    });
    this.#rows -= gone;
    return gone;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }

  #open(): SqliteConnection {
    if (this.#isClosed) throw storeClosed(this.#connection.path);
    return this.#connection;
  }
}

/** The file's own, made with it. */
function keyOf(connection: SqliteConnection): Uint8Array {
  connection.run("INSERT INTO secret (name, hex) VALUES ('hmac', ?) ON CONFLICT DO NOTHING", [
    randomBytes(KEY_BYTES).toString("hex"),
  ]);
  const hex = connection.all("SELECT hex FROM secret WHERE name = 'hmac'")[0]?.[0];
  const key = Buffer.from(typeof hex === "string" ? hex : "", "hex");
  if (key.length === KEY_BYTES) return key;
  throw new RemoteConnectorError("store_unavailable", {
    message: "The key of the journal can't be read.",
    details: { path: connection.path, reason: "unreadable_key" },
  });
}
