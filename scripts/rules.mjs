/**
 * `npm run rules [-- --write] [--quiet] [--json FILE]`: holds the claims of `docs/rules.json` against the last run of all tests,
 * and runs them when there was none of these sources. Fails when a claimed requirement has no passing test. `--write` writes
 * `docs/coverage.md` too; `--quiet` says nothing when all is well.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { citingFiles } from "./rules/cited-rules.mjs";
import { coveragePage } from "./rules/coverage-page.mjs";
import { judgeRules, rulesLine } from "./rules/judge-rules.mjs";
import { readRuleBook } from "./rules/rule-book.mjs";
import { readTestReport } from "./rules/test-report.mjs";

const { values } = parseArgs({
  options: { write: { type: "boolean" }, quiet: { type: "boolean" }, json: { type: "string" } },
});
const book = readRuleBook();
if (values.write) writeFileSync("docs/coverage.md", coveragePage(book, citingFiles("test")));

const tests = readTestReport() ?? runTests();
if (tests === undefined) {
  console.error("The tests ended without a report: see npm test.");
  process.exit(1);
}
const verdict = judgeRules(book, tests);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(verdict, null, 2)}\n`);
if (!values.quiet || verdict.unshown.length > 0) {
  if (verdict.unclaimed.length > 0) console.log(`cited, and not claimed: ${verdict.unclaimed.join(", ")}`);
  for (const rule of verdict.unshown) console.log(`${rule} is claimed, and its tests don't show it`);
  console.log(rulesLine(verdict.scores));
}
process.exitCode = verdict.unshown.length === 0 ? 0 : 1;

function runTests() {
  const shell = process.platform === "win32";
  const { error } = spawnSync("npm", ["test", "--silent"], { shell, stdio: ["ignore", 2, 2] });
  if (error !== undefined) throw error;
  return readTestReport();
}
