import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Check } from "./judge-run.js";
import { readResults, runHarness, serverScenarioOf } from "./run-harness.js";

/** The checks of each scenario that was run. */
export type ServerRun = ReadonlyMap<string, readonly Check[]>;

/** Runs the server scenarios that a revision requires, and those that it only reports, one after the other. */
export async function runServerSet(url: string, revision: string): Promise<ServerRun> {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    await runHarness(["server", "--url", url, "--requirements", revision, "--output-dir", folder]);
    const run = new Map<string, readonly Check[]>();
    for (const { folder: place, checks } of readResults(folder)) {
      const scenario = serverScenarioOf(place);
      if (scenario !== undefined) run.set(scenario, checks);
    }
    return run;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
