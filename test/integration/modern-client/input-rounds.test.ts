import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import type { InputHandlers } from "../../../src/modern-client/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { bodies, connect, rpcError, serve } from "./support.js";

const form = (properties: object = { name: { type: "string" } }, required: string[] = []) => ({
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties, required } },
});
const asks = (inputRequests: object | undefined, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  requestState,
});
const done = { content: [{ type: "text", text: "done" }] };
const roots = { method: "roots/list" };
const call = { name: "t", arguments: { a: 1 } };
const meta = { "example.com/key": 1 };

/** Serves these results in turn, and lists no tools. */
async function serveRounds(...results: object[]) {
  let round = 0;
  return serve((method) => (method === "tools/list" ? { tools: [] } : (results[round++] ?? done)));
}

async function openRounds(handlers: InputHandlers, ...results: object[]) {
  const server = await serveRounds(...results);
  const client = connect(server.url, { handlers });
  await client.listAllTools();
  const rounds = () => bodies(server).slice(1);
  return { server, client, rounds };
}

describe("with handlers", () => {
  it("W-33, W-34: original params and _meta, this round's answers and state only, a new id, the capabilities each time", async () => {
    const handlers: InputHandlers = {
      elicitation: { form: () => ({ action: "accept", content: { name: "Ada" } }) },
      roots: () => [{ uri: "file:///home" }],
    };
    const { client, rounds } = await openRounds(
      handlers,
      asks({ who: form(), where: roots }, "s1"),
      asks({ again: form() }),
    );
    await expect(client.callTool(call, { meta })).resolves.toEqual(done);
    const sent = rounds();
    expect(sent.map(({ id }) => id)).toEqual([2, 3, 4]);
    const given = sent.map(({ params: { _meta, ...params } }) => params);
    expect(given).toEqual([
      call,
      {
        ...call,
        inputResponses: {
          who: { action: "accept", content: { name: "Ada" } },
          where: { roots: [{ uri: "file:///home" }] },
        },
        requestState: "s1",
      },
      { ...call, inputResponses: { again: { action: "accept", content: { name: "Ada" } } } },
    ]);
    for (const { params } of sent) {
      expect(params["_meta"]).toMatchObject({
        ...meta,
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, roots: {} },
      });
    }
  });

  it.each([["decline"], ["cancel"]] as const)("W-33: %s is an answer and is sent, without content", async (action) => {
    const { client, rounds } = await openRounds({ elicitation: { form: () => ({ action }) } }, asks({ k: form() }));
    await expect(client.callTool(call)).resolves.toEqual(done);
    expect(rounds()[1]?.params["inputResponses"]).toEqual({ k: { action } });
  });

  it("W-35: handlers get the server's identity, the mode and the whole URL; the answer to a URL has no content", async () => {
    const seen: unknown[] = [];
    const url = "https://user.example/start?a=b#c";
    const handlers: InputHandlers = {
      elicitation: {
        url: (request, { server }) => {
          seen.push(request, server);
          return { action: "accept", content: "secret" };
        },
      },
    };
    const asking = {
      ...asks({ k: { method: "elicitation/create", params: { mode: "url", message: "Sign in", url } } }),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "2" } },
    };
    const { client, rounds, server } = await openRounds(handlers, asking);
    await client.callTool(call);
    expect(seen).toEqual([
      { mode: "url", message: "Sign in", url },
      { origin: new URL(server.url).origin, info: { name: "s", version: "2" } },
    ]);
    expect(rounds()[1]?.params["inputResponses"]).toEqual({ k: { action: "accept" } });
  });

  it("W-35: defaults are filled in before the check", async () => {
    const handlers: InputHandlers = { elicitation: { form: () => ({ action: "accept" }) } };
    const asked = form({ name: { type: "string", default: "Bo" }, old: { type: "boolean", default: false } }, ["name"]);
    const { client, rounds } = await openRounds(handlers, asks({ k: asked }));
    await client.callTool(call);
    expect(rounds()[1]?.params["inputResponses"]).toEqual({
      k: { action: "accept", content: { name: "Bo", old: false } },
    });
  });

  it("W-35: sampling gets the params as they came, and roots and prompts work alike", async () => {
    const params = { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 7 };
    const result = { role: "assistant", model: "m", content: { type: "text", text: "!" } };
    let seen: unknown;
    const createMessage = (given: unknown) => {
      seen = given;
      return result;
    };
    const server = await serveRounds(asks({ k: { method: "sampling/createMessage", params } }), { messages: [] });
    const client = connect(server.url, { handlers: { sampling: { createMessage } } });
    await expect(client.getPrompt({ name: "p" })).resolves.toEqual({ messages: [] });
    expect(seen).toEqual(params);
    expect(bodies(server)[1]?.params["inputResponses"]).toEqual({ k: result });
  });

  it("W-33: -32020 and a lost connection are not repaired once the request carries input", async () => {
    let round = 0;
    const server = await serve((method, request) => {
      if (method === "tools/list") return { tools: [] };
      return (round += 1) === 1 ? asks({ k: roots }) : rpcError(request, -32020);
    });
    const client = connect(server.url, { handlers: { roots: () => [] } });
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "peer_error", details: { rpcCode: -32020 } });
    expect(bodies(server).map(({ method }) => method)).toEqual(["tools/list", "tools/call", "tools/call"]);
  });
});

