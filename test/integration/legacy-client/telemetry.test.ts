import { context, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { connect } from "../../../src/connect/index.js";
import { type LegacyClient, LegacySSEClient } from "../../../src/legacy-client/index.js";
import {
  answerError,
  answerResult,
  answerStatus,
  type Handler,
  likeLegacyServer,
  likeSseServer,
} from "../../../src/testing/index.js";
import type { LogFields } from "../../../src/transport/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { connect as connectStdio, scripted } from "./servers.js";
import { SessionServer } from "./session-server.js";

const exporter = new InMemorySpanExporter();
const CALL = { name: "echo", arguments: { secret: "swordfish" } };
const clientInfo = { name: "test", version: "1" };

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
});

afterEach(() => {
  trace.disable();
  propagation.disable();
  context.disable();
  exporter.reset();
});

/** The spans of exchanges with tools, in the order of their ends. */
function spans(method = "tools/call"): readonly ReadableSpan[] {
  return exporter.getFinishedSpans().filter(({ attributes }) => attributes["mcp.method.name"] === method);
}

async function inSpan<T>(run: () => Promise<T>): Promise<{ readonly spanId: string; readonly value: T }> {
  return trace.getTracer("caller").startActiveSpan("caller", async (span) => {
    const value = await run();
    span.end();
    return { spanId: span.spanContext().spanId, value };
  });
}

function loggerOf(lines: [string, LogFields | undefined][]) {
  const note = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
  return { debug: note, info: note, warn: note, error: note };
}

const http = likeLegacyServer({ tools: [{ name: "echo" }], revision: "2025-11-25" });

describe("F-19: spans of exchanges with legacy servers", () => {
  const kinds: Readonly<Record<string, () => Promise<LegacyClient>>> = {
    "Streamable HTTP": async () => (await connectHttp((await serve(http)).url)).client,
    "HTTP+SSE": async () => {
      const server = await serve(likeSseServer({ tools: [{ name: "echo" }] }));
      const client = await LegacySSEClient.connect({ endpoint: server.url, clientInfo });
      onTestFinished(() => client.close());
      return client;
    },
    stdio: () => connectStdio(scripted()),
  };

  it.each(Object.entries(kinds))("F-19: over %s a call is a span under the caller's own", async (_, open) => {
    const client = await open();
    const { spanId } = await inSpan(() => caught(client.callTool(CALL)));
    const [span, ...others] = spans();
    expect(others).toEqual([]);
    expect(span).toMatchObject({ name: "tools/call echo", parentSpanContext: { spanId } });
    expect(span?.attributes).toMatchObject({
      "gen_ai.tool.name": "echo",
      "mcp.protocol.version": client.revision,
      "remote_connector.attempt": 1,
      "remote_connector.delivery": "answered",
    });
    expect(spans("initialize")).toHaveLength(1);
    expect(JSON.stringify(span?.attributes)).not.toContain("swordfish");
  });

  it("F-19: the server hears of the trace, unless the caller says another", async () => {
    const server = await serve(http);
    const { client } = await connectHttp(server.url);
    await inSpan(() => client.callTool(CALL));
    await inSpan(() => client.callTool(CALL, { meta: { traceparent: "mine" } }));
    const given = server.requests.filter(({ method }) => method === "tools/call").map(({ params }) => metaIn(params));
    const { traceId, spanId } = spans()[0]?.spanContext() ?? {};
    expect(given).toEqual([{ traceparent: `00-${traceId}-${spanId}-01` }, { traceparent: "mine" }]);
  });

  it("F-19 L-3: a request that is made again in a new session is a span of its own", async () => {
    const sessions = new SessionServer();
    const { client } = await connectHttp((await serve(sessions.handle)).url);
    sessions.forget();
    await client.callTool(CALL);
    const told = spans().map(({ attributes }) => [
      attributes["remote_connector.attempt"],
      attributes["http.response.status_code"],
    ]);
    expect(told).toEqual([
      [1, 404],
      [2, undefined],
    ]);
  });

  it.each<[string, Handler, string]>([
    ["a refusal", () => answerError(-32602, "swordfish", { status: 200 }), "-32602"],
    ["a broken answer", () => answerResult({ swordfish: 1 }, { type: "text/html" }), "unexpected_answer"],
    ["a tool's own error", () => answerResult({ content: [], isError: true }), "tool_error"],
  ])("F-19: %s is told of without its text", async (_, answer, type) => {
    const { client } = await connectHttp((await serve(new SessionServer({ answer }).handle)).url);
    await caught(client.callTool(CALL));
    const [span] = spans();
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes["error.type"]).toBe(type);
    expect(JSON.stringify(span?.attributes)).not.toContain("swordfish");
  });

  it("F-19: an abort and a deadline end the span", async () => {
    const silent: Handler = () => new Promise(() => undefined);
    const { client } = await connectHttp((await serve(new SessionServer({ answer: silent }).handle)).url);
    await caught(client.callTool(CALL, { signal: AbortSignal.timeout(30) }));
    await caught(client.callTool(CALL, { totalTimeoutMs: 30 }));
    expect(spans().map(({ attributes }) => attributes["error.type"])).toEqual(["aborted", "timeout"]);
  });

  it("F-19: what can't be sent is a span that has ended, and with tracing off there is none", async () => {
    const { url } = await serve(http);
    const { client } = await connectHttp(url);
    await caught(client.callTool({ name: "echo", arguments: { big: 1n } }));
    expect(spans().map(({ attributes }) => attributes["error.type"])).toEqual(["invalid_argument"]);
    exporter.reset();
    const { client: other } = await connectHttp(url, { tracing: "off" });
    await other.callTool(CALL);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});

describe("F-19: the logger of a legacy client", () => {
  it("F-19: tells of each exchange's end, and of what was tolerated, without secrets", async () => {
    const lines: [string, LogFields | undefined][] = [];
    const listen = (): ReturnType<Handler> => answerStatus(403);
    const server = await serve(new SessionServer({ listen }).handle);
    const { client, kinds } = await connectHttp(server.url, { logger: loggerOf(lines), listen: "always" });
    await client.callTool(CALL);
    expect(kinds()).toEqual(["not_listening"]);
    const { origin: serverOrigin } = new URL(server.url);
    expect(lines).toContainEqual([
      "A peer's deviation was tolerated.",
      expect.objectContaining({ serverOrigin, kind: "not_listening" }),
    ]);
    const ended = lines.filter(([message]) => message === "An exchange ended.").map(([, fields]) => fields?.["method"]);
    expect(ended).toEqual(["initialize", "tools/call"]);
    expect(JSON.stringify(lines)).not.toContain("swordfish");
  });

  it("F-19: is taken by connect for both eras, and one that is none is refused", async () => {
    const lines: [string, LogFields | undefined][] = [];
    const { url } = await serve(http);
    const client = await connect({ endpoint: url, clientInfo, logger: loggerOf(lines), tracing: "off" });
    onTestFinished(() => client.close());
    await client.callTool(CALL);
    await vi.waitFor(() =>
      expect(lines.map(([, fields]) => fields?.["method"]).filter((method) => method !== undefined)).toEqual([
        "server/discover",
        "initialize",
        "tools/call",
      ]),
    );
    const wrong: object = { logger: {} };
    await expect(connectHttp(url, wrong)).rejects.toMatchObject({ code: "invalid_options" });
  });
});

function metaIn(params: unknown): unknown {
  return Reflect.get(Object(params), "_meta");
}
