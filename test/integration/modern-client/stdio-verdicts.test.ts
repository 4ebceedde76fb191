import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { connect, isRunning, scripted, startsFile, verdict } from "./stdio-servers.js";

/** Writes every line that it reads into a file, answers what is named `answer`, and never anything else but the probe. */
const PROGRAM = `
const { appendFileSync, writeSync } = require("node:fs");
const [starts, log] = [process.argv[1], process.argv[1] + ".log"];
appendFileSync(starts, process.pid + "\\n");
process.on("SIGTERM", () => process.exit(0));
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(log, line.slice(0, 4000) + "\\n");
  let message = {};
  try { message = JSON.parse(line); } catch {}
  const { id, method, params } = message;
  const say = (result) => writeSync(1, JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  if (method === "server/discover") say({ supportedVersions: ["2026-07-28"], capabilities: {} });
  if (params && params.name === "answer") say({ content: [] });
  if (params && params.name === "die") process.exit(1);
}).on("close", () => process.exit(0));
`;

const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("answer", "silent", "notify", "listen") },
  { weight: 2, arbitrary: fc.constantFrom("big", "abort", "wait", "pause") },
  { weight: 2, arbitrary: fc.constantFrom("die", "kill", "stop", "continue") },
);

it("F-1, F-12: what is said not to have been sent never arrives, and everything settles, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 25 }), async (steps) => {
      const { starts, pids } = startsFile();
      const pace = { firstRestartDelayMs: 5, longestRestartDelayMs: 5, closeGraceMs: 100, maxConcurrentRequests: 6 };
      const limits = { totalTimeoutMs: 600, connectTimeoutMs: 500 };
      const { client } = connect(scripted({}, { args: ["-e", PROGRAM, starts], ...pace, ...limits }));
      const abort = new AbortController();
      const fates: Promise<{ n: number; fate: Awaited<ReturnType<typeof verdict>> }>[] = [];
      const watch = (n: number, promise: Promise<unknown>): void =>
        void fates.push(verdict(promise).then((fate) => ({ n, fate })));
      const signal = (name: NodeJS.Signals): void => {
        const pid = pids().at(-1);
        if (pid !== undefined && isRunning(pid)) process.kill(pid, name);
      };
      for (const [n, step] of steps.entries()) {
        const args = { n: `#${String(n)}#` };
        const own = n % 3 === 0 ? { signal: abort.signal } : {};
        if (step === "answer" || step === "silent" || step === "die") {
          watch(n, client.callTool({ name: step, arguments: args }, own));
        } else if (step === "big") {
          watch(n, client.callTool({ name: "answer", arguments: { ...args, text: "x".repeat(200_000) } }, own));
        } else if (step === "notify") {
          watch(n, client.notify("notifications/example", args, { ...limits, ...own }));
        } else if (step === "listen") {
          watch(n, client.listen(args, { acknowledgeTimeoutMs: 300, ...own }).acknowledged);
        } else if (step === "abort") abort.abort("enough");
        else if (step === "wait") await new Promise((resolve) => setTimeout(resolve, 60));
        else if (step === "pause") await new Promise((resolve) => setImmediate(resolve));
        else signal(({ kill: "SIGKILL", stop: "SIGSTOP", continue: "SIGCONT" } as const)[step]);
      }
      await new Promise((resolve) => setTimeout(resolve, 30));
      signal("SIGCONT");
      const known = await Promise.all(fates);
      await client.close();
      const log = `${starts}.log`;
      const arrived = existsSync(log) ? readFileSync(log, "utf8") : "";
      for (const { n, fate } of known) {
        const times = arrived.split(`#${String(n)}#`).length - 1;
        expect(times, `${String(n)} ${JSON.stringify(fate)}`).toBeLessThanOrEqual(1);
        if (fate !== "resolved" && fate.delivery === "not_sent") expect(times, `${String(n)} not sent`).toBe(0);
        if (fate === "resolved" && steps[n] !== "notify") expect(times, `${String(n)} answered`).toBe(1);
      }
      expect(pids().filter(isRunning)).toEqual([]);
    }),
    { numRuns: 15 },
  );
}, 60_000);
