/**
 * `npm run cases [-- --json FILE]`: runs `test/cases`, and holds it against the claims of `test/cases/rows.json`.
 *
 * A line for each claimed row, what failed in it, and a summary line. A claimed row whose test does not pass, and a test that
 * no row claims, fail.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { json: { type: "string" } } });
const { all, rows } = JSON.parse(readFileSync("test/cases/rows.json", "utf8"));
const tests = runTests();
const judged = rows.map((row) => ({ ...row, ...judge(row) }));
const claimed = new Set(rows.map(({ id }) => id));
const unclaimed = tests.filter(({ title }) => !claimed.has(title.split(":", 1)[0]));

for (const { id, symptom, status, failure } of judged) {
  console.log(`${status === "passed" ? "ok    " : "FAILED"}  ${id}  ${symptom}`);
  if (failure !== "") console.log(`\n${failure}\n`);
}
for (const { title } of unclaimed) console.log(`FAILED  no row claims the test "${title}"`);

const passed = judged.filter(({ status }) => status === "passed").length;
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ all, rows: judged }, null, 2)}\n`);
console.log(`cases: ${passed} of ${rows.length} claimed, ${all} in all`);
process.exitCode = passed === rows.length && unclaimed.length === 0 ? 0 : 1;

/**
 * The tests of `test/cases`, each with its file, title and outcome.
 *
 * @returns {readonly { file: string; title: string; status: string; failure: string }[]}
 */
function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "remote-connector-cases-"));
  const report = join(folder, "report.json");
  try {
    const vitest = join("node_modules", "vitest", "vitest.mjs");
    const args = [vitest, "run", "test/cases", "--reporter=json", `--outputFile=${report}`];
    const { error, stderr } = spawnSync(process.execPath, args, {
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    });
    if (error !== undefined) throw error;
    let text;
    try {
      text = readFileSync(report, "utf8");
    } catch {
      throw new Error(`The tests ended without a report.\n${stderr}`);
    }
    return JSON.parse(text).testResults.flatMap(({ name, message, assertionResults }) => {
      const file = relative(process.cwd(), name).split(sep).join("/");
      if (assertionResults.length === 0) console.log(`${file}: ${message}`);
      return assertionResults.map(({ title, status, failureMessages }) => {
        return { file, title, status, failure: failureMessages.join("\n") };
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What became of a row: of the test in its file that is named for it.
 *
 * @param {{ id: string; symptom: string; where: string }} row
 * @returns {{ status: string; failure: string }}
 */
function judge({ id, symptom, where }) {
  const found = tests.find(({ file, title }) => file === where && title === `${id}: ${symptom}`);
  return found === undefined
    ? { status: "missing", failure: `${where} has no test of that name` }
    : { status: found.status, failure: found.failure };
}
