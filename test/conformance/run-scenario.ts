import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Check, judgeRun } from "./judge-run.js";
import { SUITE } from "./scenarios.js";

/** How one scenario went. */
export interface ScenarioVerdict {
  readonly scenario: string;
  readonly passed: boolean;
  /** Why it is not a pass. */
  readonly reasons: readonly string[];
  readonly checks: readonly Check[];
  /** What the client wrote to stderr. */
  readonly clientErrors: string;
  readonly elapsedMs: number;
}

/**
 * Runs one client scenario in a harness process of its own, and judges it strictly.
 *
 * `client` is a program with its arguments; the suite appends the server's URL, and puts the scenario into its environment.
 */
export async function runScenario(
  revision: string,
  scenario: string,
  client: readonly string[],
): Promise<ScenarioVerdict> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    const exitFile = join(folder, "client-exit");
    const command = [process.execPath, "build/test/programs/record-exit.js", exitFile, ...client];
    const harnessExit = await runHarness([
      "client",
      ["--scenario", scenario],
      ["--spec-version", revision, "--force"],
      ["--command", command.map((word) => JSON.stringify(word)).join(" ")],
      ["--output-dir", join(folder, "results")],
    ]);
    const clientExit = existsSync(exitFile) ? Number(readFileSync(exitFile, "utf8")) : undefined;
    const { checks, clientErrors } = readResults(join(folder, "results"));
    const reasons = judgeRun({ scenario, harnessExit, clientExit, checks });
    const elapsedMs = Math.round(performance.now() - startedAt);
    return { scenario, passed: reasons.length === 0, reasons, checks, clientErrors, elapsedMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with the exit code of the suite's program; null when a signal ended it. */
function runHarness(args: readonly (string | readonly string[])[]): Promise<number | null> {
  const hook = pathToFileURL("test/conformance/node-20.mjs").href;
  return new Promise((resolve, reject) => {
    const program = ["--import", hook, join(SUITE, "dist", "index.js")];
    const harness = spawn(process.execPath, [...program, ...args.flat()], { stdio: "ignore" });
    harness.on("error", reject);
    harness.on("close", resolve);
  });
}

/** The suite puts the files of a run into a folder whose name holds the time. */
function readResults(folder: string): { readonly checks: readonly Check[]; readonly clientErrors: string } {
  const [found] = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(isChecks) : [];
  if (found === undefined) return { checks: [], clientErrors: "" };
  const path = join(folder, found);
  const checks: readonly Check[] = JSON.parse(readFileSync(path, "utf8"));
  return { checks, clientErrors: readFileSync(join(path, "..", "stderr.txt"), "utf8") };
}

function isChecks(path: string): boolean {
  return path.endsWith("checks.json");
}
