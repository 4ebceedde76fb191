import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { LegacySSEClient, type LegacySSEClientOptions } from "../../../src/legacy-client/index.js";
import {
  answerBody,
  answerEvents,
  answerFeed,
  answerStatus,
  commentEvent,
  dataEvent,
  EventFeed,
  type Handler,
  keepOpen,
  likeSseServer,
  messageEvent,
  notificationMessage,
  requestMessage,
  ScriptedServer,
  withFaults,
} from "../../../src/testing/index.js";
import { caught, serve } from "./http-parties.js";
import { openHandles, published } from "./servers.js";

const clientInfo = { name: "test", version: "1" };

async function connect(endpoint: string, options: Partial<LegacySSEClientOptions> = {}): Promise<LegacySSEClient> {
  const client = await LegacySSEClient.connect({ endpoint, clientInfo, ...options });
  onTestFinished(() => client.close());
  return client;
}

const tools = [{ name: "t", run: () => ({ content: [{ type: "text", text: "ok" }] }) }];

/** A server whose stream the test holds. Everything that is posted is taken, and answered with an empty result. */
function streaming(feed: EventFeed, onPost?: Handler): Handler {
  return async (request) => {
    if (request.verb === "GET") {
      feed.send(dataEvent("/post", { event: "endpoint" }));
      return answerFeed(feed);
    }
    const own = await onPost?.(request);
    if (own !== undefined) return own;
    const introduction = { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: clientInfo };
    const result = request.method === "initialize" ? introduction : { content: [] };
    const { id } = request;
    if (id !== undefined) feed.send(messageEvent({ kind: "value", value: { jsonrpc: "2.0", id, result } }));
    return answerStatus(202);
  };
}

