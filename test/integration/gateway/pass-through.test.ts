import { afterEach, describe, expect, it } from "vitest";
import {
  Cleanup,
  httpConnector,
  json,
  post,
  raw,
  type Received,
  startGateway,
  startUpstream,
  stdioConnector,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const AWKWARD =
  '{ "zebra":1, "big":12345678901234567890, "float":1.10e+2, "é\\u00e9":"\\ud83d\\ude00", "resultType":"complete",\n "content":[{"type":"hologram","x":{"b":1,"a":2}}], "_meta":{"com.example/k":0.10} }';

/** A legacy server on stdio, of a few lines: it answers with what it is told to, and says what it was asked. */
const SCRIPT = `
  const { createInterface } = require("node:readline");
  const results = { "tools/list": process.argv[1], "tools/call": process.argv[2] };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const hello = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
    const result = method === "initialize" ? JSON.stringify(hello) : results[method].replace("LINE", () => JSON.stringify(line));
    process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + '}\\n');
  });
`;
const script = (list: string, call: string): string[] => ["-e", SCRIPT, list, call];

async function resultText(answer: Response): Promise<string> {
  const text = await answer.text();
  const prefix = '{"jsonrpc":"2.0","id":1,"result":';
  expect(text.startsWith(prefix)).toBe(true);
  return text.slice(prefix.length, -1);
}

describe("what a modern upstream answers", () => {
  it("W-11: a result of a tool passes byte for byte", async () => {
    const upstream = await startUpstream(cleanup, ({ id, method, response }) => {
      if (method === "tools/call") json(response, id, AWKWARD);
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const answer = await post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" } });
    expect(await resultText(answer)).toBe(AWKWARD);
  });

  it("W-11: a page passes byte for byte, tools that can't be used and its own hints included", async () => {
    const page =
      '{"nextCursor":"","tools":[{"inputSchema":{"type":"object"},"name":"a","n":12345678901234567890},null,{"name":"bad"}],"ttlMs":7,"resultType":"complete","cacheScope":"public"}';
    const upstream = await startUpstream(cleanup, ({ id, response }) => json(response, id, page));
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    expect(await resultText(await post(gateway, { connectorId: "c", method: "tools/list" }))).toBe(page);
  });

  it.each([
    ["absent", {}, undefined],
    ["null", { cursor: null }, undefined],
    ["empty", { cursor: "" }, ""],
    ["a text", { cursor: "next" }, "next"],
  ])("W-30: a cursor that is %s reaches the upstream as it is meant", async (_what, params, cursor) => {
    const upstream = await startUpstream(cleanup, () => undefined);
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    expect((await post(gateway, { connectorId: "c", method: "tools/list", params })).status).toBe(200);
    expect(upstream.received[0]?.params["cursor"]).toBe(cursor);
  });

  it("W-30: a cursor that is no string is refused", async () => {
    const upstream = await startUpstream(cleanup, () => undefined);
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const answer = await post(gateway, { connectorId: "c", method: "tools/list", params: { cursor: 1 } });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32602 } }]);
  });

  it("W-45: arguments reach the upstream with all their digits, and `_meta` without what was the caller's hop", async () => {
    const upstream = await startUpstream(cleanup, ({ id, method, response }) => {
      if (method === "tools/call") json(response, id, '{"resultType":"complete","content":[]}');
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const meta = JSON.stringify({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      "io.modelcontextprotocol/clientInfo": { name: "caller", version: "9" },
      "sh.tutti/connectorVersion": "1.0.0",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
    });
    const args = '{"z":12345678901234567890 , "a":[1.0,-0]}';
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args},"_meta":${meta}}}`;
    expect(
      (await post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" }, body })).status,
    ).toBe(200);
    const call = upstream.received.find(({ method }) => method === "tools/call");
    expect(call?.text).toContain(args);
    expect(call?.params["_meta"]).toEqual({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "remote-connector-gateway", version: "1" },
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
    });
    expect(call?.headers.cookie).toBeUndefined();
    expect(call?.headers["tutti-connector-version"]).toBeUndefined();
  });

  it.each([
    [-32602, 200],
    [-32601, 404],
    [4711, 200],
  ])("C-5: its own error %i passes with message and data", async (code, status) => {
    const error = { code, message: "no", data: { why: ["x"] } };
    const upstream = await startUpstream(cleanup, ({ id, method, response }) => {
      if (method === "tools/call")
        raw(response, 200, "application/json", JSON.stringify({ jsonrpc: "2.0", id, error }));
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const answer = await post(gateway, {
      connectorId: "c",
      method: "tools/call",
      params: { name: "echo" },
      id: "mine",
    });
    expect([answer.status, await answer.json()]).toEqual([status, { jsonrpc: "2.0", id: "mine", error }]);
  });
});

describe("what a legacy upstream answers", () => {
  it("W-11: gets what the modern era asks for, and keeps every other byte", async () => {
    const args = script('{"tools":[],"big":12345678901234567890}', '{"content":[],"z":1,"big":12345678901234567890}');
    const gateway = await startGateway(cleanup, [stdioConnector("c", args)]);
    const list = await post(gateway, { connectorId: "c", method: "tools/list" });
    expect(await resultText(list)).toBe(
      '{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[],"big":12345678901234567890}',
    );
    const call = await post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" } });
    expect(await resultText(call)).toBe('{"resultType":"complete","content":[],"z":1,"big":12345678901234567890}');
  });

  it("W-10: a `resultType` of a legacy server means nothing to a modern caller", async () => {
    const args = script('{"tools":[]}', '{"content":[],"resultType":"input_required","z":1}');
    const gateway = await startGateway(cleanup, [stdioConnector("c", args)]);
    const call = await post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" } });
    expect(await resultText(call)).toBe('{"resultType":"complete","content":[],"z":1}');
  });

  it("W-45: arguments reach it with all their digits", async () => {
    const args = script('{"tools":[]}', '{"content":[],"line":LINE}');
    const gateway = await startGateway(cleanup, [stdioConnector("c", args)]);
    const digits = '{"n":12345678901234567890,"e":1e400}';
    const meta =
      '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"sh.tutti/connectorVersion":"1.0.0"}';
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${digits},"_meta":${meta}}}`;
    const answer = await post(gateway, { connectorId: "c", method: "tools/call", params: { name: "echo" }, body });
    const { line } = JSON.parse(await resultText(answer));
    expect(line).toContain(`"arguments":${digits}`);
  });
});

