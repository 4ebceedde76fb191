/**
 * Runs a program and writes its exit code to a file: `record-exit FILE PROGRAM ARGUMENT…`. No file means that the program did
 * not end by itself, or not in time. The official suite forgives both, so it can't be asked.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

/** Shorter than the suite's own limit, which ends this process and would leave the program behind. */
const LIMIT_MS = 25_000;

const [file, program, ...args] = process.argv.slice(2);
if (file === undefined || program === undefined) throw new Error("record-exit FILE PROGRAM ARGUMENT…");

const child = spawn(program, args, { stdio: "inherit" });
const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
child.on("close", (code) => {
  clearTimeout(limit);
  if (code !== null) writeFileSync(file, String(code));
  process.exitCode = code ?? 1;
});
