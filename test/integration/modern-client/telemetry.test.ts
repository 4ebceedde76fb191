import { Writable } from "node:stream";
import { inspect } from "node:util";
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
  type TracerProvider,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pinoLogger } from "../../../src/transport/index.js";
import { httpAnswer, idOf } from "../../support/raw-server.js";
import { connect as connectOverStdio, scripted } from "./stdio-servers.js";
import { bodies, connect, event, rpcError, serve, stream } from "./support.js";

const call = { name: "t" };
const contract = { parameters: [] };
const done = { content: [] };
const discovered = { supportedVersions: ["2026-07-28"], capabilities: {} };
const busy = () => httpAnswer("", { status: 503, type: "text/plain", headers: "Retry-After: 0\r\n" });

/** Adds what MCP has no key for. */
const other: TextMapPropagator = {
  inject: (_context, carrier, setter) => setter.set(carrier, "x-other", "1"),
  extract: (active) => active,
  fields: () => ["x-other"],
};

const exporter = new InMemorySpanExporter();

function register(provider: TracerProvider): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator(), other] }),
  );
  trace.setGlobalTracerProvider(provider);
}

function unregister(): void {
  trace.disable();
  propagation.disable();
  context.disable();
}

beforeEach(() => {
  register(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});

afterEach(() => {
  unregister();
  exporter.reset();
});

/** Runs it in a span of the caller's own, and gives that span's place in its trace. */
async function inSpan<T>(run: () => Promise<T>): Promise<{ traceId: string; spanId: string; value: T }> {
  return trace.getTracer("caller").startActiveSpan("caller", async (span) => {
    try {
      return { ...span.spanContext(), value: await run() };
    } finally {
      span.end();
    }
  });
}

const failed = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

/** The spans of exchanges, in the order of their beginning. */
function spans(): ReadableSpan[] {
  const made = exporter.getFinishedSpans().filter(({ instrumentationScope }) => instrumentationScope.name !== "caller");
  return made.toSorted(
    (a, b) => Number(a.attributes["jsonrpc.request.id"]) - Number(b.attributes["jsonrpc.request.id"]),
  );
}

/** Opens a connection in another context than that of the calls that will use it. */
async function connectElsewhere(client: { discover(): Promise<unknown> }): Promise<void> {
  await inSpan(() => client.discover());
  exporter.reset();
}

/** Acknowledges the first subscription, and refuses the others. */
async function serveSubscriptions() {
  let n = 0;
  return serve((_method, request) => {
    if ((n += 1) > 1) return rpcError(request, -32_601, 404);
    const params = {
      _meta: { "io.modelcontextprotocol/subscriptionId": idOf(request) },
      notifications: { toolsListChanged: true },
    };
    const said = event({ method: "notifications/subscriptions/acknowledged", params });
    return Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n${said}\n\n`);
  });
}

const traceparentOf = (span: ReadableSpan | undefined): string => {
  const { traceId, spanId } = span?.spanContext() ?? { traceId: "", spanId: "" };
  return `00-${traceId}-${spanId}-01`;
};

const metaOf = (params: Record<string, unknown>): Record<string, unknown> => ({ ...Object(params["_meta"]) });

describe("F-19: spans of exchanges", () => {
  it("F-19: a call is a span under the caller's own, named and described as the conventions say, and its server hears of it", async () => {
    const server = await serve(() => done);
    const client = connect(server.url);
    const caller = await inSpan(() => client.callTool({ name: "t", arguments: { a: "secret" } }, { contract }));
    expect(spans()).toHaveLength(1);
    const [span] = spans();
    expect(span).toMatchObject({
      name: "tools/call t",
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.UNSET },
      events: [],
      parentSpanContext: { spanId: caller.spanId, traceId: caller.traceId },
      instrumentationScope: { name: "remote-connector" },
    });
    expect(span?.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2026-07-28",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "t",
      "jsonrpc.request.id": "1",
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": "127.0.0.1",
      "server.port": server.port,
      "remote_connector.attempt": 1,
      "remote_connector.delivery": "answered",
    });
    const [sent] = bodies(server);
    expect(metaOf(sent?.params ?? {})["traceparent"]).toBe(traceparentOf(span));
  });

  it("F-19: what a request names is told by kind, a URI without what may be secret in it", async () => {
    const server = await serve((method) => (method === "prompts/get" ? { messages: [] } : { contents: [] }));
    const client = connect(server.url);
    await client.getPrompt({ name: "p", arguments: { a: "secret" } });
    await client.readResource({ uri: "https://secret:secret@files.example/a?key=secret#secret" });
    await client.readResource({ uri: "file:///a" });
    expect(spans().map(({ name }) => name)).toEqual(["prompts/get p", "resources/read", "resources/read"]);
    const named = spans().map(({ attributes }) => attributes["gen_ai.prompt.name"] ?? attributes["mcp.resource.uri"]);
    expect(named).toEqual(["p", "https://…@files.example/a", "file:///a"]);
    expect(inspect(spans().map(({ name, attributes }) => [name, attributes]))).not.toContain("secret");
  });

  it.each<[string, Buffer | object, object, object]>([
    ["a tool that failed", { ...done, isError: true }, { "error.type": "tool_error" }, { isError: true }],
    [
      "an answer that is none",
      httpAnswer("secret", { type: "text/plain" }),
      { "error.type": "unexpected_answer", "http.response.status_code": 200 },
      { code: "unexpected_answer" },
    ],
    ["a result that is none", { resultType: "secret" }, { "error.type": "invalid_answer" }, { code: "invalid_answer" }],
    ["a stream that ended", stream(":"), { "error.type": "stream_ended" }, { code: "stream_ended" }],
  ])("F-19: %s", async (_name, answer, attributes, outcome) => {
    const server = await serve(() => answer);
    const client = connect(server.url);
    expect(await failed(client.callTool(call, { contract }))).toMatchObject(outcome);
    expect(spans()).toHaveLength(1);
    expect(spans()[0]).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes });
    expect(inspect(spans().map((span) => [span.attributes, span.status, span.events]))).not.toContain("secret");
  });

  it("F-19: an error of the server has its JSON-RPC code, and nothing of its text", async () => {
    const server = await serve((_method, request) => rpcError(request, -32_602, 400, "secret"));
    expect(await failed(connect(server.url).callTool(call, { contract }))).toMatchObject({ code: "peer_error" });
    expect(spans()).toHaveLength(1);
    expect(spans()[0]?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(spans()[0]?.attributes).toMatchObject({
      "error.type": "-32602",
      "rpc.response.status_code": "-32602",
      "http.response.status_code": 400,
      "remote_connector.delivery": "answered",
    });
  });

  it("F-19: a deadline, an abort, a refused admission, a closed client and a port where nobody listens", async () => {
    const server = await serve(() => Buffer.alloc(0));
    const client = connect(server.url);
    await failed(client.callTool(call, { contract, totalTimeoutMs: 50 }));
    await failed(client.callTool(call, { contract, signal: AbortSignal.timeout(50) }));
    await failed(client.callTool(call, { contract, admit: () => "no" }));
    const open = failed(client.callTool(call, { contract }));
    await client.close();
    await open;
    const deaf = await serve(() => done);
    await deaf.close();
    await failed(connect(deaf.url, { maxReadRetries: 0 }).discover());
    const ends = exporter.getFinishedSpans().map(({ attributes, status }) => {
      expect(status.code).toBe(SpanStatusCode.ERROR);
      return [
        attributes["error.type"],
        attributes["remote_connector.delivery"],
        attributes["remote_connector.attempt"],
      ];
    });
    expect(ends).toEqual([
      ["timeout", "unknown", 1],
      ["aborted", "unknown", 1],
      ["not_admitted", "not_sent", 1],
      ["cancelled", "not_sent", 1],
      ["connect_failed", "not_sent", 1],
      ["connect_failed", "not_sent", 2],
    ]);
  });

  it("F-19, F-11: each attempt is a span of its own under the caller's, and the server hears of each", async () => {
    let n = 0;
    const server = await serve((method) => {
      if (method === "server/discover") return discovered;
      return (n += 1) < 3 ? busy() : { tools: [] };
    });
    const client = connect(server.url, { random: () => 0 });
    await connectElsewhere(client);
    const { spanId } = await inSpan(() => client.listTools());
    const made = spans();
    expect(made.map(({ attributes }) => attributes["remote_connector.attempt"])).toEqual([1, 2, 3]);
    expect(made.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([spanId, spanId, spanId]);
    expect(made.map(({ attributes }) => attributes["error.type"])).toEqual([
      "unexpected_answer",
      "unexpected_answer",
      undefined,
    ]);
    const heard = bodies(server).slice(1);
    expect(heard.map(({ params }) => metaOf(params)["traceparent"])).toEqual(made.map(traceparentOf));
  });

  it("F-19, W-33: so is each round of input, although the answer was given in another context", async () => {
    const asks = { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } };
    let n = 0;
    const server = await serve((method) => {
      if (method === "server/discover") return discovered;
      return (n += 1) === 1 ? asks : done;
    });
    const client = connect(server.url, {
      handlers: { roots: async () => (await inSpan(() => Promise.resolve([{ uri: "file:///home" }]))).value },
    });
    await connectElsewhere(client);
    const { spanId } = await inSpan(() => client.callTool(call, { contract }));
    expect(spans().map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([spanId, spanId]);
    expect(spans().map(({ attributes }) => attributes["error.type"])).toEqual([undefined, undefined]);
  });

  it("F-19: of 64 calls at once that wait for 4 turns, each has the parent in whose context it was made", async () => {
    const server = await serve((_method, request) => {
      setTimeout(() => {
        request.socket.write(httpAnswer(JSON.stringify({ jsonrpc: "2.0", id: idOf(request), result: done })));
      }, 2);
      return Buffer.alloc(0);
    });
    const client = connect(server.url, { maxConcurrentRequests: 4 });
    const callers = await Promise.all(
      Array.from({ length: 64 }, (_, i) => inSpan(() => client.callTool({ name: `t${String(i)}` }, { contract }))),
    );
    const made = spans();
    expect(made).toHaveLength(64);
    const parents = made.map(({ attributes, parentSpanContext }) => [
      attributes["gen_ai.tool.name"],
      parentSpanContext?.spanId,
    ]);
    expect(parents).toEqual(callers.map(({ spanId }, i) => [`t${String(i)}`, spanId]));
    const heard = bodies(server).map(({ params }) => [params["name"], metaOf(params)["traceparent"]] as const);
    expect(new Map(heard)).toEqual(
      new Map(made.map((span) => [span.attributes["gen_ai.tool.name"], traceparentOf(span)])),
    );
  });

  it("F-19: a subscription is a span until it is acknowledged, or refused", async () => {
    const server = await serveSubscriptions();
    const client = connect(server.url);
    const { spanId, value } = await inSpan(async () => {
      const subscription = client.listen({ toolsListChanged: true });
      await subscription.acknowledged;
      return subscription;
    });
    expect(spans()).toHaveLength(1);
    expect(spans()[0]).toMatchObject({ name: "subscriptions/listen", parentSpanContext: { spanId } });
    expect(spans()[0]?.attributes).toMatchObject({ "remote_connector.delivery": "answered" });
    expect(metaOf(bodies(server)[0]?.params ?? {})["traceparent"]).toBe(traceparentOf(spans()[0]));
    value.close();
    await failed(client.listen({ toolsListChanged: true }).acknowledged);
    expect(spans().map(({ attributes }) => attributes["error.type"])).toEqual([undefined, "-32601"]);
  });

  it("F-19: a notification is a span without an id", async () => {
    const server = await serve(() => httpAnswer("", { status: 202, type: "text/plain" }));
    const client = connect(server.url);
    const caller = await inSpan(() => client.notify("notifications/x", {}));
    expect(spans()).toMatchObject([{ name: "notifications/x", parentSpanContext: { spanId: caller.spanId } }]);
    expect(spans()[0]?.attributes).not.toHaveProperty("jsonrpc.request.id");
    await server.close();
    await failed(client.notify("notifications/x", {}));
    expect(spans().map(({ attributes }) => attributes["error.type"])).toContain("connect_failed");
  });

  it("F-19: over stdio a call is a span of the same kind, without an address", async () => {
    const { client } = connectOverStdio(scripted());
    const { spanId } = await inSpan(() => client.listTools());
    const span = spans().find(({ name }) => name === "tools/list");
    expect(span).toMatchObject({ kind: SpanKind.CLIENT, parentSpanContext: { spanId } });
    expect(span?.attributes).toMatchObject({ "network.transport": "pipe", "remote_connector.delivery": "answered" });
    expect(span?.attributes).not.toHaveProperty("server.address");
  });

  it("F-19: a result that was kept is no exchange, and no span", async () => {
    const server = await serve(() => ({ tools: [], ttlMs: 60_000, cacheScope: "public" }));
    const client = connect(server.url, { cache: true });
    await client.listTools();
    await client.listTools();
    expect(spans()).toHaveLength(1);
  });

  it("F-19: a provider that is registered when the client is there already will do", async () => {
    unregister();
    const server = await serve(() => done);
    const client = connect(server.url);
    await client.callTool(call, { contract });
    expect(metaOf(bodies(server)[0]?.params ?? {})).not.toHaveProperty("traceparent");
    register(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    await client.callTool(call, { contract });
    expect(spans()).toHaveLength(1);
  });

  it("F-19: with tracing off there is neither span nor trace context", async () => {
    const server = await serve(() => done);
    await inSpan(() => connect(server.url, { tracing: "off" }).callTool(call, { contract }));
    expect(spans()).toEqual([]);
    expect(metaOf(bodies(server)[0]?.params ?? {})).not.toHaveProperty("traceparent");
    const tracing: object = { tracing: "on" };
    expect(() => connect(server.url, tracing)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});

describe("F-19: the trace context of a request", () => {
  it("F-19: the application's baggage travels too, and nothing for which MCP has no key", async () => {
    const server = await serve(() => done);
    const client = connect(server.url);
    const baggage = propagation.createBaggage({ user: { value: "ada" } });
    await context.with(propagation.setBaggage(context.active(), baggage), () =>
      inSpan(() => client.callTool(call, { contract })),
    );
    const meta = metaOf(bodies(server)[0]?.params ?? {});
    expect(meta).toMatchObject({ traceparent: traceparentOf(spans()[0]), baggage: "user=ada" });
    expect(meta).not.toHaveProperty("x-other");
  });

  it.each<[string, object, object]>([
    ["the call's", {}, { meta: { traceparent: "00-x" } }],
    ["the call's, although it is another key", {}, { meta: { baggage: "a=b" } }],
    ["the client's", { meta: { traceparent: "00-x" } }, {}],
  ])("F-19: %s own is left alone, and nothing is put beside it", async (_name, options, callOptions) => {
    const server = await serve(() => done);
    await connect(server.url, options).callTool(call, { contract, ...callOptions });
    const { traceparent, tracestate, baggage } = metaOf(bodies(server)[0]?.params ?? {});
    const given = { ...options, ...callOptions };
    expect({ meta: JSON.parse(JSON.stringify({ traceparent, tracestate, baggage })) }).toEqual(given);
    expect(spans()).toHaveLength(1);
  });
});

describe("F-19: what fails in a provider fails no call", () => {
  const fail = (): never => {
    throw new Error("provider");
  };
  const broken = (tracer: object): TracerProvider => {
    const provider: object = { getTracer: () => tracer };
    return Object.assign(new BasicTracerProvider(), provider);
  };
  const badExporter = { export: fail, shutdown: () => Promise.resolve() };
  const none = { traceId: "", spanId: "", traceFlags: 0 };

  it.each<[string, number, () => void]>([
    [
      "the exporter",
      0,
      () => {
        unregister();
        register(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(badExporter)] }));
      },
    ],
    [
      "the provider",
      0,
      () => {
        unregister();
        register(Object.assign(new BasicTracerProvider(), { getTracer: fail }));
      },
    ],
    [
      "the tracer",
      0,
      () => {
        unregister();
        register(broken({ startSpan: fail }));
      },
    ],
    [
      "the span",
      0,
      () => {
        unregister();
        register(
          broken({ startSpan: () => ({ spanContext: fail, isRecording: fail, setAttributes: fail, end: fail }) }),
        );
      },
    ],
    [
      "the end of the span",
      0,
      () => {
        unregister();
        register(
          broken({ startSpan: () => ({ spanContext: () => none, isRecording: () => true, setAttributes: fail }) }),
        );
      },
    ],
    [
      // Who can't carry a context still makes spans.
      "the propagator",
      2,
      () => {
        propagation.disable();
        propagation.setGlobalPropagator({ ...other, inject: fail });
      },
    ],
    [
      "the context manager",
      0,
      () => {
        context.disable();
        context.setGlobalContextManager(Object.assign(new AsyncLocalStorageContextManager(), { active: fail }));
      },
    ],
  ])("F-19: %s", async (_name, made, breakIt) => {
    breakIt();
    const server = await serve(() => done);
    const client = connect(server.url);
    await expect(client.callTool(call, { contract })).resolves.toEqual(done);
    const refused = client.callTool(call, { contract, admit: () => "no" });
    await expect(refused).rejects.toMatchObject({ code: "not_admitted" });
    expect(spans()).toHaveLength(made);
  });
});

describe("F-19: the logger", () => {
  /** The lines that pino has written. */
  function record(level: string) {
    const lines: unknown[] = [];
    const into = new Writable({
      write(chunk: Buffer, _encoding, then) {
        const line: object = JSON.parse(chunk.toString());
        lines.push({ ...line, time: undefined, pid: undefined, hostname: undefined });
        then();
      },
    });
    return { lines, logger: pinoLogger(pino({ level }, into)) };
  }

  it("F-19: tells of each exchange's end at debug, without secrets", async () => {
    const { lines, logger } = record("debug");
    let n = 0;
    const server = await serve((_method, request) =>
      (n += 1) === 1 ? done : rpcError(request, -32_602, 400, "secret"),
    );
    const client = connect(`${server.url}?key=secret`, { logger, headers: { "X-Key": "secret" }, tracing: "off" });
    await client.callTool({ name: "t", arguments: { a: "secret" } }, { contract });
    await failed(client.callTool(call, { contract }));
    await failed(client.callTool(call, { contract, signal: AbortSignal.abort() }));
    const line = {
      level: 20,
      msg: "An exchange ended.",
      serverOrigin: new URL(server.url).origin,
      method: "tools/call",
      attempt: 1,
      elapsedMs: expect.any(Number),
    };
    expect(lines).toEqual([
      { ...line, requestId: 1, delivery: "answered" },
      { ...line, requestId: 2, delivery: "answered", errorType: "-32602", rpcCode: -32_602, httpStatus: 400 },
      { ...line, requestId: 3, delivery: "not_sent", errorType: "aborted" },
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("F-19: tells of a subscription once, when it is acknowledged", async () => {
    const { lines, logger } = record("debug");
    const subscription = connect((await serveSubscriptions()).url, { logger }).listen({ toolsListChanged: true });
    await subscription.acknowledged;
    subscription.close();
    await subscription.closed;
    expect(lines).toMatchObject([{ method: "subscriptions/listen", requestId: 1, delivery: "answered" }]);
  });

  it("F-19: and of what was tolerated at warn, beside onDiagnostic", async () => {
    const { lines, logger } = record("warn");
    const kinds: string[] = [];
    const server = await serve(() => ({ tools: [{ name: "t" }] }));
    await connect(server.url, { logger, onDiagnostic: ({ kind }) => kinds.push(kind) }).listTools();
    expect(kinds).toEqual(["entry_dropped"]);
    expect(lines).toMatchObject([{ level: 40, msg: "A peer's deviation was tolerated.", kind: "entry_dropped" }]);
  });

  it("F-19: one that throws fails no call, and something that is no logger is refused", async () => {
    const fail = (): never => {
      throw new Error("full");
    };
    const server = await serve(() => ({ tools: [{ name: "t" }] }));
    const client = connect(server.url, { logger: { debug: fail, info: fail, warn: fail, error: fail } });
    await expect(client.listTools()).resolves.toEqual({ tools: [] });
    const options: object = { logger: { debug: fail } };
    expect(() => connect(server.url, options)).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option: "logger" }) }),
    );
  });
});
