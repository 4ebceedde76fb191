/**
 * Runs the server scenarios of the official suite: `[--json FILE]`. First against an official server with everything that they name,
 * which shows that they can be passed; then against a connector host in front of that server, with the names unchanged; then those
 * that need nothing of a server against a host as it is used. What must not pass yet is in `server-baseline.yaml`. Then a server that
 * knows nothing, which must pass none: a check of the check.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Leg, listedFor, readBaseline } from "../conformance/baseline.js";
import { startDeafServer } from "../conformance/deaf-server.js";
import { startHost, UNCHANGED_NAMES } from "../conformance/host-under-test.js";
import { judgeServer, type ServerVerdict } from "../conformance/judge-server.js";
import { runServerSet } from "../conformance/run-server.js";
import { serverScenarios } from "../conformance/scenarios.js";
import { startPrinting } from "../interop/start-server.js";

const REVISIONS = ["2025-11-25", "2026-07-28"];

/** Scenarios that are about the server alone, whatever tools it has. */
const GENERIC: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": [
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "server-session-lifecycle",
  ],
  "2026-07-28": [
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "input-required-result-unsupported-methods",
    "server-stateless",
    "http-header-validation",
  ],
};

const { values } = parseArgs({ options: { json: { type: "string" } } });
const baseline = readBaseline();
const upstream = await startPrinting(["build/test/programs/conformance-upstream.js"]);
try {
  const legs = {
    direct: await runSets("direct", upstream.url, serverScenarios),
    through: await withHost(UNCHANGED_NAMES, (url) => runSets("through", url, serverScenarios)),
    generic: await withHost(undefined, (url) => runSets("generic", url, generic)),
  };
  const deafPasses = await runDeaf();
  for (const scenario of deafPasses) console.log(`A server that knows nothing passes ${scenario}.`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...legs, deafPasses }, null, 2)}\n`);
  const parts = Object.entries(legs).map(([leg, verdicts]) => `${leg} ${scoreOf(verdicts)}`);
  console.log(`conformance server: ${parts.join(", ")}`);
  const isPassed = Object.values(legs).every((verdicts) => verdicts.every(({ kind }) => kind !== "failed"));
  process.exitCode = isPassed && deafPasses.length === 0 ? 0 : 1;
} finally {
  await upstream.stop();
}

async function withHost(
  naming: typeof UNCHANGED_NAMES | undefined,
  run: (url: string) => Promise<readonly ServerVerdict[]>,
): Promise<readonly ServerVerdict[]> {
  const host = await startHost(upstream.url, naming);
  try {
    return await run(host.url);
  } finally {
    await host.stop();
  }
}

/** Runs everything, and judges what `scenariosOf` names. */
async function runSets(
  leg: Leg | "direct",
  url: string,
  scenariosOf: (revision: string) => readonly string[],
): Promise<readonly ServerVerdict[]> {
  const verdicts: ServerVerdict[] = [];
  for (const revision of REVISIONS) {
    const run = await runServerSet(url, revision);
    for (const scenario of scenariosOf(revision)) {
      const listed = leg === "direct" ? [] : listedFor(baseline, leg, revision, scenario);
      verdicts.push(told(leg, judgeServer(revision, scenario, run.get(scenario) ?? [], listed)));
    }
  }
  return verdicts;
}

/** What a server that knows nothing passes. */
async function runDeaf(): Promise<readonly string[]> {
  const server = await startDeafServer();
  const passes: string[] = [];
  try {
    for (const revision of REVISIONS) {
      const run = await runServerSet(server.url, revision);
      const verdicts = serverScenarios(revision).map((name) => judgeServer(revision, name, run.get(name) ?? []));
      passes.push(...verdicts.flatMap(({ kind, scenario }) => (kind === "failed" ? [] : [`${revision} ${scenario}`])));
    }
  } finally {
    server.close();
  }
  return passes;
}

function generic(revision: string): readonly string[] {
  return GENERIC[revision] ?? [];
}

/** Says how it went. */
function told(leg: string, verdict: ServerVerdict): ServerVerdict {
  const { kind, revision, scenario, reasons, listed } = verdict;
  const words = { passed: "ok    ", waits: "waits ", failed: "FAILED" };
  const left = listed.length === 0 ? "" : `  without ${listed.join(", ")}`;
  console.log(`${words[kind]}  ${leg.padEnd(7)}  ${revision}  ${scenario}${left}`);
  for (const reason of reasons) console.log(`        ${reason}`);
  return verdict;
}

/** Passed of those that are judged. */
function scoreOf(verdicts: readonly ServerVerdict[]): string {
  const judged = verdicts.filter(({ kind }) => kind !== "waits");
  return `${String(judged.filter(({ kind }) => kind === "passed").length)} of ${String(judged.length)}`;
}
