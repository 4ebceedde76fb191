import { type BigIntStats, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Database, Statement } from "libsql";
import { type AnyRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import type { Column } from "./columns.js";
import { storeError } from "./sqlite-errors.js";

/** The write-ahead log is cut back to this size when its content is in the file. */
const KEPT_LOG_BYTES = 4 * 1024 * 1024;

/** Opens a file. What `import("libsql")` gives. */
export type DatabaseConstructor = new (path: string) => Database;

/** How a transaction begins: with its first statement, as the one that may write, or alone. */
export type TransactionKind = "DEFERRED" | "IMMEDIATE" | "EXCLUSIVE";

/**
 * The one place that talks to the driver: what is bound is checked here, and every failure becomes a `store_*` error.
 *
 * All of it is synchronous. Statements are prepared once.
 */
export class SqliteConnection {
  readonly path: string;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  /** The path from the root: the process may go to another directory. */
  readonly #place: string;
  /** Which file it is, whatever is at its path later. */
  readonly #file: FileIdentity | undefined;
  /** From `begin` to `commit` or `rollback`. */
  #isBegun = false;
  /**
   * What ended the transaction before its time. SQLite rolls back by itself when the disk is full; every statement after that
   * would be a transaction of its own, and stay.
   */
  #ended: AnyRemoteConnectorError | undefined;

  /** Throws `store_unavailable`. The file is there already. */
  constructor(Constructor: DatabaseConstructor, path: string) {
    this.path = path;
    this.#place = resolve(path);
    this.#file = this.#guarded(() => identify(this.#place));
    this.#database = this.#guarded(() => new Constructor(path));
  }

  /** Throws `store_*`, and nothing was begun then. */
  begin(kind: TransactionKind): void {
    this.exec(`BEGIN ${kind}`);
    this.#isBegun = true;
  }

  /**
   * Throws `store_*`; `rollback` has to follow then. `store_unavailable` with the reason `moved`: the file was deleted, or there
   * is another one in its place, so that nobody would find what is written, and what was read is of the past.
   */
  commit(): void {
    if (!this.#isInPlace()) throw moved(this.path);
    this.exec("COMMIT");
    this.#isBegun = false;
  }

  /** Undoes everything since `begin`. Does not throw. */
  rollback(): void {
    this.#isBegun = false;
    this.#ended = undefined;
    try {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
    } catch {
      // It ends the transaction whatever it tells. Of anything else the next BEGIN tells.
    }
  }

  /** One transaction: committed when `work` returns, rolled back when it throws. Throws `store_*`, and what `work` throws. */
  transact<T>(kind: TransactionKind, work: () => T): T {
    this.begin(kind);
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** Runs statements that bind nothing and answer nothing. */
  exec(sql: string): void {
    this.#guarded(() => this.#database.exec(sql));
  }

  /** Runs a statement that answers nothing. */
  run(sql: string, columns: readonly Column[] = []): void {
    this.#guarded(() => this.#prepare(sql).run(bindable(columns)));
  }

  /** Inserts one row into a table that numbers its rows, and returns the number. */
  insert(sql: string, columns: readonly Column[]): number {
    return this.#guarded(() => Number(this.#prepare(sql).run(bindable(columns)).lastInsertRowid));
  }

  /** All rows that a statement answers, each as its columns. Reads to the end, so that nothing is left in progress. */
  all(sql: string, columns: readonly Column[] = []): readonly (readonly Column[])[] {
    return this.#guarded(() => this.#prepare(sql).all(bindable(columns)).map(asColumns));
  }

  /** The number that a statement or a pragma answers. */
  number(sql: string): number {
    const value = this.all(sql)[0]?.[0];
    return typeof value === "number" ? value : 0;
  }

  /** From now on the file does not grow beyond this: what has no room is `store_full`. */
  limitSize(maxFileBytes: number): void {
    if (maxFileBytes === Infinity) return;
    const pages = Math.floor(maxFileBytes / this.number("PRAGMA page_size"));
    this.all(`PRAGMA max_page_count=${String(pages)}`);
  }

  /** The write-ahead log does not stay large. */
  limitLog(): void {
    this.all(`PRAGMA journal_size_limit=${String(KEPT_LOG_BYTES)}`);
  }

  /**
   * Lets go of the file. Closing alone would not: the driver keeps the file, with its locks, open until the last statement is
   * collected as garbage. Leaving WAL and the exclusive mode gives the locks back now, and leaves one file behind.
   */
  close(): void {
    this.rollback();
    try {
      this.all("PRAGMA busy_timeout=0");
      this.#leaveLog();
      this.all("PRAGMA locking_mode=NORMAL");
      this.all("SELECT count(*) FROM sqlite_schema");
    } catch {
      // A file that fails can't be left in order; it is in order for the next who opens it.
    }
    this.#statements.clear();
    this.#database.close();
  }

  #isInPlace(): boolean {
    const now = this.#guarded(() => identify(this.#place));
    return now !== undefined && now.ino === this.#file?.ino && now.dev === this.#file.dev;
  }

  #leaveLog(): void {
    try {
      this.all("PRAGMA journal_mode=DELETE");
    } catch {
      // On a full disk there is no room for a journal; without one, a log that could be emptied can still be left.
      this.all("PRAGMA journal_mode=MEMORY");
    }
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      // Only statements that answer rows can be raw; rows as objects would carry a member that the driver adds.
      if (statement.reader) statement.raw();
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guarded<T>(work: () => T): T {
    if (this.#ended !== undefined) throw this.#ended;
    try {
      return work();
    } catch (error) {
      const failure = storeError(error, this.path);
      if (this.#isBegun && !this.#database.inTransaction) this.#ended = failure;
      throw failure;
    }
  }
}

/** What tells a file from every other one that is there at the same time. */
type FileIdentity = Pick<BigIntStats, "dev" | "ino">;

function identify(path: string): FileIdentity | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function moved(path: string): RemoteConnectorError<"store_unavailable"> {
  return new RemoteConnectorError("store_unavailable", {
    message: "The file of the store was deleted or replaced while it was open.",
    details: { path, reason: "moved" },
  });
}

/** The driver ends the process for a boolean and rounds large numbers silently, so nothing reaches it unchecked. */
function bindable(columns: readonly Column[]): readonly Column[] {
  for (const column of columns) {
    const fits =
      typeof column === "number" ? Number.isSafeInteger(column) : column === null || typeof column === "string";
    if (fits) continue;
    throw new RemoteConnectorError("invalid_argument", {
      message: "Only texts, whole numbers and null can be kept.",
      details: { argument: "column", reason: `is ${typeof column}` },
    });
  }
  return columns;
}

function asColumns(row: unknown): readonly Column[] {
  if (Array.isArray(row) && row.every(isColumn)) return row;
  throw new Error("The driver answered a row of another form.");
}

function isColumn(value: unknown): value is Column {
  return value === null || typeof value === "string" || typeof value === "number";
}
