import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Check } from "./judge-run.js";
import { SUITE } from "./scenarios.js";

/** Resolves with the exit code of the suite's program; null when a signal ended it. */
export function runHarness(args: readonly (string | readonly string[])[]): Promise<number | null> {
  const hook = pathToFileURL("test/conformance/node-20.mjs").href;
  return new Promise((resolve, reject) => {
    const program = ["--import", hook, join(SUITE, "dist", "index.js")];
    const harness = spawn(process.execPath, [...program, ...args.flat()], { stdio: "ignore" });
    harness.on("error", reject);
    harness.on("close", resolve);
  });
}

/** What a run wrote about one scenario. */
export interface ScenarioResults {
  /** Where. The suite puts each scenario into a folder whose name holds its name and the time. */
  readonly folder: string;
  readonly checks: readonly Check[];
}

/** What a run wrote into its output folder, in no order. */
export function readResults(folder: string): readonly ScenarioResults[] {
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  return files.filter(isChecks).map((file) => {
    const checks: readonly Check[] = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return { folder: join(folder, dirname(file)), checks };
  });
}

/** The scenario of a folder of the server leg; `undefined` for a folder of another kind. */
export function serverScenarioOf(folder: string): string | undefined {
  return /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(basename(folder))?.[1];
}

function isChecks(path: string): boolean {
  return path.endsWith("checks.json");
}
