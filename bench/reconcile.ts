/**
 * What the controller costs for keys that take no time themselves, from 100 of them to 10,000, with rows in memory and in
 * SQLite. Figures are ratios within one run; every row checks that exactly the keys ran that had to.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Bar, isReached, lineOf } from "./client/bar.js";
import { growth, oneStuck, type ReconcileContext, snapshots } from "./reconcile/rows.js";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });
const notes: string[] = [];
const bars: Bar[] = [];
for (const kind of ["memory", "sqlite"] as const) {
  const context: ReconcileContext = {
    kind,
    sizes: values.quick ? [100, 500, 2_500] : [100, 1_000, 10_000],
    rounds: values.quick ? 3 : 5,
    note: (text) => {
      notes.push(text);
      console.log(text);
    },
  };
  for (const row of [snapshots, growth, oneStuck]) {
    for (const bar of await row(context)) {
      bars.push(bar);
      console.log(lineOf(bar));
    }
  }
}

const reached = bars.filter(isReached).length;
if (values.json !== undefined) {
  const rows = bars.map((bar) => ({ ...bar, reached: isReached(bar) }));
  await writeFile(values.json, JSON.stringify({ quick: values.quick, notes, rows }, null, 2));
}
console.log("");
for (const bar of bars) {
  const outcome = isReached(bar) ? "reached" : "missed";
  console.log(
    `${bar.row.padEnd(36)} ${bar.figure.toFixed(2).padStart(7)} ${bar.unit.padEnd(19)} ≤ ${String(bar.reach).padEnd(6)} ${outcome}`,
  );
}
console.log(`reconcile: ${String(reached)} of ${String(bars.length)} reached`);
process.exitCode = reached < bars.length && !values.quick ? 1 : 0;
