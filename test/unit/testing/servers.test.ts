import { describe, expect, it } from "vitest";
import type { Answer } from "../../../src/testing/answer.js";
import { answerStatus } from "../../../src/testing/answer.js";
import { likeLegacyServer, likeSseServer } from "../../../src/testing/legacy-server.js";
import { likeModernServer } from "../../../src/testing/modern-server.js";
import { planAnswer } from "../../../src/testing/plan-answer.js";
import type { ReceivedRequest } from "../../../src/testing/received-request.js";
import type { Handler } from "../../../src/testing/script.js";
import { resolveScriptedServerOptions } from "../../../src/testing/server-options.js";
import { received, rpc } from "./requests.js";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function modern(method: string, params: object = {}, headers: Record<string, string> = {}): ReceivedRequest {
  const all = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
    ...headers,
  };
  const message = { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: META } };
  return received(message, { headers: Object.entries(all) });
}

async function ask(handler: Handler, request: ReceivedRequest): Promise<{ answer: Answer; message: unknown }> {
  const answer = await handler(request);
  if (answer === undefined) throw new Error("no answer");
  const bytes = planAnswer(answer, request).steps.map((step) => (step.kind === "write" ? Buffer.from(step.bytes) : ""));
  const text = bytes.join("").split("\r\n\r\n").slice(1).join("");
  return { answer, message: text.startsWith("{") ? JSON.parse(text) : text };
}

const echo = { name: "echo" };
const twice = { name: "twice", description: "d", run: (args: object) => ({ content: [args, args] }) };
const broken = { name: "broken", run: () => answerStatus(503) };
const tools = [echo, twice, broken];

describe("like a modern server", () => {
  const handler = likeModernServer({ tools, methods: { "x/y": (params) => ({ had: params["z"] }) } });

  it.each<[string, ReceivedRequest, number, object]>([
    ["discovers", modern("server/discover"), 200, { result: { resultType: "complete", capabilities: { tools: {} } } }],
    [
      "lists",
      modern("tools/list"),
      200,
      { result: { tools: [{ name: "echo", inputSchema: { type: "object" } }, { description: "d" }, {}], ttlMs: 0 } },
    ],
    [
      "echoes",
      modern("tools/call", { name: "echo", arguments: { a: 1 } }, { "Mcp-Name": "echo" }),
      200,
      { id: 7, result: { resultType: "complete", content: [{ type: "text", text: '{"a":1}' }] } },
    ],
    [
      "runs a tool",
      modern("tools/call", { name: "twice", arguments: { a: 1 } }, { "Mcp-Name": "twice" }),
      200,
      { result: { content: [{ a: 1 }, { a: 1 }] } },
    ],
    ["answers methods of its own", modern("x/y", { z: 3 }), 200, { result: { had: 3 } }],
    ["knows no other method", modern("a/b"), 404, { error: { code: -32601 } }],
    [
      "knows no other tool",
      modern("tools/call", { name: "no" }, { "Mcp-Name": "no" }),
      400,
      { error: { code: -32602 } },
    ],
    ["compares headers", modern("tools/list", {}, { "Mcp-Method": "x" }), 400, { error: { code: -32020 }, id: 7 }],
    ["wants both kinds of answer", modern("tools/list", {}, { Accept: "application/json" }), 406, {}],
  ])("%s", async (_, request, status, message) => {
    const { answer, message: given } = await ask(handler, request);
    expect(answer.status).toBe(status);
    expect(given).toMatchObject(message);
  });

  it("lets a tool give a whole answer, and has no streams of its own", async () => {
    const call = modern("tools/call", { name: "broken" }, { "Mcp-Name": "broken" });
    await expect(handler(call)).resolves.toEqual(answerStatus(503));
    expect((await ask(handler, received({}, { verb: "GET" }))).answer.status).toBe(405);
    const notification = received({ jsonrpc: "2.0", method: "x" }, { headers: modern("x").headers });
    expect((await ask(handler, notification)).answer.status).toBe(202);
  });
});

describe("like a legacy server", () => {
  const handler = likeLegacyServer({ revision: "2025-06-18", sessionId: "s-1", tools });
  const inSession = (request: ReceivedRequest, sessionId = "s-1"): ReceivedRequest =>
    received(Object(request.message), { headers: [["mcp-session-id", sessionId]] });

  it("gives a session, and wants it", async () => {
    const { answer, message } = await ask(handler, rpc("initialize"));
    expect(answer.headers).toEqual({ "Mcp-Session-Id": "s-1" });
    expect(message).toMatchObject({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } } });
    expect((await ask(handler, rpc("tools/list"))).answer.status).toBe(400);
    expect((await ask(handler, inSession(rpc("tools/list"), "s-2"))).answer.status).toBe(404);
    expect((await ask(handler, inSession(rpc("tools/list")))).message).toMatchObject({
      result: { tools: { length: 3 } },
    });
    expect((await ask(handler, inSession(received({ jsonrpc: "2.0", method: "n" })))).answer.status).toBe(202);
    const unknown = await ask(handler, inSession(rpc("a/b")));
    expect([unknown.answer.status, unknown.message]).toMatchObject([200, { error: { code: -32601 } }]);
    const ended = received({}, { verb: "DELETE", headers: [["Mcp-Session-Id", "s-1"]] });
    expect((await ask(handler, ended)).answer.status).toBe(200);
  });

  it("does without one", async () => {
    const plain = likeLegacyServer();
    expect((await ask(plain, rpc("initialize"))).answer.headers).toEqual({});
    expect((await ask(plain, rpc("ping"))).message).toMatchObject({ result: {} });
    expect((await ask(plain, received({}, { verb: "GET" }))).answer.status).toBe(405);
    expect((await ask(plain, received({}, { verb: "DELETE" }))).answer.status).toBe(405);
  });
});

describe("like a server before Streamable HTTP", () => {
  it("says where to post, and answers on the stream", async () => {
    const handler = likeSseServer({ tools });
    const { answer } = await ask(handler, received({}, { verb: "GET", target: "/sse" }));
    if (answer.body.kind !== "feed") throw new Error("no stream");
    const events: unknown[] = [];
    answer.body.feed.listen({ onEvent: (event) => events.push(event), onEnd: () => undefined });
    expect(events).toMatchObject([{ event: "endpoint", data: "/messages?stream=0" }]);
    const post = (message: object, target = "/messages?stream=0") => ask(handler, received(message, { target }));
    expect((await post({ jsonrpc: "2.0", id: 5, method: "ping" })).answer.status).toBe(202);
    expect(events.at(-1)).toMatchObject({ message: { value: { jsonrpc: "2.0", id: 5, result: {} } } });
    expect((await post({ jsonrpc: "2.0", method: "n" })).answer.status).toBe(202);
    expect((await post({ jsonrpc: "2.0", id: 5, method: "ping" }, "/messages?stream=9")).answer.status).toBe(404);
    expect(events).toHaveLength(2);
  });
});

describe("options of the server", () => {
  it.each<[object, object]>([
    [{ hots: "x" }, { option: "hots", suggestion: "host" }],
    [{ port: 70_000 }, { option: "port" }],
    [{ path: "mcp" }, { option: "path" }],
    [{ closeIdleAfterMs: 0 }, { option: "closeIdleAfterMs" }],
    [{ maxRequests: -1 }, { option: "maxRequests" }],
  ])("refuse %j", (options, details) => {
    expect(() => resolveScriptedServerOptions(options)).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining(details) }),
    );
  });
});
