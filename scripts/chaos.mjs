/**
 * `npm run chaos [-- --kills N] [--seed S] [--round R] [--json FILE]`: builds, and kills connector hosts at every point of what they
 * do.
 */
import { spawnSync } from "node:child_process";

run("npm", ["run", "--silent", "build:programs"]);
run(process.execPath, ["build/test/programs/chaos-suite.js", ...process.argv.slice(2)]);

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
