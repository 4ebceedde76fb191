import { afterEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/gateway/index.js";
import { ModernStreamableHTTPClient } from "../../../src/modern-client/index.js";
import type { Notification, Progress } from "../../../src/protocol/index.js";
import {
  Cleanup,
  httpConnector,
  post,
  type Received,
  startGateway,
  startUpstream,
  stdioConnector,
  VERSION,
} from "./support.js";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const RESULT = { resultType: "complete", content: [] };

/** Starts a stream to whoever sent the request, and gives what writes one message to it. */
function streamTo({ response }: Received): (message: object) => void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.flushHeaders();
  return (message) => void response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
}

const tokenOf = ({ params }: Received): unknown => Reflect.get(Object(params["_meta"]), "progressToken");

/** The product's side of the contract, as a connector host would set it up. */
function clientOf(gateway: Gateway, connectorId: string): ModernStreamableHTTPClient {
  const client = new ModernStreamableHTTPClient({
    endpoint: `${gateway.origin}/v1/connectors/${connectorId}/mcp`,
    clientInfo: { name: "test", version: "1" },
    headers: { "Tutti-Connector-Version": VERSION, Cookie: "session=s-ada" },
    meta: { "sh.tutti/connectorVersion": VERSION },
  });
  cleanup.add(() => client.close());
  return client;
}

const echo = { connectorId: "c", method: "tools/call", params: { name: "echo" } };

describe("a call on the way", () => {
  it("W-18: progress and log messages reach the caller as they come, progress under the caller's own token", async () => {
    let proceed = (): void => undefined;
    const seen = new Promise<void>((resolve) => (proceed = resolve));
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      const send = streamTo(request);
      send({ method: "notifications/progress", params: { progressToken: tokenOf(request), progress: 1, total: 2 } });
      send({ method: "notifications/progress", params: { progressToken: "someone else's", progress: 9 } });
      send({ method: "notifications/message", params: { level: "info", data: "too quiet" } });
      send({ method: "notifications/message", params: { level: "error", data: { loud: true } } });
      await seen;
      send({ id: request.id, result: RESULT });
      request.response.end();
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const told: (Progress | Notification)[] = [];
    const result = await clientOf(gateway, "c").callTool(
      { name: "echo" },
      {
        logLevel: "warning",
        onProgress: (progress) => void told.push(progress),
        onNotification: (notification) => {
          told.push(notification);
          proceed();
        },
      },
    );
    expect(result).toEqual(RESULT);
    expect(told).toEqual([
      { progress: 1, total: 2 },
      { method: "notifications/message", params: { level: "error", data: { loud: true } } },
    ]);
    const call = upstream.received.find(({ method }) => method === "tools/call");
    expect(call?.params["_meta"]).toMatchObject({ "io.modelcontextprotocol/logLevel": "warning" });
  });

  it.each([0, "", "mine"])("W-18: gives the token %j back as it came", async (progressToken) => {
    const upstream = await startUpstream(cleanup, (request) => {
      if (request.method !== "tools/call") return;
      const send = streamTo(request);
      expect(tokenOf(request)).not.toBe("mine");
      send({ method: "notifications/progress", params: { progressToken: tokenOf(request), progress: 1 } });
      send({ id: request.id, result: RESULT });
      request.response.end();
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const answer = await post(gateway, { ...echo, id: 0, meta: { progressToken } });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } };
    const result = `{"jsonrpc":"2.0","id":0,"result":${JSON.stringify(RESULT)}}`;
    expect(await answer.text()).toBe(`data: ${JSON.stringify(progress)}\n\ndata: ${result}\n\n`);
  });

  it("C-5: whoever asked for neither gets plain JSON, and the upstream is not asked for them", async () => {
    const upstream = await startUpstream(cleanup, (request) => {
      if (request.method !== "tools/call") return;
      const send = streamTo(request);
      send({ method: "notifications/progress", params: { progressToken: 1, progress: 1 } });
      send({ method: "notifications/message", params: { level: "error", data: 1 } });
      send({ id: request.id, result: RESULT });
      request.response.end();
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const answer = await post(gateway, echo);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: 1, result: RESULT });
    expect(upstream.received.map(tokenOf)).toEqual(upstream.received.map(() => undefined));
  });

  it("C-5: a failure before any notification keeps its status, one after it ends the stream", async () => {
    let notifies = false;
    const upstream = await startUpstream(cleanup, (request) => {
      if (request.method !== "tools/call") return;
      const send = streamTo(request);
      if (notifies)
        send({ method: "notifications/progress", params: { progressToken: tokenOf(request), progress: 1 } });
      request.response.end();
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)]);
    const early = await post(gateway, { ...echo, meta: { progressToken: "t" } });
    const error = { code: -33003, data: { reason: "stream_ended", delivery: "unknown" } };
    expect([early.status, await early.json()]).toMatchObject([503, { id: 1, error }]);
    notifies = true;
    const late = await post(gateway, { ...echo, meta: { progressToken: "t" } });
    const [, last = ""] = (await late.text()).trim().split("\n\n");
    expect(late.status).toBe(200);
    expect(JSON.parse(last.replace("data: ", ""))).toMatchObject({ jsonrpc: "2.0", id: 1, error });
  });

  it("C-5: a call that is silent for long shows signs of life", async () => {
    let finish = (): void => undefined;
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      await new Promise<void>((resolve) => (finish = resolve));
      request.response.writeHead(200, { "Content-Type": "application/json" });
      request.response.end(JSON.stringify({ jsonrpc: "2.0", id: request.id, result: RESULT }));
    });
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)], { keepAliveMs: 20 });
    const answer = await post(gateway, echo);
    const chunks: string[] = [];
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      chunks.push(decoder.decode(chunk));
      if (chunks.join("").split(":\n\n").length > 3) finish();
    }
    const text = chunks.join("");
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(text).toMatch(/^(?::\n\n){3,}data: \{.*\}\n\n$/);
  });
});