describe("what is not answered", () => {
  it.each([
    ["elicitation.form", form()],
    ["elicitation.url", { method: "elicitation/create", params: { mode: "url", message: "m", url: "https://a.test" } }],
    ["elicitation.voice", { method: "elicitation/create", params: { mode: "voice", message: "m" } }],
    ["roots", roots],
    ["sampling", { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }],
    ["printing/print", { method: "printing/print" }],
  ])("W-33, W-34: %s without a handler is input_required, and nobody is asked", async (capability, request) => {
    const { client, rounds } = await openRounds({}, asks({ k: request }, "s"));
    await expect(client.callTool(call)).rejects.toMatchObject({
      code: "input_required",
      delivery: "answered",
      details: { capability, key: "k", evidence: { headersSeen: true } },
    });
    expect(rounds()).toHaveLength(1);
  });

  it.each([
    ["sampling.tools", { tools: [] }],
    ["sampling.context", { includeContext: "allServers" }],
  ])("W-35: %s that was not declared is input_required", async (capability, more) => {
    const params = { messages: [], maxTokens: 1, ...more };
    let asked = 0;
    const createMessage = () => ({ asked: (asked += 1) });
    const { client } = await openRounds(
      { sampling: { createMessage } },
      asks({ k: { method: "sampling/createMessage", params } }),
    );
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "input_required", details: { capability } });
    expect(asked).toBe(0);
  });

  it("W-33: the time of a person is theirs, that of judging their answer ours", async () => {
    const server = await serveRounds(asks({ k: form() }));
    const person = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { action: "accept", content: { name: "Ada" } } as const;
    };
    const schemaValidator = { load: () => Promise.resolve(), validate: () => new Promise<never>(() => undefined) };
    const client = connect(server.url, { handlers: { elicitation: { form: person } }, schemaValidator });
    const began = performance.now();
    await expect(client.callTool(call, { totalTimeoutMs: 300 })).rejects.toMatchObject({
      code: "timeout",
      delivery: "answered",
      details: { phase: "total", limitMs: 300 },
    });
    expect(performance.now() - began).toBeGreaterThan(500);
  });

  it("W-33: the first failure ends the call, and fires the signal of the other handlers", async () => {
    const cause = new Error("no display");
    let other: AbortSignal | undefined;
    const handlers: InputHandlers = {
      elicitation: { form: () => Promise.reject(cause) },
      roots: (context) => {
        other = context.signal;
        return new Promise(() => {});
      },
    };
    const { client, rounds } = await openRounds(handlers, asks({ where: roots, who: form() }, "s"));
    await expect(client.callTool(call)).rejects.toMatchObject({
      code: "handler_failed",
      delivery: "answered",
      details: { kind: "form", key: "who" },
      cause,
    });
    expect(other?.aborted).toBe(true);
    expect(rounds()).toHaveLength(1);
  });

  it.each<[string, InputHandlers, object]>([
    [
      "values that break the form",
      { elicitation: { form: () => ({ action: "accept", content: { name: 1 } }) } },
      form(),
    ],
    ["a member that is required", { elicitation: { form: () => ({ action: "accept" }) } }, form(undefined, ["name"])],
    ["a root that is no file", { roots: () => [{ uri: "https://a.test" }] }, roots],
    ["a thing without JSON form", { roots: () => [{ uri: "file:///", _meta: { n: 1n } }] }, roots],
  ])("W-35: %s is the handler's error, and nothing is sent", async (_, handlers, request) => {
    const { client, rounds } = await openRounds(handlers, asks({ k: request }));
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "handler_failed", delivery: "answered" });
    expect(rounds()).toHaveLength(1);
  });

  it("W-33: neither requests nor state is invalid_answer", async () => {
    const { client } = await openRounds({}, asks(undefined));
    await expect(client.callTool(call)).rejects.toMatchObject({ code: "invalid_answer", delivery: "unknown" });
  });

  it("F-6, W-33: names of a peer in errors are bounded", async () => {
    const { client } = await openRounds({}, asks({ ["k".repeat(9_000)]: { method: "m".repeat(9_000) } }));
    const error: unknown = await client.callTool(call).catch((reason: unknown) => reason);
    expect(JSON.stringify(error).length).toBeLessThan(1_000);
  });
});

