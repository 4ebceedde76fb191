import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWeatherServer, type WeatherServer } from "../../../examples/first-run/upstreams/weather-server.js";
import { RawJson } from "../../../src/protocol/index.js";
import { httpAnswer, idOf } from "../../support/raw-server.js";
import { bodies, connect, event, regionTool, rpcError, serve, stream } from "./support.js";

describe("against the official server", () => {
  let weather: WeatherServer;
  beforeAll(async () => void (weather = await startWeatherServer()));
  afterAll(() => weather.close());

  it("W-2, W-4, W-19, W-25: discovers, lists, and calls with a mirrored parameter that is not ASCII", async () => {
    const client = connect(weather.url);
    await expect(client.discover()).resolves.toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
    });
    const { tools, contracts } = await client.listAllTools();
    expect(tools.map(({ name }) => name)).toEqual(["current_weather", "forecast", "list_cities"]);
    expect(contracts.get("current_weather")?.parameters).toEqual([{ header: "Mcp-Param-City", path: ["city"] }]);
    const result = await client.callTool({ name: "current_weather", arguments: { city: "São Paulo" } });
    expect(result.structuredContent).toMatchObject({ city: "São Paulo" });
  });

  it("W-25: a client that never listed finds the contract first, or the server would refuse the call", async () => {
    const call = { name: "current_weather", arguments: { city: "Lima" } };
    await expect(connect(weather.url).callTool(call)).resolves.toMatchObject({ structuredContent: { city: "Lima" } });
  });

  it("W-14, W-18: progress arrives in order, before the result", async () => {
    const seen: unknown[] = [];
    const call = { name: "forecast", arguments: { city: "Osaka", days: 3 } };
    const result = await connect(weather.url).callTool(call, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([1, 2, 3].map((day) => ({ progress: day, total: 3, message: `Day ${String(day)}` })));
    expect(result.structuredContent).toMatchObject({ days: [{ day: 1 }, { day: 2 }, { day: 3 }] });
  });

  it("W-8, F-3: an unknown method is the server's own error", async () => {
    await expect(connect(weather.url).request("no/such")).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -32601, httpStatus: 404 },
    });
  });

  it("W-17: an abort ends the server's work", async () => {
    const controller = new AbortController();
    const call = { name: "forecast", arguments: { city: "Osaka", days: 7 } };
    const promise = connect(weather.url).callTool(call, {
      signal: controller.signal,
      onProgress: () => controller.abort("enough"),
    });
    await expect(promise).rejects.toBe("enough");
  });
});

