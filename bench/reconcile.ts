/**
 * What the controller costs for keys that take no time themselves, from 100 of them to 10,000, with rows in memory and in
 * SQLite. Figures are ratios within one run; every row checks that exactly the keys ran that had to.
 */
import { parseArgs } from "node:util";
import { type Bar, lineOf } from "./support/bar.js";
import { reportBars } from "./support/report-bars.js";
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

await reportBars({ name: "reconcile", quick: values.quick, json: values.json, bars, notes });
