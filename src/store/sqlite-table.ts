import type { Column } from "./columns.js";
import type { ColumnRow, RowTable, TableSpec } from "./row-table.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/** A table on disk. */
export class SqliteTable implements RowTable {
  readonly #connection: SqliteConnection;
  readonly #get: string;
  readonly #put: string;
  readonly #remove: string;
  readonly #list: string;
  readonly #keys: string;
  readonly #firsts: string;
  readonly #all: string;
  readonly #count: string;

  constructor(connection: SqliteConnection, { name, columns, keyLength }: TableSpec) {
    const key = columns.slice(0, keyLength);
    const values = columns.slice(keyLength);
    const where = key.map((column) => `${column} = ?`).join(" AND ");
    const select = `SELECT ${columns.join(", ")} FROM ${name} WHERE`;
    this.#connection = connection;
    this.#get = `${select} ${where}`;
    this.#list = `${select} ${key[0] ?? ""} = ?`;
    this.#keys = `SELECT ${key[1] ?? "NULL"} FROM ${name} WHERE ${key[0] ?? ""} = ?`;
    this.#firsts = `SELECT DISTINCT ${key[0] ?? "NULL"} FROM ${name}`;
    this.#all = `SELECT ${columns.join(", ")} FROM ${name}`;
    this.#count = `SELECT count(*) FROM ${name}`;
    this.#remove = `DELETE FROM ${name} WHERE ${where}`;
    // Not INSERT OR REPLACE: columns that are not ours would be lost.
    this.#put =
      `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ` +
      `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${values.map((column) => `${column} = excluded.${column}`).join(", ")}`;
  }

  get(...key: readonly Column[]): ColumnRow | undefined {
    return this.#connection.all(this.#get, key)[0];
  }

  put(row: ColumnRow): void {
    this.#connection.run(this.#put, row);
  }

  remove(...key: readonly Column[]): void {
    this.#connection.run(this.#remove, key);
  }

  list(first: Column): readonly ColumnRow[] {
    return this.#connection.all(this.#list, [first]);
  }

  keys(first: Column): readonly Column[] {
    return this.#connection.all(this.#keys, [first]).map(([key = null]) => key);
  }

  firsts(): readonly Column[] {
    return this.#connection.all(this.#firsts).map(([first = null]) => first);
  }

  all(): readonly ColumnRow[] {
    return this.#connection.all(this.#all);
  }

  count(): number {
    return this.#connection.number(this.#count);
  }
}
