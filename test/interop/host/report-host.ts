import { align } from "../align.js";
import type { Cell } from "../column.js";
import { versionOf } from "../installed.js";
import { HOST_COLUMNS, type HostRow } from "./host-row.js";

/** The matrix as text. What failed has a number, and its reason below. */
export function reportHost(rows: readonly HostRow[]): string {
  const reasons: string[] = [];
  const failures: string[] = [];
  const lines = rows.map((row) => {
    const { agent, upstream } = row;
    const names = [agentOf(row), agent.revision, agent.transport, serverOf(row), upstream.era, upstream.transport];
    const words = HOST_COLUMNS.map((column) => {
      const cell = row.cells[column];
      if (cell.kind === "ok") return `ok ${String(cell.ms)}`;
      if (cell.kind === "cannot") {
        if (!reasons.includes(cell.reason)) reasons.push(cell.reason);
        return `-  ${letter(reasons.indexOf(cell.reason))}`;
      }
      failures.push(`${names.join(", ")}: ${column}: ${cell.reason}`);
      return `FAILED ${String(failures.length)}`;
    });
    return [...names, ...words];
  });
  const head = ["agent", "revision", "over", "server", "era", "over", ...HOST_COLUMNS];
  const failed = failures.map((failure, index) => `${String(index + 1)}  ${failure}`);
  const legend = reasons.map((reason, index) => `${letter(index)}  ${reason}`);
  const notes = legend.length > 0 ? [...legend, ""] : [];
  return [...align([head, ...lines]), "", ...notes, ...(failed.length > 0 ? [...failed, ""] : []), summary(rows)].join(
    "\n",
  );
}

/** Whether nothing failed, and something was tried. */
export function isHostPassed(rows: readonly HostRow[]): boolean {
  const cells = cellsOf(rows);
  return cells.some(({ kind }) => kind === "ok") && cells.every(({ kind }) => kind !== "failed");
}

function summary(rows: readonly HostRow[]): string {
  const cells = cellsOf(rows).filter(({ kind }) => kind !== "cannot");
  return `interop host: ${String(cells.filter(({ kind }) => kind === "ok").length)} of ${String(cells.length)}`;
}

function cellsOf(rows: readonly HostRow[]): readonly Cell[] {
  return rows.flatMap(({ cells }) => HOST_COLUMNS.map((column) => cells[column]));
}

function letter(index: number): string {
  return String.fromCodePoint(97 + index);
}

function agentOf({ agent }: HostRow): string {
  return `${agent.client} ${versionOf(agent.client)}`;
}

function serverOf({ upstream }: HostRow): string {
  return `${upstream.server} ${versionOf(upstream.server)}`;
}
