import { writeFile } from "node:fs/promises";
import { type Bar, isReached } from "./bar.js";

export interface BarReport {
  /** The name of the benchmark. */
  readonly name: string;
  readonly quick: boolean;
  /** Where the details go; `undefined` for nowhere. */
  readonly json: string | undefined;
  readonly bars: readonly Bar[];
  readonly notes: readonly string[];
}

/** Prints the table of all bars and the closing line. A missed bar is exit 1, but not of a quick run, which judges nothing. */
export async function reportBars({ name, quick, json, bars, notes }: BarReport): Promise<void> {
  const reached = bars.filter(isReached).length;
  if (json !== undefined) {
    const rows = bars.map((bar) => ({ ...bar, reached: isReached(bar) }));
    await writeFile(json, JSON.stringify({ quick, notes, rows }, null, 2));
  }
  console.log("");
  for (const bar of bars) console.log(tableLine(bar));
  console.log(`bench ${name}: ${String(reached)} of ${String(bars.length)} bars`);
  process.exitCode = reached < bars.length && !quick ? 1 : 0;
}

function tableLine(bar: Bar): string {
  const { row, figure, unit, reach, atLeast } = bar;
  const cells = [row.padEnd(36), figure.toFixed(2).padStart(7), unit.padEnd(19)];
  return [...cells, `${atLeast ? "≥" : "≤"} ${String(reach)}`.padEnd(8), isReached(bar) ? "reached" : "missed"].join(
    " ",
  );
}
