import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../support/fake-clock.js";
import { answerOf, hangs, HELLO, NeverLists, says } from "./fixed-directory.js";
import { messagesOf, postLegacy } from "./raw-agent.js";
import { start } from "./start.js";

function call(name: string, id: number | string = 1, meta?: object): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {}, ...(meta && { _meta: meta }) } };
}

describe("H-22: initialize", () => {
  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    ["nonsense", "2025-11-25"],
  ])("answers an offer of %s with %s", async (protocolVersion, agreed) => {
    const { agent } = await start();
    const Accept = "application/json";
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const answer = await postLegacy(agent, { jsonrpc: "2.0", id: 0, method: "initialize", params }, { Accept });
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null]);
    expect(JSON.parse(answer.text)).toEqual({
      jsonrpc: "2.0",
      id: 0,
      result: {
        protocolVersion: agreed,
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: "connector", version: "1" },
        instructions: "Fixed tools for tests.",
      },
    });
  });

  it("L-1: takes the version header that some clients send with it", async () => {
    const { agent } = await start();
    const message = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
    for (const version of ["2025-11-25", "2026-07-28", "2024-11-05"]) {
      const answer = await postLegacy(agent, message, { "MCP-Protocol-Version": version });
      expect(JSON.parse(answer.text)).toMatchObject({ result: { protocolVersion: "2025-06-18" } });
    }
  });

  it("needs an offer", async () => {
    const { agent } = await start();
    const answer = await postLegacy(agent, { jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32602 } });
  });
});

