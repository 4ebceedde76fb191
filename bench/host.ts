/**
 * The local server in the middle of small calls, beside calls that are made directly, a bare hop, and one made of the official server
 * and client; and what many connectors cost. Figures are ratios within one run; every answer is checked.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Bar, isReached, lineOf } from "./client/bar.js";
import { boot } from "./host/boot-rows.js";
import { type HostContext, oneAtATime, sixteenAtATime } from "./host/middle-rows.js";

const ROWS = { "one-at-a-time": oneAtATime, "sixteen-at-a-time": sixteenAtATime, boot };

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    row: { type: "string", multiple: true },
  },
});
const notes: string[] = [];
const context: HostContext = {
  quick: values.quick,
  note: (text) => {
    notes.push(text);
    console.log(text);
  },
};
const bars: Bar[] = [];
for (const [name, row] of Object.entries(ROWS)) {
  if (values.row !== undefined && !values.row.includes(name)) continue;
  for (const bar of await row(context)) {
    bars.push(bar);
    console.log(lineOf(bar));
  }
}

const reached = bars.filter(isReached).length;
if (values.json !== undefined) {
  const rows = bars.map((bar) => ({ ...bar, reached: isReached(bar) }));
  await writeFile(values.json, JSON.stringify({ quick: values.quick, notes, rows }, null, 2));
}
console.log("");
for (const bar of bars) {
  const reach = `${bar.atLeast ? "≥" : "≤"} ${bar.reach.toFixed(bar.reach < 0.5 ? 3 : 1)}`;
  console.log(
    `${bar.row.padEnd(36)} ${bar.figure.toFixed(2).padStart(7)} ${bar.unit.padEnd(19)} ${reach.padEnd(8)} ${isReached(bar) ? "reached" : "missed"}`,
  );
}
console.log(`bench host: ${String(reached)} of ${String(bars.length)} bars`);
process.exitCode = reached < bars.length && !values.quick ? 1 : 0;
