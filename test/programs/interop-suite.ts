/**
 * The matrix of this package's client with the official servers: `interop-suite [--quick] [--json FILE]`. The last line is what
 * scripts read; a cell that failed is exit code 1.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { GROUPS, QUICK } from "../interop/groups.js";
import { isPassed, report } from "../interop/report.js";
import { runGroups } from "../interop/run-groups.js";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });

const rows = await runGroups(values.quick ? QUICK : GROUPS);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
console.log(report(rows));
process.exitCode = isPassed(rows) ? 0 : 1;
