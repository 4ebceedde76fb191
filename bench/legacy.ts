/**
 * Small `tools/call` within a session of revision 2025-11-25, 16 in flight: our client beside `undici.request` doing the same
 * POST and beside the official client, in one run against one server process.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { bareUndiciLegacy, officialLegacy, oursLegacy } from "./support/contenders.js";
import { ratioOf, runRounds } from "./support/rounds.js";
import { startLoopbackServer } from "./support/server-process.js";

const REACH_OF_UNDICI = 0.85;
const REACH_OF_OFFICIAL = 6;

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });
const rounds = values.quick ? 9 : 15;
const roundMs = values.quick ? 500 : 1_000;

const server = await startLoopbackServer();
const contenders = [await oursLegacy(server.url), bareUndiciLegacy(server.url), await officialLegacy(server.url)];
try {
  const measured = await runRounds(contenders, { inFlight: 16, rounds, roundMs });
  for (const { name, callsPerSecond, cpuPerCallUs } of measured) {
    const rate = callsPerSecond.toFixed(0).padStart(7);
    console.log(`${name.padEnd(18)} ${rate} calls/s ${cpuPerCallUs.toFixed(0).padStart(6)} µs CPU a call`);
  }
  const [mine, undici, other] = measured;
  if (mine === undefined || undici === undefined || other === undefined) throw new Error("a contender is missing");
  const ofUndici = ratioOf(mine, undici);
  const ofOfficial = ratioOf(mine, other);
  if (values.json !== undefined) await writeFile(values.json, JSON.stringify(measured, null, 2));
  console.log(`legacy c16: ${ofUndici.toFixed(2)} of undici, ${ofOfficial.toFixed(1)} of official client`);
  const isReached = ofUndici >= REACH_OF_UNDICI && ofOfficial >= REACH_OF_OFFICIAL;
  process.exitCode = isReached || values.quick ? 0 : 1;
} finally {
  await Promise.all(contenders.map((contender) => contender.close()));
  server.stop();
}
