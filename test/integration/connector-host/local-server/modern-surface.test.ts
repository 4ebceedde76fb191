import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { encodeHeaderValue, MetaKey } from "../../../../src/protocol/index.js";
import { answerOf, HELLO, says } from "./fixed-directory.js";
import {
  ACCEPT_BOTH,
  callModern,
  messagesOf,
  modernBody,
  modernHeaders,
  modernMeta,
  post,
  type RawAnswer,
} from "./raw-agent.js";
import { gate, start } from "./start.js";

const KEY = "sh.tutti/delivery";

function errorOf(answer: RawAnswer): { code: number; message: string; data?: Record<string, unknown> } {
  const { error }: { error: ReturnType<typeof errorOf> } = JSON.parse(answer.text);
  return error;
}

const REGION = {
  inputSchema: {
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      shard: { type: "integer", "x-mcp-header": "Shard" },
    },
  },
};

describe("H-21: server/discover", () => {
  it("says what is here", async () => {
    const { agent } = await start();
    const answer = await post(
      agent,
      modernBody("server/discover", "{}", { id: "d" }),
      modernHeaders("server/discover"),
    );
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      jsonrpc: "2.0",
      id: "d",
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true }, logging: {} },
        instructions: "Fixed tools for tests.",
        ttlMs: 0,
        cacheScope: "private",
        _meta: { [MetaKey.serverInfo]: { name: "connector", version: "1" } },
      },
    });
  });
});

describe("H-24: tools/list", () => {
  it("is one fresh, private page with definitions as they were written", async () => {
    const definition = '{"name":"a_x","inputSchema":{"type":"object"},"big":12345678901234567890,"t":1.0}';
    const { agent } = await start((tools) => tools.add("a_x", says(HELLO), { definition }));
    const answer = await post(agent, modernBody("tools/list"), modernHeaders("tools/list"));
    expect(answer.text).toContain(`"tools":[${definition}]`);
    const { result }: { result: object } = JSON.parse(answer.text);
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
    expect(result).not.toHaveProperty("nextCursor");
  });

  it("names what is left out, and is an answer all the same", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    directory.omitted = [{ connectorKey: "slow", reason: "no answer within 5 s" }];
    const answer = await post(agent, modernBody("tools/list"), modernHeaders("tools/list"));
    expect(JSON.parse(answer.text)).toMatchObject({
      result: {
        tools: [{ name: "a_x" }],
        _meta: { "sh.tutti/omitted": [{ connectorKey: "slow", reason: "no answer within 5 s" }] },
      },
    });
  });

  it("fails when the directory can list nothing", async () => {
    const { agent, directory } = await start();
    directory.listError = new RemoteConnectorError("timeout", {
      message: "Nothing answered.",
      delivery: "unknown",
      details: { phase: "total", option: "listTimeoutMs", limitMs: 5 },
    });
    const answer = await post(agent, modernBody("tools/list"), modernHeaders("tools/list"));
    expect([answer.status, errorOf(answer).code]).toEqual([200, -32603]);
  });

  it("has no second page", async () => {
    const { agent } = await start();
    const answer = await post(agent, modernBody("tools/list", '{"cursor":""}'), modernHeaders("tools/list"));
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32602]);
  });
});