describe("rounds and time", () => {
  it("W-33: state only is asked again after a growing pause, and counts", async () => {
    const clock = new FakeClock();
    const server = await serveRounds(asks(undefined, "1"), asks(undefined, "2"), asks(undefined, ""));
    const client = connect(server.url, { clock, maxInputRounds: 2 });
    await client.listAllTools();
    const calling = client.callTool(call).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(2);
    await expect.poll(() => clock.pending).toBe(1 + 1);
    clock.step(99);
    expect(server.requests).toHaveLength(2);
    clock.step(1);
    await expect.poll(() => server.requests.length).toBe(3);
    await expect.poll(() => clock.pending).toBe(1 + 1);
    clock.step(199);
    expect(server.requests).toHaveLength(3);
    clock.step(1);
    await expect(calling).resolves.toMatchObject({
      code: "limit_exceeded",
      delivery: "answered",
      details: { option: "maxInputRounds", limit: 2 },
    });
    expect(
      bodies(server)
        .slice(2)
        .map(({ params }) => params["requestState"]),
    ).toEqual(["1", "2"]);
    expect(clock.pending).toBe(0);
  });

  it("W-33: the time of a person counts against no deadline, the time of the exchanges does", async () => {
    const clock = new FakeClock();
    const answered: (() => void)[] = [];
    const handlers: InputHandlers = {
      roots: () => new Promise((resolve) => void answered.push(() => resolve([]))),
    };
    const server = await serve((method) => {
      if (method === "tools/list") return { tools: [] };
      if (answered.length > 0) return Buffer.alloc(0);
      return asks({ k: roots });
    });
    const client = connect(server.url, { clock, handlers });
    await client.listAllTools();
    const calling = client.callTool(call, { totalTimeoutMs: 1_000, idleTimeoutMs: 2_000 }).catch((e: unknown) => e);
    await expect.poll(() => answered.length).toBe(1);
    clock.step(3_600_000);
    answered[0]?.();
    await expect.poll(() => server.requests.length).toBe(3);
    clock.step(999);
    clock.step(1);
    await expect(calling).resolves.toMatchObject({
      code: "timeout",
      details: { option: "totalTimeoutMs", limitMs: 1_000 },
    });
  });

  it("F-2, W-33: an abort and a close end the call while a person is asked, and tell the handler", async () => {
    const signals: AbortSignal[] = [];
    const handlers: InputHandlers = {
      roots: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    };
    const server = await serve((method) => (method === "tools/list" ? { tools: [] } : asks({ k: roots })));
    const client = connect(server.url, { handlers });
    const controller = new AbortController();
    const aborted = client.callTool(call, { signal: controller.signal });
    const closed = client.callTool(call);
    await expect.poll(() => signals.length).toBe(2);
    controller.abort("enough");
    await expect(aborted).rejects.toBe("enough");
    expect(deliveryOf(aborted)).toBe("answered");
    const ending = expect(closed).rejects.toMatchObject({ code: "cancelled", delivery: "answered" });
    await client.close();
    await ending;
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
  });
});

