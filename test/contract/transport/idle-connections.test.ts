import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import { Http2Server, respondResult } from "../../support/http2-server.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawRequest } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

function connect(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const made = new ModernStreamableHTTPClient({ endpoint, clientInfo: { name: "test", version: "1" }, ...options });
  opened.push(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };
const works = { content: [] };
const RESULTS: Readonly<Record<string, object>> = {
  "tools/list": { tools: [], ttlMs: 0, cacheScope: "private" },
  "tools/call": works,
};

function ok(request: RawRequest, headers = ""): void {
  const { method }: { readonly method: string } = JSON.parse(request.body);
  const message = { jsonrpc: "2.0", id: idOf(request), result: RESULTS[method] };
  request.socket.write(httpAnswer(JSON.stringify(message), { headers }));
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe("F-12: idle connections", () => {
  /** How long after its answer the server sees the end of the client's connection, which it would never close itself. */
  async function idleTime(keepAlive: string): Promise<number> {
    let ended: ((ms: number) => void) | undefined;
    const end = new Promise<number>((resolve) => (ended = resolve));
    const server = await serve((request) => {
      ok(request, keepAlive);
      const answeredAt = performance.now();
      request.socket.on("end", () => ended?.(performance.now() - answeredAt));
    });
    await connect(server.url).callTool(call, { contract });
    return end;
  }

  async function idleTimeOverHttp2(): Promise<number> {
    let answeredAt = 0;
    const server = await Http2Server.start({
      answer(request) {
        respondResult(request);
        answeredAt = performance.now();
      },
    });
    opened.push(server);
    await connect(server.url, { ca: AUTHORITY, http2: true }).callTool(call, { contract });
    await expect.poll(() => server.openSockets, { timeout: 8_000, interval: 20 }).toBe(0);
    return performance.now() - answeredAt;
  }

  it("are dropped a second before the server's Keep-Alive says, and after four seconds when it says nothing", async () => {
    const [two, three, silent, http2] = await Promise.all([
      idleTime("Keep-Alive: timeout=2, max=100\r\n"),
      idleTime("Keep-Alive: timeout=3\r\n"),
      idleTime(""),
      idleTimeOverHttp2(),
    ]);
    for (const [ms, least] of [
      [two, 1_000],
      [three, 2_000],
      [silent, 4_000],
      [http2, 4_000],
    ] as const) {
      expect(ms).toBeGreaterThan(least - 100);
      expect(ms).toBeLessThan(least + 1_000);
    }
  });

  it("one that would end within a second is not used again", async () => {
    const server = await serve((request) => ok(request, "Keep-Alive: timeout=1\r\n"));
    const client = connect(server.url);
    await client.callTool(call, { contract });
    await settled();
    await client.callTool(call, { contract });
    expect(server.connections).toBe(2);
  });

  it("of a real server go before its own timer does", async () => {
    const sockets: Socket[] = [];
    const server: Server = createServer({ keepAliveTimeout: 2_000 }, (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { id }: { readonly id: number } = JSON.parse(body);
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: works }));
      });
    });
    let timeouts = 0;
    server.on("timeout", () => (timeouts += 1));
    server.on("connection", (socket: Socket) => sockets.push(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await connect(`http://127.0.0.1:${String(port)}/`).callTool(call, { contract });
    const [socket] = sockets;
    expect(socket?.readableEnded).toBe(false);
    await expect.poll(() => socket?.readableEnded, { timeout: 3_000 }).toBe(true);
    expect(timeouts).toBe(0);
  });
});

describe.each(EXCHANGES)("F-12: over $name, a pooled connection that the server closes", ({ name, create }) => {
  it("while it is idle costs neither a read nor a call anything", async () => {
    const server = await serve((request) => {
      ok(request);
      setTimeout(() => request.socket.end(), 5);
    });
    const client = connect(server.url, { exchange: create(server.url) });
    for (let i = 0; i < 3; i += 1) {
      await expect(client.listTools()).resolves.toMatchObject({ tools: [] });
      await settled();
      await expect(client.callTool(call, { contract })).resolves.toEqual(works);
      await settled();
    }
    expect(server.requests).toHaveLength(6);
    expect(server.connections).toBe(6);
  });

  it.each(["end", "reset"])(
    "(%s) as the request arrives makes a read again, and leaves a call unknown, once",
    async (how) => {
      const used = new Set<Socket>();
      const server = await serve((request) => {
        if (!used.has(request.socket)) ok(request);
        else if (how === "end") request.socket.end();
        else request.socket.resetAndDestroy();
        used.add(request.socket);
      });
      const client = connect(server.url, { exchange: create(server.url), random: () => 0 });
      await client.callTool(call, { contract });
      await settled();
      await expect(client.listTools()).resolves.toMatchObject({ tools: [] });
      await settled();
      const before = server.requests.length;
      await expect(client.callTool(call, { contract })).rejects.toMatchObject({
        code: "connection_broken",
        delivery: "unknown",
      });
      expect(server.requests).toHaveLength(before + 1);
      // The process-wide pool of fetch may hold further connections that were used.
      if (name === "undici") await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    },
  );
});
