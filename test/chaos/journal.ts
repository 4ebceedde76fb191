import { openSync, writeSync } from "node:fs";

/** A row, or `null` for one that is gone, by the table and its key. */
export interface WrittenRow {
  /** See `rowName`. */
  readonly name: string;
  /** As {@link plain} writes it. */
  readonly row: unknown;
}

/** A snapshot that is taken for the account's present state. */
export interface AppliedNote {
  readonly account: string;
  /** In the stored form. */
  readonly epoch: string;
  readonly revision: string;
}

/** What a host process says of itself, synchronously, as it happens. */
export type JournalLine =
  | { readonly t: "life"; readonly life: number }
  | { readonly t: "login"; readonly account: string; readonly epoch: string }
  /** The account is signed out now. */
  | { readonly t: "logout" }
  | { readonly t: "begin"; readonly tx: number }
  /** The work of a transaction is done: this is all that it changes. */
  | { readonly t: "write"; readonly tx: number; readonly rows: readonly WrittenRow[] }
  | { readonly t: "commit"; readonly tx: number; readonly applied: AppliedNote | null }
  | { readonly t: "rollback"; readonly tx: number; readonly applied: AppliedNote | null }
  /** Everyone who waited for the end of a transaction was told. */
  | { readonly t: "end"; readonly tx: number }
  | {
      readonly t: "route";
      readonly kind: "published" | "replaced" | "withdrawn";
      readonly key: string;
      readonly generation: number;
      /** What was planned under this generation. */
      readonly identity: string | null;
    }
  | {
      readonly t: "event";
      readonly seq: number;
      readonly kind: string;
      readonly key: string | null;
      readonly generation: number | null;
    }
  /** Something is asked of a connector, and was done. */
  | { readonly t: "wish"; readonly key: string; readonly isOff: boolean; readonly isDone: boolean }
  | { readonly t: "kill"; readonly point: string; readonly nth: number };

/** Writes lines to a file, each before the call returns. */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a", 0o600);
  }

  write(line: JournalLine): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

/** The lines of a text, and how many bytes they are. The last one is left out while it is not whole. */
export function parseJournal(text: string): { readonly lines: readonly JournalLine[]; readonly bytes: number } {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const lines = whole.split("\n").filter((line) => line !== "");
  return { lines: lines.map(parseLine), bytes: Buffer.byteLength(whole) };
}

function parseLine(text: string): JournalLine {
  const line: JournalLine = JSON.parse(text);
  return line;
}

/** A row as JSON has it: large numbers as text, members in order, and nothing where one is undefined. */
export function plain(row: unknown): unknown {
  if (row === undefined) return null;
  if (typeof row === "bigint") return `${String(row)}n`;
  if (typeof row !== "object" || row === null) return row;
  if (Array.isArray(row)) return row.map(plain);
  const members = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, plain(value)]));
}

/** How a row is called: by its table and its key. */
export function rowName(table: string, ...key: readonly string[]): string {
  return JSON.stringify([table, ...key]);
}

/** The table of rows that stand for all events up to a number, which are gone. */
export const PRUNED = "pruned";
