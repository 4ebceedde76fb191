import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../support/fake-clock.js";
import { connect, isRunning, scripted, startsFile, verdict } from "./stdio-servers.js";

const FILTER = { toolsListChanged: true };
const EXITED = { code: "process_exited", delivery: "unknown" };

/** The messages that a server was sent, each with its method. */
function methodsIn(seen: unknown): readonly string[] {
  return Array.isArray(seen) ? seen.map(({ method }) => String(method)) : [];
}

describe("a notification over stdio", () => {
  it("W-7, F-1: that met a dead process was not taken", async () => {
    const { client, valueOf } = connect(scripted());
    const pid = Number(await valueOf("pid"));
    process.kill(pid, "SIGKILL");
    // Nothing of its end is heard here meanwhile. Its last thread closes its end of the pipe.
    while (isRunning(pid));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    await expect(verdict(client.notify("notifications/example"))).resolves.toEqual(EXITED);
  });

  it("W-7, F-1: is not taken before a server that doesn't read has room for it", async () => {
    const { client, valueOf } = connect(scripted());
    const pid = Number(await valueOf("pid"));
    process.kill(pid, "SIGSTOP");
    const long = client.notify("notifications/example", { text: "x".repeat(1_000_000) }, { totalTimeoutMs: 200 });
    await expect(verdict(long)).resolves.toEqual({ code: "timeout", delivery: "unknown" });
    process.kill(pid, "SIGCONT");
  });
});

describe("subscriptions over stdio, at odd moments", () => {
  it("W-36, F-12: one that its own check closes while it is opened again leaves nothing at the server", async () => {
    const { client, valueOf } = connect(scripted());
    let openings = 0;
    const admit = (): undefined => {
      openings += 1;
      if (openings === 2) kept.close();
    };
    const kept = client.keepListening(FILTER, { admit, firstReopenDelayMs: 1, longestReopenDelayMs: 1 });
    await kept.acknowledged;
    await valueOf("end-subscriptions");
    await expect(kept.closed).resolves.toMatchObject({ kind: "cancelled" });
    const methods = methodsIn(await valueOf("seen")).filter((method) => method !== "tools/call");
    const opened = methods.filter((method) => method === "subscriptions/listen").length - 1;
    const cancelled = methods.filter((method) => method === "notifications/cancelled").length;
    expect(cancelled).toBe(opened);
    expect(openings).toBe(2);
  });

  it("W-36: a process that can't be started is no refusal", async () => {
    const { client } = connect(scripted({}, { command: "/nowhere/at/all" }));
    await expect(client.listen(FILTER).closed).resolves.toMatchObject({
      kind: "broken",
      error: { code: "spawn_failed", delivery: "not_sent" },
    });
  });

  it("F-2, W-37: an abort while its failure is told ends a kept one, and no pause begins", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const tell = (): void => controller.abort("enough");
    const logger = { debug: tell, info: tell, warn: tell, error: tell };
    const { client } = connect(scripted({}, { command: "/nowhere/at/all", clock, logger }));
    const kept = client.keepListening(FILTER, { signal: controller.signal });
    await expect(kept.closed).resolves.toEqual({ kind: "cancelled", reason: "enough" });
    expect(clock.pending).toBe(0);
  });

  it("W-37: a kept one ends for good when there will be no other process", async () => {
    const { client } = connect(scripted({}, { restart: "never" }));
    const kept = client.keepListening(FILTER, { firstReopenDelayMs: 1, longestReopenDelayMs: 1 });
    await kept.acknowledged;
    await verdict(client.callTool({ name: "die" }));
    const closed = Promise.race([kept.closed, new Promise((resolve) => setTimeout(resolve, 1_000, "open"))]);
    await expect(closed).resolves.toMatchObject({ error: { code: "process_exited" } });
  });

  it("F-12, W-40: the end of the client sends nothing", async () => {
    const { starts } = startsFile();
    const program = `process.stdin.pipe(require("node:fs").createWriteStream(${JSON.stringify(starts)}))`;
    const { client } = connect(scripted({}, { args: ["-e", program], probe: false }));
    client.listen(FILTER);
    const kept = client.keepListening(FILTER);
    const call = verdict(client.callTool({ name: "echo" }));
    const lines = (): string[] => readFileSync(starts, "utf8").trim().split("\n");
    await expect.poll(() => lines().length, { timeout: 5_000 }).toBe(3);
    await client.close();
    await expect(call).resolves.toEqual({ code: "cancelled", delivery: "unknown" });
    await expect(kept.closed).resolves.toMatchObject({ kind: "cancelled", reason: { code: "cancelled" } });
    expect(lines().filter((line) => line.includes("notifications/cancelled"))).toEqual([]);
  });
});