describe("parameter headers", () => {
  const tools = (header: string): string =>
    JSON.stringify({
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      tools: [
        {
          name: "echo",
          inputSchema: {
            type: "object",
            properties: {
              city: { type: "string", "x-mcp-header": header },
              days: { type: "integer", "x-mcp-header": "Days" },
            },
          },
        },
      ],
    });

  it("H-21: are checked against the contract as it was last listed, before the upstream is called", async () => {
    let header = "City";
    const upstream = await startUpstream(cleanup, ({ id, method, response }) =>
      json(response, id, method === "tools/list" ? tools(header) : '{"resultType":"complete","content":[]}'),
    );
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const call = async (headers: Record<string, string>, args: object): Promise<unknown> => {
      const params = { name: "echo", arguments: args };
      const answer = await post(gateway, { connectorId: "c", method: "tools/call", params, headers });
      const body: unknown = await answer.json();
      return [answer.status, Reflect.get(Object(Reflect.get(Object(body), "error")), "code")];
    };
    const calls = (): Received[] => upstream.received.filter(({ method }) => method === "tools/call");

    // Nothing was listed yet: the gateway looks for itself.
    expect(await call({}, { city: "Lima" })).toEqual([400, -32020]);
    expect(await call({ "Mcp-Param-City": "lima" }, { city: "Lima" })).toEqual([400, -32020]);
    expect(await call({ "Mcp-Param-City": "Lima" }, {})).toEqual([400, -32020]);
    expect(await call({ "Mcp-Param-City": "Lima", "Mcp-Param-Days": "x" }, { city: "Lima", days: 2 })).toEqual([
      400, -32020,
    ]);
    expect(calls()).toHaveLength(0);
    expect(
      await call({ "Mcp-Param-City": "=?base64?TGltYQ==?=", "Mcp-Param-Days": "2.0" }, { city: "Lima", days: 2 }),
    ).toEqual([200, undefined]);
    expect(calls()[0]?.headers).toMatchObject({ "mcp-param-city": "Lima", "mcp-param-days": "2" });

    header = "Town";
    await (await post(gateway, { connectorId: "c", method: "tools/list" })).text();
    expect(await call({ "Mcp-Param-City": "Lima" }, { city: "Lima" })).toEqual([400, -32020]);
    expect(await call({ "Mcp-Param-Town": "Lima" }, { city: "Lima" })).toEqual([200, undefined]);
  });
});
