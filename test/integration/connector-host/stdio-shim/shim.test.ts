import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answerOf, hangs, HELLO, says } from "../local-server/fixed-directory.js";
import { gate } from "../local-server/start.js";
import { type Heard, MODERN_META } from "./line-agent.js";
import { ShimParty } from "./shim-party.js";

let party: ShimParty;

beforeEach(async () => {
  party = await ShimParty.begin();
  party.directory.add("a_hello", says(HELLO)).add("a_hang", hangs());
});

afterEach(() => party.opened.close());

const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Ids and methods of what was heard. */
function shapeOf(heard: readonly Heard[]): unknown[] {
  return heard.map(({ id, method }) => method ?? id);
}

describe("H-22, H-23: a legacy agent over stdio", () => {
  it.each(LEGACY)("agrees on %s, lists, calls and is pinged", async (revision) => {
    await party.serve();
    const agent = party.agent();
    const { result } = await agent.initialize(revision);
    expect(result?.["protocolVersion"]).toBe(revision);
    expect((await agent.ask("tools/list")).result?.["tools"]).toMatchObject([{ name: "a_hello" }, { name: "a_hang" }]);
    expect((await agent.ask("tools/call", { name: "a_hello" })).result).toEqual({
      content: [{ type: "text", text: "hello" }],
    });
    expect((await agent.ask("ping")).result).toEqual({});
  });

  it("is offered the newest revision in place of one that nobody knows, or that has no handshake", async () => {
    await party.serve();
    for (const offered of ["2023-01-01", "2026-07-28"]) {
      expect((await party.agent().initialize(offered)).result?.["protocolVersion"]).toBe("2025-11-25");
    }
  });

  it("may write its requests without waiting for the handshake, and gets nothing before its answer", async () => {
    await party.serve();
    const agent = party.agent();
    agent.send("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "n", version: "1" },
    });
    agent.notify("notifications/initialized");
    const last = agent.send("tools/list");
    expect((await agent.answerTo(last)).result).toBeDefined();
    expect(shapeOf(agent.heard)).toEqual([1, 2]);
  });

  it("hears of changes, progress and log messages", async () => {
    const { server } = await party.serve();
    party.directory.add("a_steps", async ({ onProgress, onNotification }) => {
      onProgress?.({ progress: 1, total: 2 });
      onNotification?.({ method: "notifications/message", params: { level: "error", data: "told" } });
      return answerOf(HELLO);
    });
    const agent = party.agent();
    await agent.initialize("2025-11-25");
    expect((await agent.ask("logging/setLevel", { level: "info" })).result).toEqual({});
    await agent.ask("tools/call", { name: "a_steps", _meta: { progressToken: "p" } });
    expect(agent.heard.map(({ method, params }) => method && [method, params?.["progressToken"]])).toEqual(
      expect.arrayContaining([
        ["notifications/progress", "p"],
        ["notifications/message", undefined],
      ]),
    );
    await expect.poll(() => server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
    server.notifyListChanged("tools");
    await expect.poll(() => agent.heard.at(-1)?.method, { interval: 5 }).toBe("notifications/tools/list_changed");
  });

  it("stops a call without an answer to it, and may use its id again", async () => {
    await party.serve();
    const agent = party.agent();
    await agent.initialize("2025-11-25");
    const id = agent.send("tools/call", { name: "a_hang" });
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(1);
    agent.notify("notifications/cancelled", { requestId: id, reason: "enough" });
    await expect.poll(() => party.directory.calls[0]?.call.signal.aborted, { interval: 5 }).toBe(true);
    await agent.ask("ping");
    expect(agent.heard.filter((one) => one.id === id)).toEqual([]);
  });

  it("sends batches where its revision has them, and is told where not", async () => {
    await party.serve();
    const batch = [
      { jsonrpc: "2.0", id: "x", method: "ping" },
      { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
      { jsonrpc: "2.0", id: "y", method: "tools/call", params: { name: "a_hello" } },
    ];
    const old = party.agent();
    await old.initialize("2025-03-26");
    old.write(batch);
    await expect.poll(() => old.heard.length, { interval: 5 }).toBe(2);
    expect(old.heard[1]).toMatchObject([{ id: "x" }, { id: "y" }]);
    const oldest = party.agent();
    await oldest.initialize("2024-11-05");
    oldest.write(batch);
    await expect.poll(() => oldest.heard.length, { interval: 5 }).toBe(2);
    expect(oldest.heard[1]).toMatchObject({ id: null, error: { code: -32600 } });
  });

  it("may cancel one request of a batch, and gets the answers to the others", async () => {
    await party.serve();
    const agent = party.agent();
    await agent.initialize("2025-03-26");
    agent.write(
      ["a_hang", "a_hello"].map((name) => ({ jsonrpc: "2.0", id: name, method: "tools/call", params: { name } })),
    );
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(2);
    agent.notify("notifications/cancelled", { requestId: "a_hang" });
    await expect.poll(() => agent.heard.length, { interval: 5 }).toBe(2);
    expect(agent.heard[1]).toMatchObject([
      { id: "a_hang", error: { data: { "sh.tutti/delivery": { reason: "agent_cancelled" } } } },
      { id: "a_hello", result: {} },
    ]);
  });

  it("ends its session with itself", async () => {
    const { server } = await party.serve();
    const agent = party.agent();
    await agent.initialize("2025-11-25");
    await expect.poll(() => server.listeners.bindings("tools").size, { interval: 5 }).toBe(1);
    agent.stdin.end();
    await agent.ended;
    expect(server.listeners.bindings("tools").size).toBe(0);
  });
});

describe("H-23: a modern agent over stdio", () => {
  it("sends requests that stand alone, and nothing of which is mirrored in headers", async () => {
    await party.serve();
    const inputSchema = { properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    party.directory.add(
      "a_region",
      async ({ argumentsText = "" }) => answerOf(`{"content":[],"structuredContent":${argumentsText}}`),
      {
        inputSchema,
      },
    );
    const agent = party.agent();
    expect((await agent.askModern("server/discover")).result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    // Numbers that no double holds, and the order of members, pass through.
    const args = '{"region":"Zürich","big":9007199254740993,"a":1}';
    const meta = JSON.stringify(MODERN_META);
    agent.write(
      `{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{"name":"a_region","arguments":${args},"_meta":${meta}}}`,
    );
    await agent.answerTo("r");
    expect(agent.texts.at(-1)).toContain(args);
  });

  it("is told what is missing in a request that names no version, before anything ran", async () => {
    await party.serve();
    const agent = party.agent();
    expect((await agent.ask("tools/call", { name: "a_hello" })).error?.code).toBe(-32602);
    expect(party.directory.calls).toEqual([]);
    expect((await agent.ask("ping")).result).toEqual({});
  });

  it("gets an error for an unknown method, tool and version, each with its id", async () => {
    await party.serve();
    const agent = party.agent();
    expect((await agent.askModern("tools/none")).error?.code).toBe(-32601);
    expect((await agent.askModern("tools/call", { name: "a_none" })).error?.code).toBe(-32602);
    const _meta = { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": "2030-01-01" };
    expect((await agent.ask("tools/list", { _meta })).error?.code).toBe(-32022);
  });

  it("listens over stdio until it cancels that", async () => {
    const { server } = await party.serve();
    const agent = party.agent();
    const first = agent.sendModern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const second = agent.sendModern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    await expect.poll(() => agent.heard.length, { interval: 5 }).toBe(2);
    expect(agent.heard[0]?.method).toBe("notifications/subscriptions/acknowledged");
    const left = new Promise<void>((resolve) => void server.listeners.onChange(resolve));
    agent.notify("notifications/cancelled", { requestId: first });
    await left;
    server.notifyListChanged("tools");
    await expect.poll(() => agent.heard.length, { interval: 5 }).toBe(3);
    expect(agent.heard[2]).toMatchObject({
      method: "notifications/tools/list_changed",
      params: { _meta: { "io.modelcontextprotocol/subscriptionId": second } },
    });
  });

  it("cancels one call and no other", async () => {
    await party.serve();
    const agent = party.agent();
    const ids = [
      agent.sendModern("tools/call", { name: "a_hang" }),
      agent.sendModern("tools/call", { name: "a_hang" }),
    ];
    await expect.poll(() => party.directory.calls.length, { interval: 5 }).toBe(2);
    agent.notify("notifications/cancelled", { requestId: ids[0] });
    agent.notify("notifications/cancelled", { requestId: "no such id" });
    const aborted = (): boolean[] => party.directory.calls.map(({ call }) => call.signal.aborted);
    await expect.poll(() => aborted().filter((is) => is).length, { interval: 5 }).toBe(1);
    await agent.askModern("tools/list");
    expect(agent.heard).toHaveLength(1);
  });
});

describe("H-23: lines", () => {
  it("are the same wherever they are cut", async () => {
    const agent = party.agent();
    const lineOf = (id: number): string => JSON.stringify({ jsonrpc: "2.0", id, method: "ping", params: { to: "ä" } });
    const bytesOf = (cut: number): Buffer => Buffer.from(`\uFEFF${lineOf(cut)}\r\n\n${lineOf(cut + 1_000)}\n`);
    const { length } = bytesOf(100);
    for (let cut = 100; cut < 100 + length; cut += 1) {
      agent.stdin.write(bytesOf(cut).subarray(0, cut - 100));
      await new Promise((resolve) => setImmediate(resolve));
      agent.stdin.write(bytesOf(cut).subarray(cut - 100));
      expect(await agent.answerTo(cut + 1_000)).toEqual({ jsonrpc: "2.0", id: cut + 1_000, result: {} });
    }
    expect(agent.heard).toHaveLength(2 * length);
  });

  it("that can't be read are answered, in the form of the era, and the rest goes on", async () => {
    await party.serve();
    const agent = party.agent({ maxLineBytes: 1_000 });
    agent.write("{not json");
    agent.write("7");
    agent.write({ jsonrpc: "2.0", id: 5, method: 6 });
    agent.write({ jsonrpc: "1.0", id: 6, method: "ping" });
    agent.write({ jsonrpc: "2.0", id: 7, method: "ping", params: { long: "x".repeat(1_000) } });
    agent.write({ jsonrpc: "2.0", id: 8, result: {} });
    expect((await agent.askModern("tools/list")).result).toBeDefined();
    const told = agent.heard.filter(({ error }) => error !== undefined);
    expect(told.map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32700],
      [undefined, -32600],
      [5, -32600],
      [6, -32600],
      [7, -32600],
    ]);
    expect(agent.texts[0]).not.toContain('"id"');
    await agent.initialize("2025-06-18");
    agent.write("{not json");
    await expect.poll(() => agent.heard.at(-1), { interval: 5 }).toMatchObject({ id: null, error: { code: -32700 } });
  });

  it("with an id that is in use are refused, and the request that has it goes on", async () => {
    await party.serve();
    const opening = gate();
    party.directory.add("a_wait", async () => {
      await opening.opened;
      return answerOf(HELLO);
    });
    const agent = party.agent();
    const id = agent.sendModern("tools/call", { name: "a_wait" });
    agent.write({ jsonrpc: "2.0", id, method: "tools/list", params: { _meta: MODERN_META } });
    await expect.poll(() => agent.heard.length, { interval: 5 }).toBe(1);
    expect(agent.heard[0]).toEqual({ jsonrpc: "2.0", error: { code: -32600, message: expect.any(String) as unknown } });
    opening.open();
    expect((await agent.answerTo(id)).result).toBeDefined();
  });

  it("of more requests than may run are refused by the name of the option", async () => {
    await party.serve();
    const agent = party.agent({ maxRequests: 2 });
    for (const name of ["a_hang", "a_hang"]) agent.sendModern("tools/call", { name });
    expect(await agent.verdictOn(agent.sendModern("tools/list"))).toEqual({
      delivery: "not_sent",
      code: "limit_exceeded",
      option: "maxRequests",
      limit: 2,
    });
  });

  it("of an answer that is too long are an error by the name of the option", async () => {
    await party.serve();
    party.directory.add("a_long", says(`{"resultType":"complete","content":[],"x":"${"y".repeat(5_000)}"}`));
    const agent = party.agent({ maxMessageBytes: 4_000 });
    const id = agent.sendModern("tools/call", { name: "a_long" });
    expect(await agent.verdictOn(id)).toMatchObject({
      delivery: "unknown",
      code: "limit_exceeded",
      option: "maxMessageBytes",
    });
    expect((await agent.askModern("tools/call", { name: "a_hello" })).result).toBeDefined();
  });

  it("never hold a line break, whatever the connector's server wrote", async () => {
    await party.serve();
    party.directory.add("a_pretty", says('{\n "resultType": "complete",\r\n "content": []\n}'));
    const agent = party.agent();
    expect((await agent.askModern("tools/call", { name: "a_pretty" })).result).toEqual({
      resultType: "complete",
      content: [],
    });
    expect(agent.texts).toHaveLength(1);
  });
});
