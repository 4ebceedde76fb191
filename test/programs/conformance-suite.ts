/**
 * Runs the client scenarios of one revision of the official suite: `REVISION [--scope transport|auth] [--json FILE]`.
 * A line for each scenario, with the reasons of those that fail; the last line is what scripts read. Then the same scenarios
 * are run with a client that does nothing, which must pass none: a check of the check.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ScenarioVerdict } from "../conformance/run-scenario.js";
import { runSet } from "../conformance/run-set.js";
import { clientScenarios, revisions, type Scope } from "../conformance/scenarios.js";

const CLIENT = [process.execPath, "build/test/programs/conformance-client.js"];
const EMPTY_CLIENT = [process.execPath, "--eval", "0"];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { scope: { type: "string", default: "all" }, json: { type: "string" } },
});
const [revision, ...others] = positionals;
if (revision === undefined || !revisions().includes(revision) || others.length > 0) {
  throw new Error(`name one revision: ${revisions().join(" or ")}`);
}
const scope = scopeOf(values.scope);

const scenarios = clientScenarios(revision, scope);
const verdicts = await runSet(revision, scenarios, CLIENT, (verdict) => console.log(lineOf(verdict)));
const passes = verdicts.filter((verdict) => verdict.passed).length;

const empty = await runSet(revision, scenarios, EMPTY_CLIENT);
const emptyPasses = empty.filter((verdict) => verdict.passed).map(({ scenario }) => scenario);
for (const scenario of emptyPasses) console.log(`A client that does nothing passes ${scenario}.`);

if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ revision, scope, verdicts, emptyPasses }, null, 2)}\n`);
}
const total = String(scenarios.length);
const title = scope === "all" ? revision : `${revision} ${scope}`;
console.log(
  `conformance ${title}: ${String(passes)} of ${total}, empty client ${String(emptyPasses.length)} of ${total}`,
);
process.exitCode = passes === scenarios.length && emptyPasses.length === 0 ? 0 : 1;

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
