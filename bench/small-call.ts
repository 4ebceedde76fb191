/**
 * Small `tools/call` with a JSON answer: our client beside `undici.request` doing the same POST and beside the official
 * client, in one run against one server process.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { bareUndici, official, ours } from "./support/contenders.js";
import { type Measured, ratioOf, runRounds } from "./support/rounds.js";
import { startLoopbackServer } from "./support/server-process.js";

const REACH_OF_UNDICI = 0.9;
const REACH_OF_OFFICIAL: ReadonlyMap<number, number> = new Map([
  [1, 5],
  [16, 8],
  [64, 8],
  [256, 5],
]);

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });
const levels = values.quick ? [16] : [1, 16, 64, 256];
const rounds = values.quick ? 9 : 11;
const roundMs = values.quick ? 500 : 1_000;

const server = await startLoopbackServer();
const contenders = [ours(server.url), bareUndici(server.url), await official(server.url)];
const report: Record<string, readonly Measured[]> = {};
const lines: string[] = [];
let missed = 0;
try {
  for (const inFlight of levels) {
    const measured = await runRounds(contenders, { inFlight, rounds, roundMs });
    report[`c${String(inFlight)}`] = measured;
    for (const { name, callsPerSecond, cpuPerCallUs } of measured) {
      const rate = callsPerSecond.toFixed(0).padStart(7);
      console.log(
        `c${String(inFlight).padEnd(4)} ${name.padEnd(18)} ${rate} calls/s ${cpuPerCallUs.toFixed(0).padStart(6)} µs CPU a call`,
      );
    }
    const [mine, undici, other] = measured;
    if (mine === undefined || undici === undefined || other === undefined) throw new Error("a contender is missing");
    const ofUndici = ratioOf(mine, undici);
    const ofOfficial = ratioOf(mine, other);
    if (ofUndici < REACH_OF_UNDICI || ofOfficial < (REACH_OF_OFFICIAL.get(inFlight) ?? 0)) missed += 1;
    lines.push(
      `small-call c${String(inFlight)}: ${ofUndici.toFixed(2)} of undici, ${ofOfficial.toFixed(1)} of official client`,
    );
  }
} finally {
  await Promise.all(contenders.map((contender) => contender.close()));
  server.stop();
}
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(report, null, 2));
for (const line of lines) console.log(line);
process.exitCode = missed > 0 && !values.quick ? 1 : 0;
