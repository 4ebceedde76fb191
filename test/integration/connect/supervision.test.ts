import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { deliveryOf, isRemoteConnectorError } from "../../../src/errors.js";
import { isRunning } from "../modern-client/stdio-servers.js";
import { Supervised } from "./supervised-parties.js";

/** The code of a call's error, and its verdict. */
async function verdict(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  return isRemoteConnectorError(error) ? [error.code, deliveryOf(call)] : error;
}

/** Knows `server/discover`, `tools/list` and a tool that tells its process id, and no more. */
const WITHOUT_SUBSCRIPTIONS = `
  const results = {
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    "tools/list": { tools: [{ name: "pid", inputSchema: { type: "object" } }] },
    "tools/call": { content: [], structuredContent: process.pid },
  };
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const result = results[method];
    const answer = result === undefined ? { error: { code: -32601, message: "no" } } : { result };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }).on("close", () => process.exit(0));
`;

const until = { timeout: 10_000, interval: 5 };

describe.each(["modern-stdio-server", "restless-stdio-server"] as const)("a supervised %s", (program) => {
  it("L-16: is started again after a call killed it, and what was sent is not made again", async () => {
    const all = new Supervised(program);
    await expect(all.valueOf("echo", { n: 1 })).resolves.toBeDefined();
    const [first] = all.pids;
    expect(await verdict(all.server.callTool({ name: "die" }))).toEqual(["process_exited", "unknown"]);
    // It waits for the next process.
    await expect(all.valueOf("echo", { n: 2 })).resolves.toBeDefined();
    expect(all.pids).toHaveLength(2);
    expect(all.kinds).toEqual(["ready", "offline", "starting", "ready"]);
    expect(isRunning(first ?? 0)).toBe(false);
    await all.server.close();
    expect(all.pids.filter(isRunning)).toEqual([]);
  });

  it("L-16, MB-138: is started again when it dies while nobody calls", async () => {
    const all = new Supervised(program);
    await all.server.client();
    for (let n = 2; n <= 4; n += 1) {
      process.kill(all.lastPid, "SIGKILL");
      await vi.waitFor(() => {
        expect(all.pids).toHaveLength(n);
        expect(all.server.state.kind).toBe("ready");
      }, until);
    }
    const offline = all.told.find((each) => "kind" in each && each.kind === "offline");
    expect(offline).toMatchObject({ error: { code: "process_exited", details: { signal: "SIGKILL" } } });
  });

  it("L-16: is switched off, on, and started again by its user", async () => {
    const all = new Supervised(program, {}, { enabled: false });
    expect(await verdict(all.server.callTool({ name: "echo" }))).toEqual(["not_ready", "not_sent"]);
    expect(all.pids).toEqual([]);
    all.server.enable();
    await all.server.client();
    all.server.restart();
    await all.server.client();
    expect(all.pids).toHaveLength(2);
    expect(all.pids.filter(isRunning)).toHaveLength(1);
    await all.server.disable();
    expect(all.pids.filter(isRunning)).toEqual([]);
    expect(all.kinds).toEqual(["starting", "ready", "starting", "ready", "disabled"]);
  });
});

