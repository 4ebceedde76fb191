/**
 * Kills whole hosts again and again, and looks at what is left: `chaos-suite [--kills N] [--seed S] [--round R] [--json FILE]`. The
 * last line is what scripts read; a violation is exit code 1.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readOptions } from "../chaos/options.js";
import { report } from "../chaos/report.js";
import { runRounds } from "../chaos/run-rounds.js";

const CONVERGES_WITHIN_MS = 15_000;

const { kills, seed, round, json, sabotage } = readOptions(
  process.argv.slice(2),
  process.env,
  Math.floor(Math.random() * 1_000_000),
);
const results = await runRounds({
  kills,
  seed,
  only: round,
  sabotage,
  program: fileURLToPath(new URL("chaos-host.js", import.meta.url)),
  boundMs: sabotage === null ? CONVERGES_WITHIN_MS : CONVERGES_WITHIN_MS / 10,
  onRound: () => undefined,
});
if (json !== undefined) writeFileSync(json, `${JSON.stringify({ seed, results }, null, 2)}\n`);
console.log(report(seed, results));
process.exitCode = results.some(({ violations }) => violations.length > 0) ? 1 : 0;