describe("on the wire", () => {
  it("W-1 to W-5: every header and every member of _meta, ids from 1 and never twice", async () => {
    const server = await serve(() => ({ tools: [], content: [], supportedVersions: ["2026-07-28"] }));
    const client = connect(server.url, {
      meta: { "sh.tutti/connectorVersion": "1.0.0" },
      headers: { "Tutti-Connector-Version": "1.0.0" },
    });
    await client.discover();
    await client.listTools({ cursor: "" });
    await client.callTool(
      { name: "größe", arguments: { a: 1 } },
      { contract: { parameters: [] }, meta: { traceparent: "00-x" } },
    );
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
      "sh.tutti/connectorVersion": "1.0.0",
    };
    expect(bodies(server)).toEqual([
      { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } },
      { jsonrpc: "2.0", id: 2, method: "tools/list", params: { _meta: meta, cursor: "" } },
      {
        jsonrpc: "2.0",
        id: 3,
        method: "tools/call",
        params: { _meta: { ...meta, traceparent: "00-x" }, name: "größe", arguments: { a: 1 } },
      },
    ]);
    const [discover, , call] = server.requests;
    expect(discover?.head).toMatch(/^POST \/mcp HTTP\/1\.1/);
    for (const request of server.requests) {
      expect(request.header("content-type")).toBe("application/json");
      expect(request.header("accept")).toBe("application/json, text/event-stream");
      expect(request.header("mcp-protocol-version")).toBe("2026-07-28");
      expect(request.header("tutti-connector-version")).toBe("1.0.0");
      expect(request.header("mcp-session-id")).toBeUndefined();
    }
    expect(discover?.header("mcp-method")).toBe("server/discover");
    expect(discover?.header("mcp-name")).toBeUndefined();
    expect(call?.header("mcp-method")).toBe("tools/call");
    expect(call?.header("mcp-name")).toBe("=?base64?Z3LDtsOfZQ==?=");
  });

  it("W-3: a session id in an answer is ignored, and close sends nothing", async () => {
    const server = await serve((_, request) =>
      httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"tools":[]}}`, {
        headers: "Mcp-Session-Id: abc\r\n",
      }),
    );
    const client = connect(server.url);
    await client.listTools();
    await client.listTools();
    await client.close();
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.header("mcp-session-id")).toBeUndefined();
  });

  it("W-45, H-26: detail gives the exact bytes, from JSON and from a stream", async () => {
    const raw = '{"content":[ ],"z":18446744073709551616,"a":1.0}';
    for (const streamed of [false, true]) {
      const server = await serve((_, request) => {
        const body = `{"jsonrpc":"2.0","id":${String(idOf(request))},"result":${raw}}`;
        return streamed ? stream(`data: ${body}`) : httpAnswer(body);
      });
      const detailed = await connect(server.url).callTool(
        { name: "t" },
        { contract: { parameters: [] }, detail: true },
      );
      expect(new TextDecoder().decode(detailed.raw)).toBe(raw);
      expect(detailed.delivery).toBe("answered");
    }
  });

  it("H-34: raw arguments reach the server with all their digits, and are mirrored by value", async () => {
    const server = await serve(() => ({ content: [] }));
    const contract = { parameters: [{ header: "Mcp-Param-Region", path: ["region"] }] };
    const args = new RawJson('{"id":12345678901234567890,"region":"eu"}');
    await connect(server.url).callTool({ name: "t", arguments: args }, { contract });
    expect(server.requests[0]?.body).toContain('"arguments":{"id":12345678901234567890,"region":"eu"}');
    expect(server.requests[0]?.header("mcp-param-region")).toBe("eu");
  });
});

describe("a stream", () => {
  const call = { name: "t" };
  const contract = { parameters: [] };

  it("W-13, W-16: junk, requests of the server and foreign answers are diagnostics, the result counts", async () => {
    const server = await serve((_, request) =>
      stream(
        ": hello",
        "data: {oops",
        "data: []",
        event({ id: idOf(request), method: "sampling/createMessage" }),
        event({ id: 999, result: {} }),
        event({ method: "notifications/message", params: { level: "info" } }),
        event({ id: String(idOf(request)), result: { content: [], fine: true } }),
        event({ id: idOf(request), result: { late: true } }),
      ),
    );
    const told: unknown[] = [];
    const notified: unknown[] = [];
    const client = connect(server.url, { onDiagnostic: ({ kind }) => told.push(kind) });
    const { result, diagnostics } = await client.callTool(call, {
      contract,
      detail: true,
      onNotification: (n) => notified.push(n),
    });
    expect(result).toEqual({ content: [], fine: true });
    expect(told).toEqual(["not_a_message", "server_request", "unmatched_response", "id_echoed_as_string"]);
    expect(diagnostics.map(({ kind }) => kind)).toEqual(told);
    expect(notified).toEqual([{ method: "notifications/message", params: { level: "info" } }]);
  });

  it("W-13: a broken message with our id fails the call at once", async () => {
    const server = await serve((_, request) => stream(event({ id: idOf(request) })));
    await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
      code: "invalid_answer",
      delivery: "unknown",
    });
  });

  it("W-9: an error without an id on the stream settles the call", async () => {
    const server = await serve(() => stream(event({ error: { code: -1, message: "no" } })));
    await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
      code: "peer_error",
      details: { rpcCode: -1, httpStatus: 200 },
    });
  });

  it("W-14: the call resolves at its response; a stream that stays open is given up, and the connection of one that ends is used again", async () => {
    let keepOpen = true;
    const server = await serve((_, request) => {
      const text = `${event({ id: idOf(request), result: { content: [] } })}\n\n`;
      if (!keepOpen) return httpAnswer(text, { type: "text/event-stream" });
      request.socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`,
      );
      return Buffer.alloc(0);
    });
    const client = connect(server.url);
    await client.callTool(call, { contract });
    await expect.poll(() => server.requests[0]?.socket.destroyed, { timeout: 3_000 }).toBe(true);
    keepOpen = false;
    for (let i = 0; i < 10; i += 1) await client.callTool(call, { contract });
    // Two at most: undici opens a connection anew after it had to destroy one.
    expect(new Set(server.requests.slice(1).map(({ socket }) => socket)).size).toBeLessThanOrEqual(2);
  });

  it("W-14: a handler that throws or rejects is a diagnostic, and the call goes on", async () => {
    const server = await serve((_, request) =>
      stream(
        event({ method: "notifications/progress", params: { progressToken: idOf(request), progress: 2 } }),
        event({ method: "notifications/progress", params: { progressToken: idOf(request), progress: 1 } }),
        event({ method: "notifications/progress", params: { progressToken: "foreign", progress: 3 } }),
        event({ id: idOf(request), result: {} }),
      ),
    );
    const seen: number[] = [];
    const { diagnostics } = await connect(server.url).callTool(call, {
      contract,
      detail: true,
      onProgress: ({ progress }) => {
        seen.push(progress);
        if (progress === 2) throw new Error("mine");
        return undefined;
      },
    });
    expect(seen).toEqual([2, 1]);
    expect(diagnostics.map(({ kind }) => kind)).toEqual(["handler_failed", "progress_not_increasing"]);
  });

  it("W-15: a stream that ends without the response fails at once, and says what came before", async () => {
    const server = await serve(() => stream(": one", event({ method: "notifications/message" })));
    await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
      code: "stream_ended",
      delivery: "unknown",
      details: { evidence: { handedOver: true, headersSeen: true, messages: 1, attempts: 1 } },
    });
  });
});