describe("H-26: tools/call", () => {
  it("hands back the upstream's own bytes", async () => {
    const raw = '{ "resultType":"complete", "content" : [ ],"n":[12345678901234567890,-0.10,1e400],"z":{"b":1,"a":2} }';
    const { agent } = await start((tools) => tools.add("a_x", says(raw)));
    const answer = await callModern(agent, "a_x", "{}", { id: "é" });
    expect(answer.text).toBe(`{"jsonrpc":"2.0","id":"é","result":${raw}}`);
    expect(answer.headers.get("content-type")).toBe("application/json");
  });

  it("gives a legacy upstream's result a type", async () => {
    const { agent } = await start((tools) =>
      tools.add("a_x", says('{"content":[],"n":12345678901234567890}', "legacy")),
    );
    const answer = await callModern(agent, "a_x");
    expect(answer.text).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"n":12345678901234567890}}',
    );
  });

  it("passes the arguments on as they were written", async () => {
    const args = '{ "n" : 12345678901234567890, "s":"\\u00e9é", "s2" : "}" }';
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    await callModern(agent, "a_x", args);
    expect(directory.calls[0]?.call.argumentsText).toBe(args);
  });

  it("passes on the arguments that JSON.parse sees, when they are written twice", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO), REGION));
    const body = modernBody("tools/call", '{"name":"a_x","arguments":{"region":"eu"},"arguments":{"region":"us"}}');
    const headers = { ...modernHeaders("tools/call", "a_x"), "Mcp-Param-Region": "us" };
    expect((await post(agent, body, headers)).status).toBe(200);
    expect(directory.calls[0]?.call.argumentsText).toBe('{"region":"us"}');
  });

  it("tells no arguments from empty ones", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    await post(agent, modernBody("tools/call", '{"name":"a_x"}'), modernHeaders("tools/call", "a_x"));
    await callModern(agent, "a_x");
    expect(directory.calls.map(({ call }) => call.argumentsText)).toEqual([undefined, "{}"]);
  });

  it("H-6: passes on of the agent's _meta only what may travel", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    const meta = { traceparent: "00-a-b-01", "com.example/x": [1], "sh.tutti/connectorVersion": "9", progressToken: 4 };
    await callModern(agent, "a_x", "{}", { meta });
    expect(directory.calls[0]?.call.meta).toEqual({ traceparent: "00-a-b-01", "com.example/x": [1] });
  });

  it.each<[string, Record<string, string | undefined>]>([
    ["MCP-Protocol-Version is missing", { "MCP-Protocol-Version": undefined }],
    ["MCP-Protocol-Version differs", { "MCP-Protocol-Version": "2025-06-18" }],
    ["Mcp-Method is missing", { "Mcp-Method": undefined }],
    ["Mcp-Method differs", { "Mcp-Method": "tools/list" }],
    ["Mcp-Name is missing", { "Mcp-Name": undefined }],
    ["Mcp-Name differs", { "Mcp-Name": "a_y" }],
    ["Mcp-Name differs in case", { "Mcp-Name": "A_X" }],
    ["Mcp-Name is broken", { "Mcp-Name": "=?base64?%%?=" }],
    ["Mcp-Param-Region is missing", { "Mcp-Param-Region": undefined }],
    ["Mcp-Param-Region differs", { "Mcp-Param-Region": "eu" }],
    ["Mcp-Param-Shard differs", { "Mcp-Param-Shard": "8" }],
  ])("W-23: is refused before anything is sent when %s", async (_name, headers) => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO), REGION).add("a_y", says(HELLO)));
    const right = { "Mcp-Param-Region": "us", "Mcp-Param-Shard": "7" };
    const args = '{"region":"us","shard":7}';
    expect((await callModern(agent, "a_x", args, { headers: right })).status).toBe(200);
    const answer = await callModern(agent, "a_x", args, { headers: { ...right, ...headers } });
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32020]);
    expect(directory.calls.length).toBe(1);
  });

  it("W-19: compares headers as what they stand for", async () => {
    const { agent } = await start((tools) => tools.add("ü x", says(HELLO), REGION));
    const headers = {
      "Mcp-Param-Region": encodeHeaderValue("日本"),
      "Mcp-Param-Shard": "42.0",
      "Mcp-Param-Other": "x",
    };
    expect((await callModern(agent, "ü x", '{"region":"日本","shard":42}', { headers })).status).toBe(200);
    expect((await callModern(agent, "ü x", '{"region":null}')).status).toBe(200);
    const unexpected = await callModern(agent, "ü x", "{}", { headers: { "Mcp-Param-Region": "x" } });
    expect(errorOf(unexpected).code).toBe(-32020);
  });

  it.each<[string, string, number]>([
    ["name", '{"name":5}', 400],
    ["arguments", '{"name":"a_x","arguments":[]}', 400],
    ["a state that is no text", '{"name":"a_x","requestState":7}', 400],
    ["a state that is null", '{"name":"a_x","requestState":null}', 400],
    ["answers that are no object", '{"name":"a_x","inputResponses":[]}', 400],
    ["answers that are null", '{"name":"a_x","requestState":"s","inputResponses":null}', 400],
  ])("is refused for params that can't be used: %s", async (_name, params, status) => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    const answer = await post(agent, modernBody("tools/call", params), modernHeaders("tools/call", "a_x"));
    expect([answer.status, errorOf(answer).code]).toEqual([status, -32602]);
    expect(directory.calls).toEqual([]);
  });

  it("H-34: is refused for arguments beyond their limit, and names the option", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)), { maxArgumentsBytes: 10 });
    expect((await callModern(agent, "a_x", '{"a":"xxx"}')).text).toContain("maxArgumentsBytes");
    expect((await callModern(agent, "a_x", '{"a":"xx"}')).status).toBe(200);
    expect(directory.calls.length).toBe(1);
  });

  it("does not know every name", async () => {
    const { agent } = await start();
    const answer = await callModern(agent, "__proto__");
    expect(answer.status).toBe(200);
    expect(errorOf(answer)).toMatchObject({
      code: -32602,
      data: { [KEY]: { code: "unknown_tool", delivery: "not_sent", tool: "__proto__" } },
    });
  });

  it("keeps a peer's error, and adds the verdict", async () => {
    const { agent, faults } = await start((tools) =>
      tools.add("a_x", async () => {
        throw new RemoteConnectorError("peer_error", {
          message: "m",
          delivery: "answered",
          details: {
            rpcCode: -33005,
            rpcMessage: "slow down",
            rpcData: { quota: 3 },
            httpStatus: 429,
            retryAfter: "7",
          },
        });
      }),
    );
    const answer = await callModern(agent, "a_x");
    expect(answer.status).toBe(200);
    expect(errorOf(answer)).toEqual({
      code: -33005,
      message: "slow down",
      data: { quota: 3, [KEY]: { code: "peer_error", delivery: "answered", httpStatus: 429, retryAfterMs: 7000 } },
    });
    expect(faults).toEqual([]);
  });

  it("F-1: is not_sent when the tool could not even be looked up", async () => {
    const { agent, directory } = await start();
    directory.resolveError = new RemoteConnectorError("timeout", {
      message: "m",
      delivery: "unknown",
      details: { phase: "idle", option: "idleTimeoutMs", limitMs: 1 },
    });
    expect(errorOf(await callModern(agent, "a_x")).data).toMatchObject({
      [KEY]: { delivery: "not_sent", code: "timeout" },
    });
  });

  it("F-6: shows nothing of a defect, and reports it", async () => {
    const defect = new TypeError("the secret");
    const { agent, faults } = await start((tools) =>
      tools
        .add("a_x", async () => {
          throw defect;
        })
        .add("a_y", () => {
          throw defect;
        }),
    );
    for (const name of ["a_x", "a_y"]) {
      const answer = await callModern(agent, name);
      expect(answer.text).not.toContain("secret");
      expect(errorOf(answer)).toMatchObject({ code: -32603, data: { [KEY]: { delivery: "unknown" } } });
    }
    expect(faults).toEqual([defect, defect]);
  });

  it("W-10: does not hand on a result of a type that nobody knows", async () => {
    const raw = '{"resultType":"task","requestState":"x"}';
    const { agent } = await start((tools) => tools.add("a_x", says(raw)));
    expect(errorOf(await callModern(agent, "a_x"))).toMatchObject({
      code: -32603,
      data: { [KEY]: { code: "unsupported", delivery: "answered" } },
    });
  });
});

