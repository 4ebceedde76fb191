import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import { createServer as createNetServer } from "node:net";
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type EventStore, StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { caught, connectHttp } from "./http-parties.js";
import { published } from "./servers.js";

function portOf(server: { address(): unknown }): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server does not listen.");
  return Number(Reflect.get(address, "port"));
}

/** The events of all streams, in order. */
class Events implements EventStore {
  readonly #events: { readonly streamId: string; readonly message: Parameters<EventStore["storeEvent"]>[1] }[] = [];

  storeEvent: EventStore["storeEvent"] = async (streamId, message) => {
    this.#events.push({ streamId, message });
    return String(this.#events.length - 1);
  };

  replayEventsAfter: EventStore["replayEventsAfter"] = async (lastEventId, { send }) => {
    const streamId = this.#events[Number(lastEventId)]?.streamId ?? "";
    for (const [index, event] of this.#events.entries()) {
      if (index > Number(lastEventId) && event.streamId === streamId) await send(String(index), event.message);
    }
    return streamId;
  };
}

/** The official server of these revisions. */
class OfficialServer {
  readonly #sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly #http: HttpServer;
  readonly cancelled: unknown[] = [];
  initializes = 0;

  private constructor(isJson: boolean) {
    this.#http = createServer((request, response) => {
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? this.#sessions.get(id) : undefined;
      if (id !== undefined && known === undefined) {
        response.writeHead(404, { "Content-Type": "application/json" });
        response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
        return;
      }
      void (known === undefined ? this.#open(isJson) : Promise.resolve(known)).then((transport) =>
        transport.handleRequest(request, response),
      );
    });
  }

  static async start({ isJson = false } = {}): Promise<OfficialServer> {
    const server = new OfficialServer(isJson);
    server.#http.listen(0, "127.0.0.1");
    await once(server.#http, "listening");
    onTestFinished(() => {
      server.#http.closeAllConnections();
      server.#http.close();
    });
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${String(portOf(this.#http))}/mcp`;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  forget(): void {
    this.#sessions.clear();
  }

  async #open(isJson: boolean): Promise<StreamableHTTPServerTransport> {
    this.initializes += 1;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: isJson,
      eventStore: new Events(),
      retryInterval: 20,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = new McpServer({ name: "official", version: "1" }, { capabilities: { logging: {} } });
    server.registerTool("polled", {}, async ({ requestId, closeSSEStream }) => {
      closeSSEStream?.();
      await new Promise((resolve) => setTimeout(resolve, 80));
      return { content: [{ type: "text", text: String(requestId) }] };
    });
    server.registerTool("slow", {}, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      this.cancelled.push(signal.reason);
      return { content: [] };
    });
    server.registerTool("grow", {}, () => {
      server.registerTool("grown", {}, () => ({ content: [] }));
      return { content: [{ type: "text", text: "grown" }] };
    });
    // Its own type says that callbacks may be undefined, which exact optional types don't let pass.
    await server.connect(
      Object.assign(transport, { onclose: () => undefined, onerror: () => undefined, onmessage: () => undefined }),
    );
    return transport;
  }
}

describe("LegacyStreamableHTTPClient with the official server", () => {
  it.each([false, true])("L-1, L-8: a whole conversation (JSON answers: %s)", async (isJson) => {
    const server = await OfficialServer.start({ isJson });
    const heard: string[] = [];
    const { client, diagnostics } = await connectHttp(server.url, {
      onNotification: ({ method }) => heard.push(method),
    });
    expect([client.revision, client.serverInfo?.name]).toEqual(["2025-11-25", "official"]);
    const { tools } = await client.listAllTools();
    expect(tools.map(({ name }) => name)).toEqual(["polled", "slow", "grow"]);
    await expect(client.callTool({ name: "grow" })).resolves.toMatchObject({ content: [{ text: "grown" }] });
    await expect.poll(() => heard).toContain("notifications/tools/list_changed");
    await client.setLogLevel("error");
    await client.ping();
    expect(diagnostics).toEqual([]);
    await client.close();
    expect(server.sessions).toBe(0);
  });

  it("L-5: a stream that the server closes to be polled is taken up again", async () => {
    const server = await OfficialServer.start();
    const { client } = await connectHttp(server.url);
    const calls = Array.from({ length: 5 }, () => client.callTool({ name: "polled" }));
    const results = await Promise.all(calls);
    expect(new Set(results.map(({ content }) => content?.[0]?.["text"])).size).toBe(5);
  });

  it("L-7: a call that is given up is ended on the server", async () => {
    const server = await OfficialServer.start();
    const { client } = await connectHttp(server.url);
    expect(await caught(client.callTool({ name: "slow" }, { totalTimeoutMs: 100 }))).toMatchObject({ code: "timeout" });
    await expect.poll(() => server.cancelled).toHaveLength(1);
    await client.ping();
  });

  it("L-3: after a restart of the server the next call goes through, with a new session and its listening stream", async () => {
    const server = await OfficialServer.start();
    const heard: string[] = [];
    const { client } = await connectHttp(server.url, { onNotification: ({ method }) => heard.push(method) });
    server.forget();
    await Promise.all([client.listAllTools(), client.ping(), client.callTool({ name: "polled" })]);
    expect(server.initializes).toBe(2);
    await client.callTool({ name: "grow" });
    await expect.poll(() => heard).toContain("notifications/tools/list_changed");
  });
});

async function freePort(): Promise<number> {
  const probe = createNetServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const port = portOf(probe);
  probe.close();
  await once(probe, "close");
  return port;
}

describe("LegacyStreamableHTTPClient with server-everything", () => {
  it("W-18, L-7, L-8: lists, calls, hears progress, gives up, and ends its session", async () => {
    const { command, args = [] } = published("server-everything");
    const port = await freePort();
    const child = spawn(command, [...args, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await once(child, "close");
    });
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += String(chunk)));
    const endpoint = `http://127.0.0.1:${String(port)}/mcp`;
    await expect
      .poll(
        () =>
          fetch(endpoint).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 15_000 },
      )
      .toBeGreaterThan(0);
    const { client } = await connectHttp(endpoint, { onNotification: () => undefined });
    expect(client.serverInfo?.name).toContain("everything");
    const [tools, prompts, resources, templates] = await Promise.all([
      client.listAllTools(),
      client.listAllPrompts(),
      client.listAllResources(),
      client.listAllResourceTemplates(),
    ]);
    expect(tools.tools.length).toBeGreaterThan(5);
    expect(prompts.entries.length).toBeGreaterThan(0);
    expect(resources.entries.length + templates.entries.length).toBeGreaterThan(0);
    const echoed = await client.callTool({ name: "echo", arguments: { message: "hello" } });
    expect(echoed.content).toMatchObject([{ type: "text", text: expect.stringContaining("hello") }]);
    const seen: number[] = [];
    await client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 0.4, steps: 4 } },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(seen).toEqual([1, 2, 3, 4]);
    const long = { name: "trigger-long-running-operation", arguments: { duration: 30, steps: 3 } };
    expect(await caught(client.callTool(long, { totalTimeoutMs: 100 }))).toMatchObject({ code: "timeout" });
    await client.ping();
    await client.close();
    await expect.poll(() => log.toLowerCase()).toContain("session termination");
  }, 30_000);
});
