/**
 * `npm run transcripts [-- --record]`: builds, and replays the conversations of `test/transcripts`. With `--record` they are
 * recorded anew with the real servers before.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { record: { type: "boolean", default: false } } });

run("npm", ["run", "--silent", "build:programs"]);
if (values.record) run(process.execPath, ["build/test/programs/record-transcripts.js"]);
run(process.execPath, [join("node_modules", "vitest", "vitest.mjs"), "run", "test/integration/transcripts"]);

/**
 * Runs a command in this terminal, and ends with its exit code if it fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args) {
  const shell = process.platform === "win32" && command === "npm";
  const { status, error } = spawnSync(command, args, { stdio: "inherit", shell });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
