/**
 * `npm run conformance -- REVISION [--scope transport|auth] [--json FILE]`: builds, and runs the official suite strictly on the client:
 * what the revision requires. `all` in place of the revision: what all of them require, and all that the suite has beside it.
 * `npm run conformance -- server [--json FILE]`: the same on a connector host.
 */
import { spawnSync } from "node:child_process";

const given = process.argv.slice(2);
const [what] = given;
const program = what === "server" ? "conformance-server-suite" : "conformance-suite";

run("npm", ["run", "--silent", "build:programs"]);
run(process.execPath, [`build/test/programs/${program}.js`, ...(what === "server" ? given.slice(1) : given)]);

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
