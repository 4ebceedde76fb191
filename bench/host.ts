/**
 * The local server in the middle of small calls, beside calls that are made directly, a bare hop, and one made of the official server
 * and client; and what many connectors cost. Figures are ratios within one run; every answer is checked.
 */
import { parseArgs } from "node:util";
import { type Bar, lineOf } from "./support/bar.js";
import { reportBars } from "./support/report-bars.js";
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

await reportBars({ name: "host", quick: values.quick, json: values.json, bars, notes });