describe("by hand", () => {
  it("W-34: the result that asks is returned as it came, with what the call declares", async () => {
    const asking = asks({ k: form() }, "s");
    const { client, rounds } = await openRounds({}, asking);
    const capabilities = { elicitation: { form: {} } };
    const first = await client.callTool(call, { input: "return", capabilities });
    expect(first).toEqual(asking);
    const inputResponses = { k: { action: "decline" } };
    const options = { input: "return", capabilities, inputResponses, requestState: "s" } as const;
    await expect(client.callTool(call, options)).resolves.toEqual(done);
    expect(rounds()).toMatchObject([
      { params: { _meta: { "io.modelcontextprotocol/clientCapabilities": capabilities } } },
      { params: { inputResponses, requestState: "s", ...call } },
    ]);
    expect(rounds()[0]?.params).not.toHaveProperty("inputResponses");
  });

  it("W-33, F-11: a request that carries input is not made again by itself", async () => {
    const server = await serveRounds();
    const { port } = server;
    await server.close();
    const client = connect(`http://127.0.0.1:${String(port)}/mcp`);
    const error: unknown = await client.readResource({ uri: "a:b" }, { requestState: "" }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { evidence: { attempts: 1 } },
    });
  });

  it.each([
    ["inputResponses", { inputResponses: [] }],
    ["requestState", { requestState: 1 }],
  ])("W-34: %s that can't be sent is invalid_argument", async (argument, options) => {
    const server = await serveRounds();
    const client = connect(server.url);
    // @ts-expect-error -- what a caller in JavaScript can do
    await expect(client.readResource({ uri: "a:b" }, options)).rejects.toMatchObject({
      code: "invalid_argument",
      delivery: "not_sent",
      details: { argument },
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe("the version", () => {
  it("W-28: a refused version is tried once more with a new id, also the same one", async () => {
    let n = 0;
    const server = await serve((_, request) =>
      (n += 1) === 1 ? rpcError(request, -32022, 400, { supported: ["2026-07-28"], requested: "2026-07-28" }) : done,
    );
    await expect(connect(server.url).request("a/b")).resolves.toEqual(done);
    expect(bodies(server).map(({ id }) => id)).toEqual([1, 2]);
  });

  it("W-28: a second refusal is the error; no version in common is unsupported_version at once", async () => {
    const refusing = await serve((_, request) => rpcError(request, -32022, 400, { supported: ["2026-07-28"] }));
    await expect(connect(refusing.url).request("a/b")).rejects.toMatchObject({
      code: "peer_error",
      details: { rpcCode: -32022 },
    });
    expect(refusing.requests).toHaveLength(2);
    const legacy = await serve((_, request) => rpcError(request, -32022, 400, { supported: ["2025-11-25"] }));
    await expect(connect(legacy.url).request("a/b")).rejects.toMatchObject({
      code: "unsupported_version",
      delivery: "answered",
      details: { supported: ["2025-11-25"], ours: ["2026-07-28"], evidence: { headersSeen: true } },
    });
    expect(legacy.requests).toHaveLength(1);
  });
});
