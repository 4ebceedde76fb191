import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { retryAdvice } from "../../../src/protocol/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { published } from "../legacy-client/servers.js";
import { connect, isRunning, scripted, startsFile, verdict } from "./stdio-servers.js";

const EXITED = { code: "process_exited", delivery: "unknown" };
const UNSENT = { code: "process_exited", delivery: "not_sent" };

describe("the probe", () => {
  it.each([
    ["a result without versions", { result: {} }],
    ["an older server's error", { error: { code: -32601, message: "Method not found" } }],
    ["an error about parameters", { error: { code: -32602, message: "Invalid request parameters" } }],
    ["no response", {}],
    ["a result of another type", { result: { supportedVersions: ["2026-07-28"], resultType: "input_required" } }],
  ])("L-21, W-40: %s is a server of old: nothing is sent, and its process ended", async (_name, discover) => {
    const { starts, pids } = startsFile();
    const { client } = connect(scripted({ starts, discover }));
    await expect(client.callTool({ name: "echo" })).rejects.toMatchObject({
      code: "unsupported_version",
      delivery: "not_sent",
      details: { supported: [], ours: ["2026-07-28"] },
    });
    await client.close();
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it("L-21, W-27: a server that names none of our versions is unsupported, with both lists", async () => {
    const older = { supportedVersions: ["2025-11-25"], capabilities: {} };
    const data = { supported: ["2099-01-01"], requested: "2026-07-28" };
    for (const [discover, supported] of [
      [{ result: older }, ["2025-11-25"]],
      [{ error: { code: -32022, message: "no", data } }, ["2099-01-01"]],
    ] as const) {
      const { client } = connect(scripted({ discover }));
      await expect(client.callTool({ name: "echo" })).rejects.toMatchObject({
        code: "unsupported_version",
        delivery: "not_sent",
        details: { supported, ours: ["2026-07-28"] },
      });
    }
  });

  it.each(["server-memory", "server-everything"])("L-21: the published %s is a server of old", async (name) => {
    const { command, args } = published(name);
    const { client } = connect(scripted({}, { command, args, probeTimeoutMs: 20_000 }));
    await expect(client.listTools()).rejects.toMatchObject({ code: "unsupported_version", delivery: "not_sent" });
  });

  it.each([-32020, -32021])("L-21: the modern error %i is a modern server's", async (code) => {
    const { valueOf } = connect(scripted({ discover: { error: { code, message: "no" } } }));
    await expect(valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
  });

  it("L-21: -32022 that names our version is a modern server's", async () => {
    const error = { code: -32022, message: "no", data: { supported: ["2026-07-28"] } };
    await expect(connect(scripted({ discover: { error } })).valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
  });

  it("L-21: silence is a server of old; its stderr is in the cause", async () => {
    const { client } = connect(scripted({ discover: "silence", stderr: "only initialize\n" }, { probeTimeoutMs: 400 }));
    await expect(client.callTool({ name: "echo" })).rejects.toMatchObject({
      code: "unsupported_version",
      delivery: "not_sent",
      cause: { code: "process_exited", details: { stderrTail: "only initialize\n" } },
    });
  });

  it.each(["exit", "half"])("L-21, L-14: an exit in place of an answer (%s) is what it is", async (discover) => {
    const { client } = connect(scripted({ discover, stderr: "unknown method\n" }));
    await expect(client.callTool({ name: "echo" })).rejects.toMatchObject({
      code: "process_exited",
      delivery: "not_sent",
      details: { exitCode: 5, stderrTail: "unknown method\n" },
    });
  });
});

describe("the end of a server process", () => {
  it("L-12: a command that is not there is spawn_failed, and nothing was sent", async () => {
    const { client } = connect(scripted({}, { command: "/nowhere/at/all" }));
    const expected = { code: "spawn_failed", delivery: "not_sent" };
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(expected);
    await expect(verdict(client.listTools())).resolves.toEqual(expected);
  });

  it("W-40: what was written fails at once and is unknown; the next request starts another process", async () => {
    const { starts, pids } = startsFile();
    const { client, valueOf } = connect(scripted({ starts }));
    await client.discover();
    const bystander = verdict(client.callTool({ name: "silent" }));
    await expect(client.callTool({ name: "die", arguments: { code: 6 } })).rejects.toMatchObject({
      code: "process_exited",
      delivery: "unknown",
      details: { exitCode: 6, stderrTail: "dying of the call\n", evidence: { handedOver: true, attempts: 1 } },
    });
    await expect(bystander).resolves.toEqual(EXITED);
    await expect(valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
    expect(pids()).toHaveLength(2);
  });

  it("W-40: what waited to be written was not sent", async () => {
    const { client, valueOf } = connect(scripted({}, { maxConcurrentRequests: 64 }));
    const pid = Number(await valueOf("pid"));
    process.kill(pid, "SIGSTOP");
    const big = "x".repeat(400_000);
    const calls = Array.from({ length: 4 }, () =>
      verdict(client.callTool({ name: "echo", arguments: { big } }, { idleTimeoutMs: 5_000 })),
    );
    process.kill(pid, "SIGKILL");
    const verdicts = await Promise.all(calls);
    expect(verdicts[0]).toEqual(EXITED);
    expect(verdicts.at(-1)).toEqual(UNSENT);
  });

  it("W-40: what comes while the last output of a dead process is awaited goes to the next", async () => {
    const { starts, pids } = startsFile();
    const { client, valueOf } = connect(scripted({ starts }));
    await valueOf("pid");
    const dying = verdict(client.callTool({ name: "die-behind" }));
    await expect.poll(() => isRunning(pids()[0] ?? 0)).toBe(false);
    // Its end is known, and not that of its output.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const next = valueOf("pid");
    await expect(dying).resolves.toEqual(EXITED);
    expect(await next).toBe(pids()[1]);
  });

  it("W-40, F-2: a read is made again over the next process, a tool is not", async () => {
    const { starts, pids } = startsFile();
    const { client } = connect(scripted({ starts }, { random: () => 0 }));
    await expect(client.listPrompts()).resolves.toMatchObject({ prompts: [] });
    expect(pids()).toHaveLength(2);
    const error: unknown = await client.callTool({ name: "die" }).catch((one: unknown) => one);
    expect(retryAdvice(error, { nowMs: 0 })).toEqual({ kind: "ask" });
    expect(retryAdvice(error, { method: "prompts/list", nowMs: 0 })).toEqual({ kind: "now" });
    expect(pids()).toHaveLength(2);
  });

  it("W-40, F-2: an answer that is cut at any byte is unknown, and one without its line end is an answer", async () => {
    const { client, kinds } = connect(scripted({}, { firstRestartDelayMs: 1, longestRestartDelayMs: 1 }));
    await client.discover();
    const { length } = JSON.stringify({ jsonrpc: "2.0", id: 999, result: { content: [] } });
    const verdicts: unknown[] = [];
    for (let leave = 0; leave <= length + 1; leave += 1) {
      // A read outlives the process that the call before it has ended.
      await client.discover();
      verdicts.push(await verdict(client.callTool({ name: "cut", arguments: { leave } })));
    }
    // All of it, and all but the end of the line.
    expect(verdicts.slice(0, 2)).toEqual(["resolved", "resolved"]);
    expect(verdicts.slice(2)).toEqual(Array.from({ length }, () => EXITED));
    expect(new Set(kinds())).toEqual(new Set(["not_a_message", "unterminated_event"]));
  }, 60_000);

  it("W-40: a process that keeps dying is started after pauses that grow, within each request's own deadline", async () => {
    const { starts, pids } = startsFile();
    const pace = { firstRestartDelayMs: 400, longestRestartDelayMs: 60_000, random: () => 1 };
    const { client } = connect(scripted({ starts, exit: 3, stderr: "no\n" }, pace));
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(UNSENT);
    const began = performance.now();
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(UNSENT);
    expect(performance.now() - began).toBeGreaterThan(350);
    await expect(client.callTool({ name: "echo" }, { connectTimeoutMs: 100 })).rejects.toMatchObject({
      code: "timeout",
      delivery: "not_sent",
      details: { phase: "connect", option: "connectTimeoutMs", limitMs: 100 },
      cause: { code: "process_exited", details: { exitCode: 3, stderrTail: "no\n" } },
    });
    // Nobody waits any more: nothing is started.
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(pids()).toHaveLength(2);
  });

  it("W-40: requests wait through the pause for a server that comes back", async () => {
    const { starts, pids } = startsFile();
    const { client, valueOf } = connect(scripted({ starts, exit: 3, exits: 2 }));
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(UNSENT);
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(UNSENT);
    await expect(Promise.all([valueOf("echo", { a: 1 }), valueOf("echo", { b: 2 })])).resolves.toHaveLength(2);
    expect(pids()).toHaveLength(3);
  });

  it("W-40: the end of a process that served for long makes nobody wait, an early one does", async () => {
    const clock = new FakeClock();
    const { starts, pids } = startsFile();
    const { client, valueOf } = connect(scripted({ starts, exit: 3, exits: 1 }, { clock, firstRestartDelayMs: 500 }));
    const die = () => verdict(client.callTool({ name: "die" }));
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(UNSENT);
    const second = valueOf("pid");
    await clock.advance(500);
    expect(await second).toBe(pids()[1]);
    await clock.advance(10_000);
    await expect(die()).resolves.toEqual(EXITED);
    expect(await valueOf("pid")).toBe(pids()[2]);
    await expect(die()).resolves.toEqual(EXITED);
    const third = valueOf("pid");
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(pids()).toHaveLength(3);
    await clock.advance(500);
    expect(await third).toBe(pids()[3]);
    const closing = client.close();
    await clock.advance(10_000);
    await closing;
  });

  it("W-40: by option there is one process only", async () => {
    const { starts, pids } = startsFile();
    const { client, valueOf } = connect(scripted({ starts }, { restart: "never" }));
    await valueOf("pid");
    await expect(verdict(client.callTool({ name: "die" }))).resolves.toEqual(EXITED);
    await expect(verdict(client.callTool({ name: "echo" }))).resolves.toEqual(UNSENT);
    await expect(verdict(client.listTools())).resolves.toEqual(UNSENT);
    expect(pids()).toHaveLength(1);
  });

  it("L-14: configured secrets are kept out of errors", async () => {
    const script = { stderr: "tokens: env-secret arg-secret\n", exit: 1 };
    const secret = { env: { TOKEN: "env-secret" }, secrets: ["arg-secret"] };
    const { client } = connect(scripted(script, secret));
    const error: unknown = await client.callTool({ name: "echo" }).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "process_exited", details: { exitCode: 1 } });
    const shown = inspect(error, { depth: Infinity });
    expect(shown).toContain("tokens: ");
    expect(shown).not.toMatch(/env-secret|arg-secret/);
  });

  it("L-14: a server that closes its stdout is ended, and its requests are unknown", async () => {
    const { starts, pids } = startsFile();
    const { client, valueOf } = connect(scripted({ starts }));
    await valueOf("pid");
    await expect(verdict(client.callTool({ name: "close-stdout" }))).resolves.toEqual({
      code: "connection_broken",
      delivery: "unknown",
    });
    await expect(valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
    const [first] = pids();
    await expect.poll(() => isRunning(first ?? 0), { timeout: 3_000 }).toBe(false);
  });

  it("F-12: a kill at every moment settles everything, and leaves nothing", async () => {
    const { starts, pids } = startsFile();
    const { client } = connect(scripted({ starts, discoverAfterMs: 30 }, { longestRestartDelayMs: 10 }));
    for (let ms = 0; ms < 150; ms += 10) {
      const known = pids().length;
      const calls = ["silent", "echo", "silent"].map((name) =>
        verdict(client.callTool({ name }, { totalTimeoutMs: 400 })),
      );
      await new Promise((resolve) => setTimeout(resolve, ms));
      for (const pid of pids().slice(Math.max(0, known - 1))) if (isRunning(pid)) process.kill(pid, "SIGKILL");
      for (const one of await Promise.all(calls)) {
        expect(["resolved", "process_exited", "timeout"]).toContain(one === "resolved" ? one : one.code);
      }
    }
    await client.close();
    expect(pids().filter(isRunning)).toEqual([]);
  }, 30_000);
});