describe("the end of a client over stdio", () => {
  it("F-2, F-12: what is begun by those whom it tells is not sent", async () => {
    const { starts } = startsFile();
    const handlers = { roots: () => new Promise<never>(() => undefined) };
    const { client, valueOf } = connect(scripted({ starts }, { handlers }));
    await valueOf("pid");
    const late: Promise<unknown>[] = [];
    const onSettled = (): void => void late.push(verdict(client.callTool({ name: "echo" })));
    const calls = ["input", "silent"].map((name) => verdict(client.callTool({ name }, { onSettled })));
    await valueOf("pid");
    await client.close();
    expect(await Promise.all(calls)).toEqual([
      { code: "cancelled", delivery: "answered" },
      { code: "cancelled", delivery: "unknown" },
    ]);
    const unsent = { code: "cancelled", delivery: "not_sent" };
    expect(await Promise.all(late)).toEqual([unsent, unsent]);
  });
});

describe("the pause before a start", () => {
  it("F-12, W-40: ends with the client, and nothing is left of it", async () => {
    const clock = new FakeClock();
    const { client } = connect(scripted({}, { clock, command: "/nowhere/at/all" }));
    const call = () => verdict(client.callTool({ name: "echo" }));
    await expect(call()).resolves.toEqual({ code: "spawn_failed", delivery: "not_sent" });
    const waiting = call();
    expect(clock.pending).toBeGreaterThan(0);
    await client.close();
    await expect(waiting).resolves.toEqual({ code: "cancelled", delivery: "not_sent" });
    expect(clock.pending).toBe(0);
  });

  it("W-40: begins with the end before it, and not with the request after it", async () => {
    const clock = new FakeClock();
    const { starts, pids } = startsFile();
    const pace = { clock, firstRestartDelayMs: 500, random: () => 1 };
    const { client, valueOf } = connect(scripted({ starts, exit: 3, exits: 1 }, pace));
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toMatchObject({ code: "process_exited" });
    await clock.advance(400);
    const waiting = valueOf("pid");
    await clock.advance(99);
    expect(pids()).toHaveLength(1);
    await clock.advance(1);
    expect(await waiting).toBe(pids()[1]);
    const closing = client.close();
    await clock.advance(10_000);
    await closing;
  });
});

describe("an answer that is none, over stdio", () => {
  it("W-5, W-16, F-10: a request of the server that is too long is not our answer, though its id be ours", async () => {
    const { valueOf, kinds } = connect(scripted({}, { maxLineBytes: 4_096 }));
    await expect(valueOf("huge-request", { bytes: 20_000 })).resolves.toBe("done");
    expect(kinds()).toEqual(["not_a_message"]);
  });

  it.each([
    ["a method beside its result", { method: "tools/call", result: {} }],
    ["null as method, and nothing else", { method: null }],
  ])("W-11, W-13: %s fails the call at once", async (_name, message) => {
    const { client } = connect(scripted());
    await client.discover();
    const call = client.callTool({ name: "write", arguments: { message } }, { totalTimeoutMs: 2_000 });
    await expect(verdict(call)).resolves.toEqual({ code: "invalid_answer", delivery: "unknown" });
  });
});
