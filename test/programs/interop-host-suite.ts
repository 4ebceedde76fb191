/**
 * The matrix of the official clients with the official servers, with a connector host between them: `interop-host-suite [--quick]
 * [--json FILE]`. The last line is what scripts read; a cell that failed is exit code 1.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { AGENT_KINDS } from "../interop/host/agent-kind.js";
import { isHostPassed, reportHost } from "../interop/host/report-host.js";
import { runMatrix } from "../interop/host/run-matrix.js";
import { startInteropHost } from "../interop/host/start-host.js";
import { UPSTREAMS } from "../interop/host/upstream.js";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });
// Each era and each transport on either side, once.
const QUICK_AGENTS = [AGENT_KINDS[0], AGENT_KINDS[5]].flatMap((kind) => (kind === undefined ? [] : [kind]));
const QUICK_UPSTREAMS = UPSTREAMS.filter(({ slug }) => slug === "modern-http" || slug === "legacy-stdio");

const agents = values.quick ? QUICK_AGENTS : AGENT_KINDS;
const upstreams = values.quick ? QUICK_UPSTREAMS : UPSTREAMS;
const host = await startInteropHost(upstreams);
try {
  const rows = await runMatrix(agents, upstreams, host.access);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
  console.log(reportHost(rows));
  process.exitCode = isHostPassed(rows) ? 0 : 1;
} finally {
  await host.stop();
}