describe("supervision", () => {
  it("L-16: a crash loop is ended by the budget, and a call renews it", async () => {
    const all = new Supervised("restless-stdio-server", { exits: 1_000 }, { maxRestarts: 3 });
    expect(await verdict(all.server.callTool({ name: "echo" }))).toEqual(["process_exited", "not_sent"]);
    expect(all.pids).toHaveLength(4);
    expect(all.server.state).toMatchObject({ kind: "offline", next: "probe", error: { details: { exitCode: 4 } } });
    await pause(300);
    expect(all.pids).toHaveLength(4);
    expect(await verdict(all.server.callTool({ name: "echo" }))).toEqual(["process_exited", "not_sent"]);
    expect(all.pids).toHaveLength(8);
    expect(all.lists).toEqual([]);
  });

  it("L-16: a call waits for a server that comes up at its third start", async () => {
    const all = new Supervised("restless-stdio-server", { exits: 2 });
    const answer = await all.valueOf("pid");
    expect(answer).toEqual({ pid: all.lastPid });
    expect(all.pids).toHaveLength(3);
    expect(all.kinds).toEqual(["offline", "starting", "offline", "starting", "ready"]);
  });

  it("L-16, MB-138: a server that exits 200 ms after its start, again and again, is never ready without tools", async () => {
    const all = new Supervised("restless-stdio-server", { livesMs: 200 }, { maxRestarts: 2 });
    await vi.waitFor(() => expect(all.server.state).toMatchObject({ kind: "offline", next: "probe" }), until);
    expect(all.pids).toHaveLength(3);
    const rounds = ["ready", "offline", "starting"];
    expect(all.kinds).toEqual([...rounds, ...rounds, "ready", "offline"]);
    for (const state of all.told) if ("kind" in state && state.kind === "ready") expect(state.tools).toBe(1);
  });

  it("L-16, L-17: a server that is slow to initialize is starting, not killed, and calls wait within their own deadline", async () => {
    const script = { initializeAfterMs: 1_500 };
    const all = new Supervised("restless-stdio-server", script, { connectTimeoutMs: 300, notReadyText: "Soon." });
    const impatient = all.server.callTool({ name: "echo" });
    const patient = all.server.callTool({ name: "pid" }, { connectTimeoutMs: 20_000 });
    const now = all.server.callTool({ name: "echo" }, { waits: false });
    await expect(now).rejects.toMatchObject({ code: "not_ready", message: "Soon.", details: { state: "starting" } });
    expect(await verdict(impatient)).toEqual(["timeout", "not_sent"]);
    expect(all.server.state).toEqual({ kind: "starting" });
    await expect(patient).resolves.toMatchObject({ structuredContent: { pid: all.lastPid } });
    expect(all.pids).toHaveLength(1);
    expect(all.kinds).toEqual(["ready"]);
  });

  it("L-15, L-16: a server that is given up while it initializes is gone when `close` resolves", async () => {
    const all = new Supervised("restless-stdio-server", { initializeAfterMs: 60_000 });
    await vi.waitFor(() => expect(all.pids).toHaveLength(1), until);
    await all.server.close();
    expect(all.pids.filter(isRunning)).toEqual([]);
  });

  it("L-16: a living server with an empty list is degraded, can be called, and is not restarted", async () => {
    const all = new Supervised("restless-stdio-server", { tools: [] });
    await expect(all.valueOf("storm", { changes: 1 })).resolves.toEqual({ tools: 1 });
    expect(all.told.slice(0, 2)).toEqual([[], { kind: "degraded", reason: "empty_list" }]);
    await vi.waitFor(() => expect(all.server.state).toEqual({ kind: "ready", tools: 1 }), until);
    expect(all.pids).toHaveLength(1);
  });

  it("L-16: a living server whose list fails is degraded, and listed again after a while", async () => {
    const all = new Supervised("restless-stdio-server", { listErrors: 2 }, { probeIntervalMs: 100 });
    await expect(all.valueOf("echo")).resolves.toBeDefined();
    expect(all.told[0]).toMatchObject({ kind: "degraded", reason: "list_failed", error: { code: "peer_error" } });
    await vi.waitFor(() => expect(all.server.state).toEqual({ kind: "ready", tools: 1 }), until);
    expect(all.pids).toHaveLength(1);
  });

  it("L-16: a storm of 200 changes makes two lists at most, and the last one has them all", async () => {
    const all = new Supervised("restless-stdio-server");
    await expect(all.valueOf("storm", { changes: 200 })).resolves.toEqual({ tools: 201 });
    await vi.waitFor(() => expect(all.lists.at(-1)).toHaveLength(201), until);
    await pause(1_200);
    await expect(all.valueOf("lists")).resolves.toEqual({ lists: expect.toBeOneOf([2, 3]) });
    expect(all.kinds.filter((kind) => kind !== "ready")).toEqual([]);
  });

  it("L-16: changes that come before and with the answer to `initialize` are not lost", async () => {
    const all = new Supervised("restless-stdio-server", { earlyChanges: 200 });
    await all.server.client();
    await vi.waitFor(() => expect(all.lists.at(-1)).toEqual(["echo", "early"]), until);
    await pause(1_200);
    expect(all.lists.length).toBeLessThanOrEqual(2);
    await expect(all.valueOf("lists")).resolves.toEqual({ lists: all.lists.length });
  });

  it("L-16: changes of a modern server come by its subscription, also after a restart", async () => {
    const all = new Supervised("modern-stdio-server");
    for (const rounds of [1, 2]) {
      await vi.waitFor(async () => expect(await all.valueOf("change")).toHaveLength(1), until);
      await vi.waitFor(() => expect(all.lists.length).toBeGreaterThan(rounds), until);
      if (rounds === 1) {
        all.server.restart();
        await all.server.client();
      }
    }
    expect(all.pids).toHaveLength(2);
  });

  it.each([
    // One is probed, the other is not.
    ["restless-stdio-server", "legacy", 2],
    ["modern-stdio-server", "modern", 1],
  ] as const)(
    "L-16, L-21: the era of a %s is found once, and each restart is one process",
    async (program, era, first) => {
      const all = new Supervised(program, {}, { revisions: undefined });
      const client = await all.server.client();
      expect(client.era).toBe(era);
      expect(all.pids).toHaveLength(first);
      for (let n = 1; n <= 2; n += 1) {
        await verdict(all.server.callTool({ name: "die" }));
        const again = await all.server.client();
        expect(again.era).toBe(era);
        expect(again).not.toBe(client);
        expect(all.pids).toHaveLength(first + n);
      }
    },
  );

  it("L-16: a modern server without subscriptions is missed as soon as it is gone", async () => {
    const all = new Supervised("modern-stdio-server", {}, { args: ["-e", WITHOUT_SUBSCRIPTIONS] });
    const first = await all.valueOf("pid");
    process.kill(Number(first), "SIGKILL");
    await vi.waitFor(() => expect(isRunning(Number(first))).toBe(false), until);
    await vi.waitFor(() => expect(all.kinds).toContain("offline"), until);
    expect(await all.valueOf("pid")).not.toBe(first);
    expect(all.kinds).toEqual(["ready", "offline", "starting", "ready"]);
  });

  it("F-1: a program that is not there is not sent, and not tried for ever", async () => {
    const all = new Supervised("restless-stdio-server", {}, { command: "no-such-program-anywhere", maxRestarts: 1 });
    expect(await verdict(all.server.callTool({ name: "echo" }))).toEqual(["spawn_failed", "not_sent"]);
    expect(all.server.state).toMatchObject({ kind: "offline", next: "probe" });
  });
});
