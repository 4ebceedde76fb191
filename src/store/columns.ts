/**
 * Values as columns of a row, and back. Both engines keep rows in this form, so that what one refuses the other does too.
 *
 * A text in SQLite ends for its reader at a NUL, and half of a surrogate pair becomes another character. Such texts are
 * escaped, so that a key is never mistaken for another.
 */
import { RemoteConnectorError } from "../errors.js";

/** What a column can hold. Nothing else is ever bound. */
export type Column = string | number | null;

/** All words of a union: a row with one that was forgotten here could be written, and not read again. */
export type Words<Word extends string> = Readonly<Record<Word, true>>;

/** Begins a text that is escaped as JSON. A text that begins so by itself is escaped too. */
const ESCAPE = "\u0001";

/** A text, whichever characters it holds. */
export function textColumn(text: string): string {
  const plain = !/\p{Surrogate}/u.test(text) && !text.includes("\0") && !text.startsWith(ESCAPE);
  return plain ? text : ESCAPE + JSON.stringify(text);
}

/** A text, or nothing. */
export function optionalTextColumn(text: string | undefined): Column {
  return text === undefined ? null : textColumn(text);
}

/** A whole number that a double holds exactly. Throws `invalid_argument` naming `member`. */
export function integerColumn(member: string, value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new RemoteConnectorError("invalid_argument", {
    message: `${member} must be a whole number.`,
    details: { argument: member, reason: "is not a safe integer" },
  });
}

/** True or false. A bound boolean ends the process. */
export function flagColumn(value: boolean): number {
  return value ? 1 : 0;
}

/**
 * A number of any size, as decimal text: columns of numbers are read as doubles. Throws `invalid_argument` naming `member` for
 * one below zero.
 */
export function bigintColumn(member: string, value: bigint): string {
  if (value >= 0n) return value.toString();
  throw new RemoteConnectorError("invalid_argument", {
    message: `${member} must not be below zero.`,
    details: { argument: member, reason: "is below zero" },
  });
}

/** Reads the columns of one row in order. Throws `store_unavailable` for a column that holds something else. */
export class ColumnReader {
  readonly #table: string;
  readonly #columns: readonly Column[];
  #next = 0;

  constructor(table: string, columns: readonly Column[]) {
    this.#table = table;
    this.#columns = columns;
  }

  skip(count: number): void {
    this.#next += count;
  }

  text(): string {
    return this.optionalText() ?? this.#refuse();
  }

  optionalText(): string | undefined {
    const column = this.#take();
    if (column === null) return undefined;
    if (typeof column !== "string") return this.#refuse();
    if (!column.startsWith(ESCAPE)) return column;
    const text = this.#json(column.slice(ESCAPE.length));
    return typeof text === "string" ? text : this.#refuse();
  }

  /** A list of texts, kept as a JSON array. */
  texts(): readonly string[] {
    const column = this.#take();
    const list = typeof column === "string" ? this.#json(column) : undefined;
    return Array.isArray(list) && list.every((text) => typeof text === "string") ? list : this.#refuse();
  }

  integer(): number {
    return this.optionalInteger() ?? this.#refuse();
  }

  optionalInteger(): number | undefined {
    const column = this.#take();
    if (column === null) return undefined;
    return typeof column === "number" && Number.isSafeInteger(column) ? column : this.#refuse();
  }

  flag(): boolean {
    const value = this.integer();
    return value === 0 || value === 1 ? value === 1 : this.#refuse();
  }

  bigint(): bigint {
    const column = this.#take();
    return typeof column === "string" && /^\d+$/.test(column) ? BigInt(column) : this.#refuse();
  }

  /** One of a closed list of words. */
  word<Word extends string>(words: Words<Word>): Word {
    return this.optionalWord(words) ?? this.#refuse();
  }

  optionalWord<Word extends string>(words: Words<Word>): Word | undefined {
    const column = this.#take();
    if (column === null) return undefined;
    return typeof column === "string" && isOneOf(words, column) ? column : this.#refuse();
  }

  #take(): Column {
    const column = this.#columns[this.#next] ?? null;
    this.#next += 1;
    return column;
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      return this.#refuse();
    }
  }

  #refuse(): never {
    throw new RemoteConnectorError("store_unavailable", {
      message: `A row of the table ${this.#table} can't be read.`,
      details: { path: this.#table, reason: `column ${String(this.#next)} holds something else` },
    });
  }
}

function isOneOf<Word extends string>(words: Words<Word>, text: string): text is Word {
  return Object.hasOwn(words, text);
}
