import { brotliCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { FakeClock } from "../../support/fake-clock.js";
import { httpAnswer, idOf } from "../../support/raw-server.js";
import { bodies, connect, serve } from "./support.js";

const outputSchema = { type: "object" };
const weather = { name: "weather", inputSchema: { type: "object" }, outputSchema };

describe("an answer that goes on after the end of its coding", () => {
  it("F-10: fails, keeps no socket and no turn, and the next calls work", async () => {
    let n = 0;
    const server = await serve((_, request) => {
      if ((n += 1) > 4) return {};
      const text = JSON.stringify({ jsonrpc: "2.0", id: idOf(request), result: {} });
      const bytes = Buffer.concat([brotliCompressSync(text), Buffer.from("X")]);
      const head =
        "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked";
      return Buffer.concat([
        Buffer.from(`${head}\r\n\r\n${bytes.length.toString(16)}\r\n`),
        bytes,
        Buffer.from("\r\n"),
      ]);
    });
    const client = connect(server.url, { maxConcurrentRequests: 2, maxReadRetries: 0 });
    for (let i = 0; i < 4; i += 1) {
      await expect(client.request("a/b")).rejects.toMatchObject({ delivery: "unknown" });
    }
    await expect(client.request("a/b")).resolves.toEqual({});
    await expect.poll(() => server.openSockets).toBeLessThanOrEqual(2);
  });
});

describe("input in raw params", () => {
  it("F-11: a request that carries it is not made again, and says it once", async () => {
    const server = await serve(() => httpAnswer("", { status: 503, headers: "Retry-After: 0\r\n" }));
    const client = connect(server.url);
    const params = { name: "p", inputResponses: { k: {} }, requestState: "s" };
    await expect(client.request("prompts/get", params)).rejects.toMatchObject({ details: { status: 503 } });
    expect(bodies(server)).toMatchObject([{ params }]);
    await expect(client.request("prompts/get", params, { requestState: "t" })).rejects.toMatchObject({
      code: "invalid_argument",
      delivery: "not_sent",
    });
  });

  it("W-2: params whose encoding is their own affair are refused", async () => {
    const server = await serve(() => ({}));
    const params = { uri: "a:b", toJSON: () => ({ uri: "a:other" }) };
    await expect(connect(server.url).request("resources/read", params)).rejects.toMatchObject({
      code: "invalid_argument",
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe("closing and waiting", () => {
  it("F-8: a client that a listener closes answers no questions, and its call ends", async () => {
    const server = await serve((_, request) => {
      const asks = { resultType: "input_required", inputRequests: { k: { method: "roots/list" } } };
      return httpAnswer(JSON.stringify({ jsonrpc: "2.0", id: String(idOf(request)), result: asks }));
    });
    let asked = 0;
    const client = connect(server.url, {
      handlers: { roots: () => [{ uri: `file:///${String((asked += 1))}` }] },
      onDiagnostic: () => void client.close(),
    });
    await expect(client.getPrompt({ name: "p" })).rejects.toMatchObject({ code: "cancelled", delivery: "answered" });
    expect(asked).toBe(0);
  });

  it("W-25: a walk that its caller gave up holds no other call up", async () => {
    let lists = 0;
    const server = await serve((method) => {
      if (method !== "tools/list") return { content: [] };
      return (lists += 1) === 1 ? Buffer.alloc(0) : { tools: [weather] };
    });
    const client = connect(server.url);
    const controller = new AbortController();
    const first = client.callTool({ name: "weather" }, { signal: controller.signal });
    await expect.poll(() => lists).toBe(1);
    controller.abort(0);
    await expect(first).rejects.toBe(0);
    await expect(client.callTool({ name: "weather" })).resolves.toEqual({ content: [] });
  });
});

describe("deadlines of walks", () => {
  it("F-7: the whole walk has one, and the error says it as it was given", async () => {
    const clock = new FakeClock();
    const server = await serve((_, request) =>
      request.body.includes("cursor") ? Buffer.alloc(0) : { prompts: [{ name: "p" }], nextCursor: "c" },
    );
    const client = connect(server.url, { clock });
    const listing = client.listAllPrompts({ totalTimeoutMs: 400 }).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(2);
    clock.step(400);
    await expect(listing).resolves.toMatchObject({ code: "timeout", details: { phase: "total", limitMs: 400 } });
  });
});

describe("judging output", () => {
  const openWeather = async (validate: () => Promise<never>) => {
    const server = await serve((method) =>
      method === "tools/list" ? { tools: [weather] } : { structuredContent: {} },
    );
    const clock = new FakeClock();
    const schemaValidator = { validate, load: () => Promise.resolve() };
    const client = connect(server.url, { schemaValidator, clock });
    await client.listAllTools();
    return { client, clock };
  };

  it("F-2, F-7: an abort, a deadline and a close end the waiting for a verdict; the tool was run", async () => {
    let judged = 0;
    const { client, clock } = await openWeather(() => {
      judged += 1;
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const call = { name: "weather" };
    const aborted = client.callTool(call, { outputCheck: "enforce", signal: controller.signal });
    const late = client.callTool(call, { outputCheck: "enforce", totalTimeoutMs: 1_000 }).catch((e: unknown) => e);
    const reported = client.callTool(call, { detail: true, totalTimeoutMs: 1_000 });
    const closed = client.callTool(call, { outputCheck: "enforce" }).catch((e: unknown) => e);
    await expect.poll(() => judged).toBe(4);
    controller.abort(0);
    await expect(aborted).rejects.toBe(0);
    expect(deliveryOf(aborted)).toBe("answered");
    clock.step(1_000);
    await expect(late).resolves.toMatchObject({ code: "invalid_output", delivery: "answered" });
    await expect(reported).resolves.toMatchObject({
      result: { structuredContent: {} },
      verdicts: { output: undefined },
    });
    await client.close();
    await expect(closed).resolves.toMatchObject({ code: "invalid_output", details: { verdict: "not_judged" } });
  });

  it("W-39: a validator that fails loses no result, unless its verdict was insisted on", async () => {
    const cause = new TypeError("broken");
    const { client } = await openWeather(() => Promise.reject(cause));
    const call = { name: "weather" };
    await expect(client.callTool(call, { detail: true })).resolves.toMatchObject({ result: { structuredContent: {} } });
    await expect(client.callTool(call, { outputCheck: "enforce" })).rejects.toMatchObject({
      code: "invalid_output",
      delivery: "answered",
      cause,
    });
  });
});

describe("options and ports that can't be used", () => {
  it.each([
    [{ elicit: () => ({}) }],
    [{ elicitation: { from: () => ({}) } }],
    [{ elicitation: { form: 5 } }],
    [{ sampling: {} }],
    [{ roots: [] }],
    [null],
  ])("W-34: handlers %o that nobody could call are refused when the client is made", (handlers) => {
    // @ts-expect-error -- what a caller in JavaScript can do
    const make = () => connect("http://127.0.0.1:1/mcp", { handlers });
    expect(make).toThrowError(expect.objectContaining({ code: "invalid_options" }));
  });

  it.each([
    ["signal", { signal: {} }],
    ["signal", { signal: null }],
    ["logLevel", { logLevel: () => 1 }],
    ["meta", { meta: [1] }],
    ["capabilities", { capabilities: { sampling: true } }],
    ["capabilities", { capabilities: null }],
    ["onProgress", { onProgress: 5 }],
    ["outputCheck", { outputCheck: "maybe" }],
  ])("F-1: %s of a call: %o is refused before anything is sent", async (option, options) => {
    const server = await serve(() => ({}));
    // @ts-expect-error -- what a caller in JavaScript can do
    const calling = connect(server.url).callTool({ name: "t" }, options);
    await expect(calling).rejects.toMatchObject({ code: "invalid_options", delivery: "not_sent", details: { option } });
    expect(server.requests).toHaveLength(0);
  });

  it("F-1: an authorizer that gives no headers sends nothing", async () => {
    const server = await serve(() => ({}));
    // @ts-expect-error -- what a caller in JavaScript can do
    const client = connect(server.url, { authorize: () => "Bearer SECRET" });
    await expect(client.request("a/b")).rejects.toMatchObject({ code: "authorize_failed", delivery: "not_sent" });
    expect(server.requests).toHaveLength(0);
  });

  it("F-17: a header whose value is not there is refused by name", () => {
    // @ts-expect-error -- what a caller in JavaScript can do
    const make = () => connect("http://127.0.0.1:1/mcp", { headers: { "X-A": undefined } });
    expect(make).toThrowError(expect.objectContaining({ code: "invalid_options" }));
  });
});
