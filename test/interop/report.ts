import { align } from "./align.js";
import { type Cell, COLUMNS } from "./column.js";
import type { Cells, RowPlan } from "./run-row.js";

/** A row with what came of it. */
export interface Row extends RowPlan {
  /** The package and its version. */
  readonly server: string;
  readonly transport: string;
  readonly cells: Cells;
}

const HEAD = ["server", "transport", "revision", "by"];

/** The matrix as text. Each cell that is not there has a letter, each that failed a number; what they stand for is below. */
export function report(rows: readonly Row[]): string {
  const reasons: string[] = [];
  const failures: string[] = [];
  const words = (row: Row): readonly string[] =>
    COLUMNS.map((column) => {
      const cell = row.cells[column];
      switch (cell.kind) {
        case "ok":
          return `ok ${String(cell.ms)}`;
        case "cannot":
          if (!reasons.includes(cell.reason)) reasons.push(cell.reason);
          return `-  ${letter(reasons.indexOf(cell.reason))}`;
        case "failed":
          failures.push(`${row.server}, ${row.transport}, ${row.revision}, ${row.by}: ${column}: ${cell.reason}`);
          return `FAILED ${String(failures.length)}`;
      }
    });
  const lines = [
    [...HEAD, ...COLUMNS],
    ...rows.map((row) => [row.server, row.transport, row.revision, row.by, ...words(row)]),
  ];
  const legend = reasons.map((reason, index) => `${letter(index)}  ${reason}`);
  const failed = failures.map((failure, index) => `${String(index + 1)}  ${failure}`);
  return [...align(lines), "", ...legend, ...(failed.length > 0 ? ["", ...failed] : []), "", summary(rows)].join("\n");
}

/** Whether nothing failed, and something was tried. */
export function isPassed(rows: readonly Row[]): boolean {
  const tried = rows.flatMap(cellsOf);
  return tried.some(({ kind }) => kind === "ok") && tried.every(({ kind }) => kind !== "failed");
}

function summary(rows: readonly Row[]): string {
  const tried = rows.flatMap(cellsOf).filter(({ kind }) => kind !== "cannot");
  const passed = tried.filter(({ kind }) => kind === "ok").length;
  const servers = new Set(rows.map(({ server, transport }) => `${server}, ${transport}`)).size;
  return `interop: ${String(passed)} of ${String(tried.length)} cells, ${String(servers)} servers`;
}

function cellsOf({ cells }: Row): readonly Cell[] {
  return COLUMNS.map((column) => cells[column]);
}

function letter(index: number): string {
  return String.fromCodePoint(97 + index);
}