describe("a caller that leaves", () => {
  it("W-17: cancels the upstream's exchange over HTTP, and is no fault", async () => {
    let arrived = (_request: Received): void => undefined;
    const arrival = new Promise<Received>((resolve) => (arrived = resolve));
    const upstream = await startUpstream(cleanup, async (request) => {
      if (request.method !== "tools/call") return;
      arrived(request);
      await request.closed;
    });
    const faults: unknown[] = [];
    const onFault = (error: unknown): void => void faults.push(error);
    const gateway = await startGateway(cleanup, [httpConnector("c", upstream.url)], { onFault });
    const abort = new AbortController();
    const answer = post(gateway, { ...echo, signal: abort.signal });
    const { closed, response } = await arrival;
    abort.abort();
    await expect(answer).rejects.toThrow();
    await closed;
    expect(response.writableFinished).toBe(false);
    expect(faults).toEqual([]);
  });

  it("W-17: sends a legacy upstream the cancellation of its own request", async () => {
    const lines = [
      "const { createInterface } = require('node:readline');",
      "const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');",
      "let slow, cancelled = [];",
      "createInterface({ input: process.stdin }).on('line', (line) => {",
      "  const { id, method, params } = JSON.parse(line);",
      "  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });",
      "  if (method === 'tools/list') say({ id, result: { tools: ['slow', 'ask'].map((name) => ({ name, inputSchema: { type: 'object' } })) } });",
      "  if (method === 'notifications/cancelled') cancelled.push(params.requestId === slow);",
      "  if (method !== 'tools/call') return;",
      "  if (params.name === 'slow') { slow = id; say({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } }); }",
      "  else say({ id, result: { content: [], cancelled } });",
      "});",
    ];
    const gateway = await startGateway(cleanup, [stdioConnector("c", ["-e", lines.join("\n")])]);
    const abort = new AbortController();
    const slow = await post(gateway, {
      ...echo,
      params: { name: "slow" },
      meta: { progressToken: 1 },
      signal: abort.signal,
    });
    abort.abort();
    await expect(slow.text()).rejects.toThrow();
    const ask = async (): Promise<unknown> => (await post(gateway, { ...echo, params: { name: "ask" } })).json();
    await expect.poll(ask).toMatchObject({ result: { cancelled: [true] } });
  });
});