describe("H-22: requests without a session", () => {
  it("answers ping, at every revision and without a version header", async () => {
    const { agent } = await start();
    for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", undefined]) {
      const answer = await postLegacy(
        agent,
        { jsonrpc: "2.0", id: "p", method: "ping" },
        { "MCP-Protocol-Version": version },
      );
      expect([answer.status, answer.text]).toEqual([200, '{"jsonrpc":"2.0","id":"p","result":{}}']);
    }
  });

  it.each(["notifications/initialized", "notifications/cancelled", "notifications/roots/list_changed"])(
    "L-9: takes %s with 202",
    async (method) => {
      const { agent } = await start();
      const answer = await postLegacy(agent, { jsonrpc: "2.0", method });
      expect([answer.status, answer.text]).toEqual([202, ""]);
    },
  );

  it("lists tools without what only the modern revision has", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    directory.omitted = [{ connectorKey: "b", reason: "offline" }];
    const answer = await postLegacy(agent, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(JSON.parse(answer.text)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        tools: [{ name: "a_x", description: "The tool a_x", inputSchema: { type: "object" } }],
        _meta: { "sh.tutti/omitted": [{ connectorKey: "b", reason: "offline" }] },
      },
    });
  });

  it("H-26: hands back a modern result without what only the modern revision has, byte for byte", async () => {
    const raw = '{"resultType":"complete","content" : [],"n":12345678901234567890,"ttlMs":1,"cacheScope":"private"}';
    const { agent } = await start((tools) => tools.add("a_x", says(raw)));
    const answer = await postLegacy(agent, call("a_x", "id"));
    expect(answer.text).toBe('{"jsonrpc":"2.0","id":"id","result":{"content" : [],"n":12345678901234567890}}');
  });

  it("H-26: hands back a legacy result untouched", async () => {
    const raw = '{ "content":[], "ttlMs":1,"n":12345678901234567890 }';
    const { agent } = await start((tools) => tools.add("a_x", says(raw, "legacy")));
    expect((await postLegacy(agent, call("a_x"))).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${raw}}`);
  });

  it("looks at no headers but the version", async () => {
    const inputSchema = { properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO), { inputSchema }));
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "a_x", arguments: { region: "eu" } },
    };
    expect((await postLegacy(agent, message, { "Mcp-Param-Region": "us" })).status).toBe(200);
    expect(directory.calls[0]?.call.argumentsText).toBe('{"region":"eu"}');
  });

  it.each<[string, object, number]>([
    ["an unknown method", { method: "resources/list" }, -32601],
    ["an unknown tool", { method: "tools/call", params: { name: "nope" } }, -32602],
    ["no name", { method: "tools/call", params: {} }, -32602],
    ["params that are no object", { method: "tools/list", params: [1] }, -32602],
    ["a cursor", { method: "tools/list", params: { cursor: "x" } }, -32602],
  ])("answers %s with an error under status 200", async (_name, message, code) => {
    const { agent } = await start();
    const answer = await postLegacy(agent, { jsonrpc: "2.0", id: 3, ...message });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { jsonrpc: "2.0", id: 3, error: expect.objectContaining({ code }) as unknown },
    ]);
  });

  it.each([
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } },
    { id: 1, method: "ping" },
    7,
    null,
  ])("refuses what is no request: %j", async (message) => {
    const { agent } = await start();
    const answer = await postLegacy(agent, message);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  it("relays progress to a client that takes a stream, and only to it", async () => {
    const { agent } = await start((tools) =>
      tools.add("a_x", async ({ onProgress, meta }) => {
        onProgress?.({ progress: 1, total: 2 });
        return answerOf(JSON.stringify({ resultType: "complete", asked: onProgress !== undefined, meta }));
      }),
    );
    const message = call("a_x", 1, { progressToken: "p", "com.example/x": 1 });
    expect(messagesOf((await postLegacy(agent, message)).text)).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "p", progress: 1, total: 2 } },
      { jsonrpc: "2.0", id: 1, result: { asked: true, meta: { "com.example/x": 1 } } },
    ]);
    const plain = await postLegacy(agent, message, { Accept: "application/json" });
    expect(JSON.parse(plain.text)).toMatchObject({ result: { asked: false } });
  });
});

describe("H-26: notifications/cancelled", () => {
  const cancel = (requestId: unknown) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });

  it("ends the call that it names, and no other", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", hangs()));
    const first = postLegacy(agent, call("a_x", 0));
    const second = postLegacy(agent, call("a_x", "0"));
    await expect.poll(() => directory.calls.length).toBe(2);
    expect((await postLegacy(agent, cancel(7))).status).toBe(202);
    expect((await postLegacy(agent, cancel({}))).status).toBe(202);
    await postLegacy(agent, cancel(0));
    expect(JSON.parse((await first).text)).toMatchObject({
      id: 0,
      error: {
        code: -32603,
        data: { "sh.tutti/delivery": { code: "cancelled", delivery: "unknown", reason: "agent_cancelled" } },
      },
    });
    expect(directory.calls.map(({ call: { signal } }) => signal.aborted).filter(Boolean).length).toBe(1);
    await postLegacy(agent, cancel("0"));
    await second;
  });

  it("can't reach the call of another bearer, nor tell two calls with one id apart", async () => {
    const { server, agent, directory } = await start((tools) => tools.add("a_x", hangs()));
    const other = server.bind({ workspaceId: "w", agentSessionId: "other" });
    const running = [postLegacy(agent, call("a_x", 5))];
    await expect.poll(() => directory.calls.length).toBe(1);
    await postLegacy(other, cancel(5));
    expect(directory.calls[0]?.call.signal.aborted).toBe(false);
    running.push(postLegacy(agent, call("a_x", 5)));
    await expect.poll(() => directory.calls.length).toBe(2);
    await postLegacy(agent, cancel(5));
    expect(directory.calls.map(({ call: { signal } }) => signal.aborted)).toEqual([false, false]);
    agent.revoke();
    await Promise.all(running);
  });
});

it("H-22: a request whose id would come back as another is refused before anything ran", async () => {
  const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
  const text = (id: string): string => JSON.stringify(call("a_x")).replace('"id":1', `"id":${id}`);
  const refused: { id?: unknown } = JSON.parse((await postLegacy(agent, text("9007199254740993"))).text);
  expect(refused).toMatchObject({ error: { code: -32600 } });
  expect([refused.id, directory.calls.length]).toEqual([undefined, 0]);
  expect((await postLegacy(agent, text("-9007199254740991"))).text).toContain('"id":-9007199254740991,"result"');
});

describe("L-1: batches", () => {
  it("are answered as one at the revision that has them", async () => {
    const raw = '{"content":[],"n":12345678901234567890}';
    const { agent, directory } = await start((tools) => tools.add("a_x", says(raw, "legacy")));
    const batch =
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}, {"jsonrpc":"2.0","method":"notifications/initialized"},' +
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_x","arguments":{"n":12345678901234567890}}},' +
      '{"jsonrpc":"2.0","id":3,"method":"nope"}]';
    const answer = await postLegacy(agent, batch);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":${raw}},`);
    expect(JSON.parse(answer.text)).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3, error: { code: -32601 } }]);
    expect(directory.calls[0]?.call.argumentsText).toBe('{"n":12345678901234567890}');
  });

  it("F-7, H-26: have a deadline for each of their requests, which can be cancelled by itself", async () => {
    const clock = new FakeClock();
    const directory = new NeverLists().add("a_x", hangs());
    const { agent } = await start(undefined, { directory, clock, listTimeoutMs: 2_000, callTimeoutMs: 9_000 });
    const running = postLegacy(agent, [
      call("a_x", "late"),
      call("a_x", 0),
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
    ]);
    await expect.poll(() => directory.calls.length).toBe(2);
    await postLegacy(agent, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0 } });
    await clock.advance(3_000);
    expect(directory.calls.map(({ call: { signal } }) => signal.aborted)).toEqual([false, true]);
    await clock.advance(7_000);
    expect(JSON.parse((await running).text)).toMatchObject(
      [
        { code: "timeout", option: "callTimeoutMs" },
        { code: "cancelled", reason: "agent_cancelled" },
        { code: "timeout", option: "listTimeoutMs" },
      ].map((verdict) => ({ error: { data: { "sh.tutti/delivery": verdict } } })),
    );
  });

  it("that ask nothing, and hold what can't be taken, are refused", async () => {
    const { agent } = await start();
    const answer = await postLegacy(agent, [{ jsonrpc: "2.0", id: 1, result: {} }]);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, [{ error: { code: -32600 } }]]);
  });

  it("of notifications alone are taken", async () => {
    const { agent } = await start();
    const answer = await postLegacy(agent, [{ jsonrpc: "2.0", method: "notifications/initialized" }]);
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });

  it.each<[string, unknown, string | undefined]>([
    ["at a later revision", [{ jsonrpc: "2.0", id: 1, method: "ping" }], "2025-06-18"],
    ["when empty", [], undefined],
    [
      "with initialize",
      [{ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-03-26" } }],
      undefined,
    ],
    ["with what is no message", [1], undefined],
    ["when too long", Array.from({ length: 65 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })), undefined],
  ])("are refused %s", async (_name, batch, version) => {
    const { agent } = await start();
    const answer = await postLegacy(agent, batch, { "MCP-Protocol-Version": version });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { error: { code: -32600 } }]);
  });
});
