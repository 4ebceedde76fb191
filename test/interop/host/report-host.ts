import { align } from "../align.js";
import type { Cell } from "../column.js";
import { versionOf } from "../installed.js";
import { HOST_COLUMNS, type HostRow } from "./host-row.js";

/** The matrix as text. What failed has a number, and its reason below. */
export function reportHost(rows: readonly HostRow[]): string {
  const failures: string[] = [];
  const lines = rows.map((row) => {
    const names = [agentOf(row), row.agent.revision, row.agent.transport, serverOf(row), row.upstream.transport];
    const words = HOST_COLUMNS.map((column) => {
      const cell = row.cells[column];
      if (cell.kind === "ok") return `ok ${String(cell.ms)}`;
      failures.push(`${names.join(", ")}: ${column}: ${cell.reason}`);
      return `FAILED ${String(failures.length)}`;
    });
    return [...names, ...words];
  });
  const head = ["agent", "revision", "over", "server", "over", ...HOST_COLUMNS];
  const failed = failures.map((failure, index) => `${String(index + 1)}  ${failure}`);
  return [...align([head, ...lines]), "", ...(failed.length > 0 ? [...failed, ""] : []), summary(rows)].join("\n");
}

/** Whether nothing failed, and something was tried. */
export function isHostPassed(rows: readonly HostRow[]): boolean {
  return rows.length > 0 && cellsOf(rows).every(({ kind }) => kind === "ok");
}

function summary(rows: readonly HostRow[]): string {
  const cells = cellsOf(rows);
  return `interop host: ${String(cells.filter(({ kind }) => kind === "ok").length)} of ${String(cells.length)}`;
}

function cellsOf(rows: readonly HostRow[]): readonly Cell[] {
  return rows.flatMap(({ cells }) => HOST_COLUMNS.map((column) => cells[column]));
}

function agentOf({ agent }: HostRow): string {
  return `${agent.client} ${versionOf(agent.client)}`;
}

function serverOf({ upstream }: HostRow): string {
  return `${upstream.server} ${versionOf(upstream.server)}`;
}
