/**
 * Runs client scenarios of the official suite: `REVISION | all [--scope transport|auth] [--json FILE]`.
 * A line for each scenario, with the reasons of those that fail; the last lines, one for each set, are what scripts read. The same
 * scenarios are run with a client that does nothing, which must pass none: a check of the check.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { planSets, type ScenarioSet, summaryLine } from "../conformance/plan-sets.js";
import type { ScenarioVerdict } from "../conformance/run-scenario.js";
import { runSet } from "../conformance/run-set.js";
import type { Scope } from "../conformance/scenarios.js";

const CLIENT = [process.execPath, "build/test/programs/conformance-client.js"];
const EMPTY_CLIENT = [process.execPath, "--eval", "0"];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { scope: { type: "string", default: "all" }, json: { type: "string" } },
});
const [what, ...others] = positionals;
if (others.length > 0) throw new Error("name one revision");
const scope = scopeOf(values.scope);
const results = [];
for (const set of planSets(what, scope)) results.push(await run(set));
if (values.json !== undefined) {
  const [only, ...more] = results;
  writeFileSync(values.json, `${JSON.stringify(more.length === 0 ? only : results, null, 2)}\n`);
}
for (const { line } of results) console.log(line);
process.exitCode = results.every(({ isPassed }) => isPassed) ? 0 : 1;

/** Runs a set with the client under test, and then with the empty one. */
async function run(set: ScenarioSet) {
  const { revision, scenarios } = set;
  const verdicts = await runSet(revision, scenarios, CLIENT, (verdict) => console.log(lineOf(verdict)));
  const passes = verdicts.filter(({ passed }) => passed).length;
  const empty = await runSet(revision, scenarios, EMPTY_CLIENT);
  const emptyPasses = empty.filter(({ passed }) => passed).map(({ scenario }) => scenario);
  for (const scenario of emptyPasses) console.log(`A client that does nothing passes ${scenario}.`);
  const line = summaryLine(set, passes, emptyPasses.length);
  return {
    ...set,
    scope,
    line,
    verdicts,
    emptyPasses,
    isPassed: passes === scenarios.length && emptyPasses.length === 0,
  };
}

function scopeOf(value: string): Scope {
  if (value === "transport" || value === "auth" || value === "all") return value;
  throw new Error("--scope is transport, auth or all");
}

function lineOf({ scenario, passed, reasons, checks, clientErrors, elapsedMs }: ScenarioVerdict): string {
  const seconds = (elapsedMs / 1000).toFixed(1).padStart(5);
  const succeeded = checks.filter(({ status }) => status === "SUCCESS").length;
  const line = `${passed ? "ok    " : "FAILED"}  ${scenario.padEnd(40)}  ${String(succeeded).padStart(3)} checks  ${seconds} s`;
  const told = clientErrors.trim() === "" ? [] : [`the client said: ${clientErrors.trim()}`];
  return passed ? line : [line, ...[...reasons, ...told].map((reason) => `        ${reason}`)].join("\n");
}
