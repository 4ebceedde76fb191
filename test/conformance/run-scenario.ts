import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Check, judgeRun } from "./judge-run.js";
import { readResults, runHarness } from "./run-harness.js";

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
    const [results] = readResults(join(folder, "results"));
    const checks = results?.checks ?? [];
    const clientErrors = results === undefined ? "" : readFileSync(join(results.folder, "stderr.txt"), "utf8");
    const reasons = judgeRun({ scenario, harnessExit, clientExit, checks });
    const elapsedMs = Math.round(performance.now() - startedAt);
    return { scenario, passed: reasons.length === 0, reasons, checks, clientErrors, elapsedMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
