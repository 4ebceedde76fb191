/**
 * `npm run interop [-- --quick] [--json FILE]`: builds, and runs the matrix of this client with the official servers.
 * `npm run interop -- host [--quick] [--json FILE]`: that of the official clients with these servers, a connector host between them.
 */
import { spawnSync } from "node:child_process";

const given = process.argv.slice(2);
const isHost = given[0] === "host";

run("npm", ["run", "--silent", "build:programs"]);
run(process.execPath, [
  `build/test/programs/${isHost ? "interop-host-suite" : "interop-suite"}.js`,
  ...(isHost ? given.slice(1) : given),
]);

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
