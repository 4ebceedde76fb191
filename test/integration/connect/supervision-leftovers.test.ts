import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type SupervisedServer, superviseServer } from "../../../src/connect/index.js";
import { isRunning } from "../modern-client/stdio-servers.js";
import { commandOf, Supervised } from "./supervised-parties.js";

/** What this process holds: handlers of its own events, descriptors, and whatever keeps it alive. */
function holdings() {
  const handlers = process.eventNames().map((name) => [String(name), process.listenerCount(name)] as const);
  const kinds = process.getActiveResourcesInfo().filter((kind) => kind !== "Immediate" && kind !== "CloseReq");
  return {
    handlers: Object.fromEntries(handlers),
    descriptors: readdirSync("/proc/self/fd").length,
    processes: kinds.filter((kind) => kind === "ProcessWrap").length,
    pipes: kinds.filter((kind) => kind === "PipeWrap").length,
    timers: kinds.filter((kind) => kind === "Timeout").length,
  };
}

/** Fails when there is more or less than before for five seconds. Sockets take a moment to be closed. */
async function expectHoldings(before: unknown): Promise<void> {
  for (let n = 0; n < 100; n += 1) {
    await pause(50);
    if (JSON.stringify(holdings()) === JSON.stringify(before)) return;
  }
  expect(holdings()).toEqual(before);
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", onUnhandled));
afterEach(() => void process.off("unhandledRejection", onUnhandled));

/** Loads what is loaded on use, so that it isn't taken for something left behind. */
async function warmUp(): Promise<void> {
  for (const program of ["modern-stdio-server", "restless-stdio-server"] as const) {
    const server = superviseServer(commandOf(program, {}));
    await server.client();
    await server.close();
  }
}

it("MB-057, MB-138, L-15: 50 servers started, used, crashed and closed leave nothing", async () => {
  await warmUp();
  await pause(50);
  const before = holdings();
  const pids: number[] = [];
  // Ten at a time: it is their number that counts, not the load.
  for (let round = 0; round < 5; round += 1) {
    const all = Array.from(
      { length: 10 },
      (_, n) => new Supervised(n % 2 === 0 ? "restless-stdio-server" : "modern-stdio-server"),
    );
    await Promise.all(all.map((each) => each.valueOf("echo")));
    await Promise.all(all.slice(0, 5).map((each) => each.server.callTool({ name: "die" }).catch(() => undefined)));
    for (const { lastPid } of all.slice(5, 7)) process.kill(lastPid, "SIGKILL");
    // Some are closed while they run again, some while they are offline or starting.
    await Promise.all(all.slice(0, 3).map((each) => each.valueOf("echo")));
    await Promise.all(all.map((each) => each.server.close()));
    pids.push(...all.flatMap((each) => each.pids));
    expect(all.map((each) => each.server.state.kind)).toEqual(all.map(() => "disabled"));
  }
  expect(pids.length).toBeGreaterThanOrEqual(65);
  expect(pids.filter(isRunning)).toEqual([]);
  await expectHoldings(before);
  expect(unhandled).toEqual([]);
}, 120_000);

it("MB-057: 40 servers that can't be started, or are given up while they start, leave nothing", async () => {
  await warmUp();
  await pause(50);
  const before = holdings();
  const all: SupervisedServer[] = [];
  for (let n = 0; n < 40; n += 4) {
    const some = [
      superviseServer({ ...commandOf("restless-stdio-server", {}), command: "no-such-program-anywhere" }),
      superviseServer({ ...commandOf("restless-stdio-server", {}), args: ["-e", "process.exit(7)"] }),
      superviseServer(commandOf("restless-stdio-server", { initializeAfterMs: 60_000 })),
      superviseServer(commandOf("modern-stdio-server", { discover: "silence" })),
    ];
    all.push(...some);
    await pause(100);
    const calls = some.map((server) => server.callTool({ name: "echo" }).catch(() => undefined));
    await Promise.all(some.map((server) => server.close()));
    await Promise.all(calls);
  }
  expect(all.map(({ state }) => state.kind)).toEqual(all.map(() => "disabled"));
  await expectHoldings(before);
  expect(unhandled).toEqual([]);
}, 120_000);
