/** `npm run bench -- NAME [--quick] [--json FILE]`: builds, and runs `bench/NAME.ts` with the rest of the arguments. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const names = readdirSync("bench")
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length));
const [name, ...rest] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  console.error(
    `${name === undefined ? "no benchmark named" : `no benchmark is called ${name}`}; there are: ${names.join(", ")}`,
  );
  process.exit(1);
}
run("npm", ["run", "--silent", "build:programs"]);
run(process.execPath, [`build/bench/${name}.js`, ...rest]);

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
