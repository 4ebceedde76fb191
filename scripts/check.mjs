/** `npm run check`: every gate but the tests. A line for each, the output of those that fail, and a summary line. */
import { spawn } from "node:child_process";

/** Gates by name, each with the npm script that runs it. A gate that needs what is built comes after `types`, which builds. */
const GATES = {
  types: "check:types",
  lint: "check:lint",
  format: "check:format",
  "unused code": "check:unused",
  "package shape": "check:package",
  "dependency direction": "check:imports",
  "generated docs": "check:docs",
  "lock file": "check:lock",
};

const gates = Object.entries(GATES);
let passed = 0;

for (const [name, script] of gates) {
  const started = performance.now();
  const { status, output } = await runScript(script);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"}  ${name.padEnd(20)}  ${seconds.padStart(5)} s`);
  if (status === 0) passed += 1;
  else console.log(`\n$ npm run ${script}\n${output.trimEnd()}\n`);
}
console.log(`check: ${passed} of ${gates.length}`);
process.exitCode = passed === gates.length ? 0 : 1;

/**
 * Runs an npm script, and answers with its exit code and what it printed.
 *
 * @param {string} script
 * @returns {Promise<{ status: number | null; output: string }>}
 */
function runScript(script) {
  return new Promise((resolve, reject) => {
    const shell = process.platform === "win32";
    const child = spawn("npm", ["run", "--silent", script], { shell, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}