describe("lists and contracts", () => {
  it("W-30: pages with a nullable cursor, one at a time and all at once", async () => {
    const pages: Record<string, object> = {
      first: { tools: [{ name: "a", inputSchema: {} }], nextCursor: "" },
      "": { tools: [{ name: "b", inputSchema: {} }], nextCursor: null },
    };
    const server = await serve((_, request) => {
      const { params }: { params: { cursor?: string } } = JSON.parse(request.body);
      return pages[params.cursor ?? "first"];
    });
    const client = connect(server.url);
    const first = await client.listTools();
    expect(first).toMatchObject({ nextCursor: "", tools: [{ name: "a" }] });
    await expect(client.listTools({ cursor: first.nextCursor })).resolves.toMatchObject({ nextCursor: null });
    const all = await client.listAllTools();
    expect(all.tools.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it.each([
    ["maxPages", { maxPages: 3 }],
    ["maxItems", { maxItems: 5 }],
    ["maxListBytes", { maxListBytes: 300 }],
  ])("W-30: %s ends a walk with an error, never with a cut list", async (option, limits) => {
    let n = 0;
    const server = await serve(() => ({
      tools: Array.from({ length: 2 }, () => ({ name: `t${String((n += 1))}`, inputSchema: {} })),
      nextCursor: "more",
    }));
    await expect(connect(server.url, limits).listAllTools()).rejects.toMatchObject({
      code: "limit_exceeded",
      delivery: "answered",
      details: { option },
    });
  });

  it("W-30: a server that gives the same page forever is no_progress", async () => {
    const server = await serve(() => ({ tools: [{ name: "a", inputSchema: {} }], nextCursor: "again" }));
    await expect(connect(server.url).listAllTools()).rejects.toMatchObject({
      code: "no_progress",
      delivery: "answered",
    });
    expect(server.requests).toHaveLength(2);
  });

  it("W-22: a tool with an invalid annotation is left out and can't be called, the others stay", async () => {
    const server = await serve((method) =>
      method === "tools/list"
        ? { tools: [regionTool("bad name"), { name: "fine", inputSchema: {} }] }
        : { content: [] },
    );
    const told: unknown[] = [];
    const client = connect(server.url, { onDiagnostic: (diagnostic) => told.push(diagnostic) });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["fine"]);
    expect(told).toMatchObject([{ kind: "tool_excluded", subject: "run", path: "/properties/region" }]);
    await expect(client.callTool({ name: "run" })).rejects.toMatchObject({
      code: "invalid_tool",
      delivery: "not_sent",
    });
    await expect(client.callTool({ name: "fine" })).resolves.toEqual({ content: [] });
    expect(server.requests).toHaveLength(2);
  });

  it("W-20: an argument that can't be mirrored is refused before anything is sent", async () => {
    const server = await serve(() => ({ tools: [regionTool("Region")] }));
    const client = connect(server.url);
    await client.listTools();
    await expect(client.callTool({ name: "run", arguments: { region: [1] } })).rejects.toMatchObject({
      code: "invalid_argument",
      delivery: "not_sent",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("W-24: refused headers are corrected once from a list that begins afterwards", async () => {
    let header = "Old";
    const server = await serve((method, request) => {
      if (method === "tools/list") return { tools: [regionTool(header)] };
      return request.header("mcp-param-new") === "eu" ? { content: [] } : rpcError(request, -32020);
    });
    const client = connect(server.url);
    await client.listTools();
    header = "New";
    await expect(client.callTool({ name: "run", arguments: { region: "eu" } })).resolves.toEqual({ content: [] });
    const calls = bodies(server).filter(({ method }) => method === "tools/call");
    expect(calls).toHaveLength(2);
    expect(calls[0]?.id).not.toBe(calls[1]?.id);
  });

  it("W-24: headers that a fresh list does not change, and a second refusal, are the error", async () => {
    const server = await serve((method, request) =>
      method === "tools/list" ? { tools: [regionTool("Region")] } : rpcError(request, -32020),
    );
    const client = connect(server.url);
    await client.listTools();
    await expect(client.callTool({ name: "run", arguments: { region: "eu" } })).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -32020 },
    });
    expect(bodies(server).map(({ method }) => method)).toEqual(["tools/list", "tools/call", "tools/list"]);
  });

  it("W-25: calls of an unknown tool share one walk; an unlisted one needs no other; a list that fails sends nothing", async () => {
    let fails = false;
    const server = await serve((method, request) => {
      if (method !== "tools/list") return { content: [] };
      return fails ? rpcError(request, -32603, 500) : { tools: [regionTool("Region")] };
    });
    const client = connect(server.url);
    const call = { name: "run", arguments: { region: "eu" } };
    await Promise.all(Array.from({ length: 5 }, () => client.callTool(call)));
    expect(bodies(server).filter(({ method }) => method === "tools/list")).toHaveLength(1);
    await client.callTool({ name: "unlisted" });
    expect(bodies(server).filter(({ method }) => method === "tools/list")).toHaveLength(1);
    fails = true;
    await expect(connect(server.url).callTool({ name: "unknown" })).rejects.toMatchObject({
      code: "peer_error",
      delivery: "not_sent",
    });
    expect(bodies(server).filter(({ params }) => params["name"] === "unknown")).toHaveLength(0);
  });

  it("W-27: a server of other revisions only is unsupported_version with both lists", async () => {
    const server = await serve(() => ({ supportedVersions: ["2025-11-25"], capabilities: {} }));
    await expect(connect(server.url).discover()).rejects.toMatchObject({
      code: "unsupported_version",
      delivery: "answered",
      details: { supported: ["2025-11-25"], ours: ["2026-07-28"] },
    });
  });
});