describe("H-21: what the revision asks of every request", () => {
  it.each(["ping", "initialize", "logging/setLevel", "resources/list", "constructor"])(
    "%s is not there",
    async (method) => {
      const { agent } = await start();
      const answer = await post(agent, modernBody(method), modernHeaders(method));
      expect([answer.status, errorOf(answer).code]).toEqual([404, -32601]);
      expect(JSON.parse(answer.text)).toMatchObject({ id: 1 });
    },
  );

  it("says which versions it speaks", async () => {
    const { agent } = await start();
    const body = modernBody("server/discover", "{}", { meta: { [MetaKey.protocolVersion]: "1900-01-01" } });
    const answer = await post(agent, body, {
      ...modernHeaders("server/discover"),
      "MCP-Protocol-Version": "1900-01-01",
    });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "1900-01-01" },
    });
  });

  it.each<[string, string]>([
    ["no _meta", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'],
    [
      "no capabilities",
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${JSON.stringify({ [MetaKey.protocolVersion]: "2026-07-28" })}}}`,
    ],
  ])("refuses a request with %s", async (_name, body) => {
    const { agent } = await start();
    const answer = await post(agent, body, modernHeaders("tools/list"));
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32602]);
  });

  it("takes metadata without headers for a modern request that lacks its headers", async () => {
    const { agent } = await start();
    const answer = await post(agent, modernBody("tools/list"), {
      "Content-Type": "application/json",
      Accept: ACCEPT_BOTH,
    });
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32020]);
  });

  it("takes notifications, and no responses or batches", async () => {
    const { agent } = await start();
    const ask = (body: string) => post(agent, body, modernHeaders("x"));
    const note = await ask(
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { _meta: modernMeta() } }),
    );
    expect([note.status, note.text]).toEqual([202, ""]);
    expect((await ask('{"jsonrpc":"2.0","id":1,"result":{}}')).status).toBe(400);
    expect((await ask(`[${modernBody("tools/list")}]`)).status).toBe(400);
  });

  it("ignores a session and makes none", async () => {
    const { agent } = await start();
    const headers = { ...modernHeaders("server/discover"), "Mcp-Session-Id": "abc", "Last-Event-ID": "7" };
    const answer = await post(agent, modernBody("server/discover"), headers);
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null]);
  });
});

describe("H-26: progress", () => {
  it("flows to the agent that asked for it, in order, before the result", async () => {
    const { agent } = await start((tools) =>
      tools.add("a_x", async ({ onProgress }) => {
        onProgress?.({ progress: 0.5, total: 2, message: "half\nway" });
        await Promise.resolve();
        onProgress?.({ progress: 2 });
        return answerOf('{"resultType":"complete","n":12345678901234567890}');
      }),
    );
    const answer = await callModern(agent, "a_x", "{}", { meta: { progressToken: 0 } });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    expect(messagesOf(answer.text).slice(0, 2)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: 0, progress: 0.5, total: 2, message: "half\nway" },
      },
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 0, progress: 2 } },
    ]);
    expect(answer.text).toContain(
      'data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","n":12345678901234567890}}\n\n',
    );
  });

  it("is not sent to one that did not", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", says(HELLO)));
    await callModern(agent, "a_x");
    expect(directory.calls[0]?.call.onProgress).toBeUndefined();
    expect(directory.calls[0]?.call.onNotification).toBeUndefined();
  });

  it("needs no stream when there is none", async () => {
    const { agent } = await start((tools) => tools.add("a_x", says(HELLO)));
    const answer = await callModern(agent, "a_x", "{}", { meta: { progressToken: "t" } });
    expect(answer.headers.get("content-type")).toBe("application/json");
  });

  it("W-18: ends with the answer", async () => {
    let late: (() => void) | undefined;
    const { agent } = await start((tools) =>
      tools.add("a_x", async ({ onProgress }) => {
        onProgress?.({ progress: 1 });
        late = () => onProgress?.({ progress: 2 });
        return answerOf(HELLO);
      }),
    );
    const answer = await callModern(agent, "a_x", "{}", { meta: { progressToken: 1 } });
    late?.();
    expect(messagesOf(answer.text).length).toBe(2);
  });

  it("carries an error as well as a result", async () => {
    const { agent } = await start((tools) =>
      tools.add("a_x", async ({ onProgress }) => {
        onProgress?.({ progress: 1 });
        throw new RemoteConnectorError("stream_ended", { message: "m", delivery: "unknown", details: { reason: "r" } });
      }),
    );
    const answer = await callModern(agent, "a_x", "{}", { meta: { progressToken: 1 } });
    expect(messagesOf(answer.text)[1]).toMatchObject({
      error: { data: { [KEY]: { code: "stream_ended", delivery: "unknown" } } },
    });
  });

  it("passes on log messages to one that named a level, and nothing else", async () => {
    const { agent } = await start((tools) =>
      tools.add("a_x", async ({ onNotification, logLevel }) => {
        onNotification?.({ method: "notifications/message", params: { level: logLevel, data: "d" } });
        onNotification?.({ method: "notifications/tools/list_changed", params: {} });
        return answerOf(HELLO);
      }),
    );
    const answer = await callModern(agent, "a_x", "{}", { meta: { [MetaKey.logLevel]: "warning" } });
    expect(messagesOf(answer.text)).toEqual([
      { jsonrpc: "2.0", method: "notifications/message", params: { level: "warning", data: "d" } },
      expect.objectContaining({ id: 1 }),
    ]);
  });
});

describe("H-26: many calls at once", () => {
  it("run side by side, each with its own answer", async () => {
    const all = gate();
    let running = 0;
    const { server } = await start((tools) =>
      tools.add("a_x", async ({ argumentsText = "" }) => {
        running += 1;
        if (running === 40) all.open();
        await all.opened;
        return answerOf(`{"resultType":"complete","echo":${argumentsText}}`);
      }),
    );
    const agents = Array.from({ length: 8 }, (_, index) =>
      server.bind({ workspaceId: "w", agentSessionId: String(index) }),
    );
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => callModern(agents[n % 8]!, "a_x", `{"n":${String(n)}}`, { id: n })),
    );
    answers.forEach((answer, n) => {
      expect(JSON.parse(answer.text)).toEqual({
        jsonrpc: "2.0",
        id: n,
        result: { resultType: "complete", echo: { n } },
      });
    });
  });
});