describe("LegacySSEClient", () => {
  it.each([
    ["root-relative", "/messages?stream={n}"],
    ["relative", "messages?stream={n}&x=1"],
    ["absolute", "ORIGIN/v/messages?stream={n}"],
  ])("L-11: takes an endpoint that is %s", async (_how, endpoint) => {
    const place: { origin: string; handler?: Handler } = { origin: "" };
    const server = await serve((request) => {
      place.handler ??= likeSseServer({ tools, endpoint: endpoint.replace("ORIGIN", place.origin) });
      return place.handler(request);
    });
    Object.assign(place, { origin: server.origin });
    const client = await connect(`${server.origin}/v/sse?key=k`);
    expect(client.revision).toBe("2024-11-05");
    await expect(client.callTool({ name: "t" })).resolves.toEqual({ content: [{ type: "text", text: "ok" }] });
    expect((await client.listAllTools()).tools).toHaveLength(1);
    const [get, initialize, initialized, call] = server.requests;
    expect([get?.verb, get?.target, get?.header("accept")]).toEqual(["GET", "/v/sse?key=k", "text/event-stream"]);
    expect([initialize?.header("mcp-protocol-version"), call?.header("mcp-protocol-version")]).toEqual([
      undefined,
      "2024-11-05",
    ]);
    expect(initialized?.method).toBe("notifications/initialized");
    expect(call?.path).toBe(endpoint.startsWith("/") ? "/messages" : "/v/messages");
  });

  it.each([
    ["another host", "http://other.invalid/m"],
    ["another port", "http://127.0.0.1:1/m"],
    ["another scheme", "https://127.0.0.1/m"],
    ["userinfo", "http://u:p@HOST/m"],
    ["no URL", "http://"],
  ])("L-11, F-15: refuses %s at once, and posts nothing", async (_what, data) => {
    const feed = new EventFeed();
    const server = await ScriptedServer.start(() => answerFeed(feed));
    onTestFinished(() => server.close());
    feed.send(dataEvent(data.replace("HOST", `127.0.0.1:${String(server.port)}`), { event: "endpoint" }));
    const connecting = LegacySSEClient.connect({ endpoint: server.url, clientInfo });
    const error = await caught(connecting);
    expect(error).toMatchObject({ code: "invalid_url" });
    expect(JSON.stringify(error)).not.toContain("u:p");
    expect(server.requests).toHaveLength(1);
    await expect.poll(() => feed.listeners).toBe(0);
  });

  it("L-11: a stream that names no endpoint in time is a clear error", async () => {
    const server = await serve(() => withFaults(answerEvents([commentEvent("hello")]), keepOpen({ beatMs: 10 })));
    const connecting = LegacySSEClient.connect({ endpoint: server.url, clientInfo, connectTimeoutMs: 80 });
    expect(await caught(connecting)).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { option: "connectTimeoutMs", limitMs: 80 },
    });
  });

  it.each([
    [
      "401",
      answerStatus(401, { headers: { "WWW-Authenticate": 'Bearer realm="r"' } }),
      { wwwAuthenticate: 'Bearer realm="r"' },
    ],
    ["404", answerBody("no", { status: 404 }), { status: 404 }],
    ["no stream", answerBody("hi"), { status: 200 }],
  ])("L-11: a GET answered with %s says so", async (_what, answer, details) => {
    const server = await serve(() => answer);
    const error = await caught(LegacySSEClient.connect({ endpoint: server.url, clientInfo }));
    expect(error).toMatchObject({ code: "unexpected_answer", details });
  });

  it("L-11: a POST's own status only says whether it was taken", async () => {
    const feed = new EventFeed();
    const server = await serve(
      streaming(feed, (request) => {
        const name = request.params["name"];
        if (name === "refused") return answerBody("no", { status: 429, headers: { "Retry-After": "1" } });
        if (name === "lost") return answerStatus(500);
        return undefined;
      }),
    );
    const client = await connect(server.url);
    await expect(client.callTool({ name: "fine" })).resolves.toEqual({ content: [] });
    const refused = { code: "unexpected_answer", delivery: "answered", details: { status: 429, retryAfter: "1" } };
    expect(await caught(client.callTool({ name: "refused" }))).toMatchObject(refused);
    expect(await caught(client.callTool({ name: "lost" }))).toMatchObject({ delivery: "unknown" });
  });

  it("L-6, L-7: answers the server's requests, and tells it what was given up", async () => {
    const feed = new EventFeed();
    const heard: string[] = [];
    const server = await serve(
      streaming(feed, ({ method }) => (method === "tools/call" ? answerStatus(202) : undefined)),
    );
    const client = await connect(server.url, { onNotification: ({ method }) => heard.push(method) });
    feed.send(messageEvent(requestMessage(0, "ping")));
    feed.send(messageEvent(notificationMessage("notifications/tools/list_changed")));
    await expect.poll(() => server.requests.at(-1)?.message).toEqual({ jsonrpc: "2.0", id: 0, result: {} });
    expect(heard).toEqual(["notifications/tools/list_changed"]);
    const late = client.callTool({ name: "t" }, { totalTimeoutMs: 60 });
    expect(await caught(late)).toMatchObject({ code: "timeout", delivery: "unknown" });
    await expect.poll(() => server.requests.at(-1)?.method).toBe("notifications/cancelled");
  });

  it.each(["whole", "cut", "reset"] as const)(
    "L-11, F-1: the end of the stream (%s) is that of all calls",
    async (how) => {
      const feed = new EventFeed();
      const server = await serve(
        streaming(feed, ({ method }) => (method === "tools/call" ? answerStatus(202) : undefined)),
      );
      const client = await connect(server.url);
      const open = client.callTool({ name: "t" });
      await expect.poll(() => server.requests.at(-1)?.method).toBe("tools/call");
      feed.end(how);
      const code = how === "whole" ? "stream_ended" : "connection_broken";
      expect(await caught(open)).toMatchObject({ code, delivery: "unknown" });
      const later = client.callTool({ name: "t" });
      expect(await caught(later)).toMatchObject({ code, delivery: "not_sent" });
      expect(deliveryOf(later)).toBe("not_sent");
    },
  );

  it("F-8, L-8: nothing is left after close", async () => {
    const before = await openHandles();
    const feed = new EventFeed();
    const server = await ScriptedServer.start(
      streaming(feed, ({ params }) => (params["name"] === "silent" ? answerStatus(202) : undefined)),
    );
    const client = await LegacySSEClient.connect({ endpoint: server.url, clientInfo });
    await client.callTool({ name: "t" });
    const silent = caught(client.callTool({ name: "silent" }));
    await client.close();
    expect(await silent).toMatchObject({ code: "cancelled" });
    await server.close();
    await expect.poll(openHandles, { timeout: 5_000 }).toEqual(before);
  });

  it("L-11: speaks to server-everything", async () => {
    const { command, args = [] } = published("server-everything");
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const port = Number(Reflect.get(Object(probe.address()), "port"));
    probe.close();
    await once(probe, "close");
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(command, [...args, "sse"], { env, stdio: ["ignore", "ignore", "ignore"] });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await once(child, "close");
    });
    const endpoint = `http://127.0.0.1:${String(port)}/sse`;
    const isUp = (): Promise<boolean> =>
      fetch(`${endpoint}x`).then(
        () => true,
        () => false,
      );
    await expect.poll(isUp, { timeout: 15_000 }).toBe(true);
    const client = await connect(endpoint);
    expect(client.serverInfo?.name).toContain("everything");
    expect((await client.listAllTools()).tools.length).toBeGreaterThan(5);
    const seen: number[] = [];
    await client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 0.4, steps: 4 } },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(seen).toEqual([1, 2, 3, 4]);
  }, 30_000);
});
