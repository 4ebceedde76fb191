import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, RawServer } from "../../support/raw-server.js";
import { EXCHANGES, type ExchangeKind } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

function connectOver(
  create: ExchangeKind["create"],
  endpoint: string,
  options: Partial<ModernStreamableHTTPClientOptions> = {},
) {
  const client = new ModernStreamableHTTPClient({
    endpoint,
    exchange: create(endpoint),
    clientInfo: { name: "test", version: "1" },
    ...options,
  });
  opened.push(client);
  return client;
}

const ok = (id: number): Buffer => httpAnswer(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[]}}`);
const call = { name: "t" };
const contract = { parameters: [] };
const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const progress = (token: unknown, value: number): string =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, progress: value } })}\n\n`;

/** Answers that stop on the way, by how far they get. */
const STALLS: Record<string, (id: number) => string> = {
  "before the head": () => "",
  "inside the head": () => "HTTP/1.1 200 OK\r\nContent-",
  "inside a JSON body": () =>
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"jsonrpc"',
  "inside a stream": (id) => streamHead + chunk(progress(id, 1)),
};

describe.each(EXCHANGES)("over $name", ({ create, sharedConnections }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) =>
    connectOver(create, endpoint, options);

  describe("F-2: a caller's abort", () => {
    it.each(Object.keys(STALLS))("%s rejects at once with the caller's own reason, and is unknown", async (stall) => {
      let arrived: (() => void) | undefined;
      const arrival = new Promise<void>((resolve) => (arrived = resolve));
      const server = await serve((request) => {
        request.socket.write(STALLS[stall]?.(idOf(request)) ?? "");
        setTimeout(() => arrived?.(), 20);
      });
      const client = connect(server.url);
      const controller = new AbortController();
      const promise = client.callTool(call, { contract, signal: controller.signal, onProgress: () => undefined });
      await arrival;
      const reason = { mine: true };
      controller.abort(reason);
      const caught: unknown = await promise.catch((error: unknown) => error);
      expect(caught).toBe(reason);
      expect(deliveryOf(promise)).toBe("unknown");
      expect(deliveryOf(reason)).toBe("unknown");
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
      await expect.poll(() => server.requests[0]?.socket.destroyed).toBe(true);
    });

    it("before the call is not_sent, and nothing reaches the server", async () => {
      const server = await serve((request) => request.socket.write(ok(idOf(request))));
      const promise = connect(server.url).callTool(call, { contract, signal: AbortSignal.abort("no") });
      await expect(promise).rejects.toBe("no");
      expect(deliveryOf(promise)).toBe("not_sent");
      expect(server.connections).toBe(0);
    });

    it("while it waits for its turn is not_sent", async () => {
      const server = await serve(() => undefined);
      const client = connect(server.url, { maxConcurrentRequests: 1 });
      const first = client.callTool(call, { contract });
      first.catch(() => undefined);
      const controller = new AbortController();
      const second = client.callTool(call, { contract, signal: controller.signal });
      controller.abort(0);
      await expect(second).rejects.toBe(0);
      expect(deliveryOf(second)).toBe("not_sent");
      await client.close();
      await expect(first).rejects.toMatchObject({ code: "cancelled" });
      expect(server.requests.length).toBeLessThanOrEqual(1);
    });

    it("while the authorizer thinks is not_sent, and its late answer sends nothing", async () => {
      const server = await serve((request) => request.socket.write(ok(idOf(request))));
      let authorized: ((headers: Record<string, string>) => void) | undefined;
      const client = connect(server.url, { authorize: () => new Promise((resolve) => (authorized = resolve)) });
      const controller = new AbortController();
      const promise = client.callTool(call, { contract, signal: controller.signal });
      controller.abort("changed my mind");
      await expect(promise).rejects.toBe("changed my mind");
      expect(deliveryOf(promise)).toBe("not_sent");
      authorized?.({ Authorization: "Bearer late" });
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(server.connections).toBe(0);
    });

    it("of many calls by one signal leaves no listener and no warning", async () => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      process.on("warning", onWarning);
      const server = await serve(() => undefined);
      const client = connect(server.url);
      const controller = new AbortController();
      const calls = Array.from({ length: 40 }, () => client.callTool(call, { contract, signal: controller.signal }));
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
      await expect.poll(() => server.requests.length).toBe(40);
      controller.abort("all");
      for (const promise of calls) await expect(promise).rejects.toBe("all");
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
      await new Promise((resolve) => setImmediate(resolve));
      process.off("warning", onWarning);
      expect(warnings).toEqual([]);
    });
  });

  describe("F-7: deadlines", () => {
    it.each(Object.keys(STALLS))("a server that goes silent %s meets the idle deadline, unknown", async (stall) => {
      const server = await serve((request) => request.socket.write(STALLS[stall]?.(idOf(request)) ?? ""));
      const promise = connect(server.url).callTool(call, { contract, idleTimeoutMs: 60 });
      await expect(promise).rejects.toMatchObject({
        code: "timeout",
        delivery: "unknown",
        details: { phase: "idle", option: "idleTimeoutMs", limitMs: 60, evidence: { handedOver: true } },
      });
      await expect.poll(() => server.requests[0]?.socket.destroyed).toBe(true);
    });

    it("W-18: progress keeps a call alive past its idle deadline; the total deadline stands", async () => {
      const server = await serve((request) => {
        const id = idOf(request);
        request.socket.write(streamHead);
        let value = 0;
        const timer = setInterval(() => request.socket.write(chunk(progress(id, (value += 1)))), 20);
        request.socket.on("close", () => clearInterval(timer));
      });
      const seen: number[] = [];
      const promise = connect(server.url).callTool(call, {
        contract,
        idleTimeoutMs: 80,
        totalTimeoutMs: 300,
        onProgress: ({ progress: value }) => seen.push(value),
      });
      await expect(promise).rejects.toMatchObject({
        code: "timeout",
        delivery: "unknown",
        details: { phase: "total", option: "totalTimeoutMs" },
      });
      expect(seen.length).toBeGreaterThan(4);
    });

    it("a call that never gets its turn is not_sent at its total deadline", async () => {
      const server = await serve(() => undefined);
      const client = connect(server.url, { maxConcurrentRequests: 1 });
      client.callTool(call, { contract }).catch(() => undefined);
      await expect(client.callTool(call, { contract, totalTimeoutMs: 50 })).rejects.toMatchObject({
        code: "timeout",
        delivery: "not_sent",
        details: { phase: "total" },
      });
    });
  });

  describe("F-1: failures of the connection", () => {
    it("nobody listens: connect_failed, not_sent, after one more attempt with a new id", async () => {
      const server = await RawServer.start(() => undefined);
      const { url } = server;
      await server.close();
      await expect(connect(url).callTool(call, { contract })).rejects.toMatchObject({
        code: "connect_failed",
        delivery: "not_sent",
        details: { reason: "ECONNREFUSED", evidence: { handedOver: false, attempts: 2 } },
      });
    });

    it("no HTTP in the answer: connection_broken, unknown", async () => {
      const server = await serve((request) => request.socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
      await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
        code: "connection_broken",
        delivery: "unknown",
      });
    });

    it("the client closes: cancelled, by how far each call got, and it stays closed", async () => {
      const server = await serve(() => undefined);
      const client = connect(server.url, { maxConcurrentRequests: 1 });
      const sent = client.callTool(call, { contract });
      const queued = client.callTool(call, { contract });
      const outcomes = Promise.allSettled([sent, queued]);
      await expect.poll(() => server.requests.length).toBe(1);
      await client.close();
      const deliveries = (await outcomes).map((o) => (o.status === "rejected" ? deliveryOf(o.reason) : "none"));
      expect(deliveries).toEqual(["unknown", "not_sent"]);
      await expect(client.callTool(call, { contract })).rejects.toMatchObject({
        code: "cancelled",
        delivery: "not_sent",
      });
      await client.close();
    });
  });

  describe("F-3: limits", () => {
    const body = (id: number, size: number): string =>
      `{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[],"pad":"${"x".repeat(size)}"}}`;

    it.each([
      ["maxBodyBytes", { maxBodyBytes: 2_000 }, (id: number) => httpAnswer(body(id, 5_000))],
      [
        "maxEventBytes",
        { maxEventBytes: 2_000 },
        (id: number) => httpAnswer(`data: ${body(id, 5_000)}\n\n`, { type: "text/event-stream" }),
      ],
      [
        "maxStreamBytes",
        { maxStreamBytes: 2_000 },
        (id: number) => httpAnswer(`: ${"x".repeat(5_000)}\n\ndata: ${body(id, 1)}\n\n`, { type: "text/event-stream" }),
      ],
    ] as const)("F-10: %s ends that call only, and names the option", async (option, limits, answer) => {
      let big = true;
      const server = await serve((request) => request.socket.write(big ? answer(idOf(request)) : ok(idOf(request))));
      const client = connect(server.url, limits);
      await expect(client.callTool(call, { contract })).rejects.toMatchObject({
        code: "limit_exceeded",
        delivery: "unknown",
        details: { option, limit: 2_000 },
      });
      big = false;
      await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [] });
    });

    it("F-10: a length above the limit fails the call with the head, before anything of the body comes", async () => {
      const head = "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n";
      const server = await serve((request) => void request.socket.write(head));
      const client = connect(server.url, { maxBodyBytes: 2_000 });
      await expect(client.callTool(call, { contract })).rejects.toMatchObject({
        code: "limit_exceeded",
        delivery: "unknown",
        details: { option: "maxBodyBytes", limit: 2_000, evidence: { headersSeen: true } },
      });
      await expect.poll(() => server.requests[0]?.socket.destroyed).toBe(true);
    });

    it("a full queue refuses with maxQueuedRequests, not_sent", async () => {
      const server = await serve(() => undefined);
      const client = connect(server.url, { maxConcurrentRequests: 1, maxQueuedRequests: 1 });
      client.callTool(call, { contract }).catch(() => undefined);
      client.callTool(call, { contract }).catch(() => undefined);
      await expect(client.callTool(call, { contract })).rejects.toMatchObject({
        code: "limit_exceeded",
        delivery: "not_sent",
        details: { option: "maxQueuedRequests" },
      });
    });

    it("W-8: an endless failed body is cut at maxErrorBodyBytes and still tells its status", async () => {
      const server = await serve((request) => {
        request.socket.write(
          "HTTP/1.1 503 X\r\nContent-Type: text/html\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        const timer = setInterval(() => request.socket.write(chunk("<p>no</p>\u0007".repeat(200))), 1);
        request.socket.on("close", () => clearInterval(timer));
      });
      await expect(
        connect(server.url, { maxErrorBodyBytes: 4_000 }).callTool(call, { contract }),
      ).rejects.toMatchObject({
        code: "unexpected_answer",
        delivery: "unknown",
        details: {
          status: 503,
          mediaType: "text/html",
          retryAfter: "7",
          snippet: expect.not.stringContaining("\u0007"),
        },
      });
      await expect.poll(() => server.requests[0]?.socket.destroyed).toBe(true);
    });
  });

  describe("H-14: admit", () => {
    it("is asked synchronously before the first byte, and its refusal sends nothing", async () => {
      const server = await serve((request) => request.socket.write(ok(idOf(request))));
      const client = connect(server.url);
      await expect(client.callTool(call, { contract, admit: () => "the route is fenced" })).rejects.toMatchObject({
        code: "not_admitted",
        delivery: "not_sent",
        details: { reason: "the route is fenced" },
      });
      await expect(client.callTool(call, { contract, admit: () => undefined })).resolves.toEqual({ content: [] });
      expect(server.requests).toHaveLength(1);
    });
  });

  describe("authorize", () => {
    it("is called once for each request, sync or async, and its headers are on the wire", async () => {
      const server = await serve((request) => request.socket.write(ok(idOf(request))));
      let calls = 0;
      const client = connect(server.url, {
        authorize: ({ method, attempt, url }) => {
          calls += 1;
          const headers = {
            Authorization: `Bearer ${String(calls)} ${method} ${String(attempt)} ${new URL(url).pathname}`,
          };
          return calls === 1 ? headers : Promise.resolve(headers);
        },
      });
      await client.callTool(call, { contract });
      await client.callTool(call, { contract });
      const seen = server.requests.map((request) => request.header("authorization"));
      expect(seen).toEqual(["Bearer 1 tools/call 1 /mcp", "Bearer 2 tools/call 1 /mcp"]);
    });

    it.each([
      [
        "throws",
        () => {
          throw new Error("locked keychain");
        },
        "authorize_failed",
      ],
      ["rejects", () => Promise.reject(new Error("locked keychain")), "authorize_failed"],
      ["gives a reserved header", () => ({ "Mcp-Method": "tools/list" }), "invalid_header"],
      ["gives a value with a line break", () => ({ Authorization: "a\r\nX: b" }), "invalid_header"],
    ])("F-17: one that %s sends nothing, and does not show the value", async (_, authorize, code) => {
      const server = await serve((request) => request.socket.write(ok(idOf(request))));
      const client = connect(server.url, { authorize });
      const error: unknown = await client.callTool(call, { contract }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code, delivery: "not_sent" });
      expect(JSON.stringify(error)).not.toContain("X: b");
      expect(server.connections).toBe(0);
    });
  });

  describe("F-8: nothing is left", () => {
    it("after 2,000 calls that end in every way: no listener, no timer, no socket beyond the pool", async () => {
      let turn = 0;
      const server = await serve((request) => {
        turn += 1;
        if (turn % 4 === 0) request.socket.destroy();
        else if (turn % 4 === 1) request.socket.write(ok(idOf(request)));
        else if (turn % 4 === 2) request.socket.write(streamHead + chunk(progress(idOf(request), 1)));
      });
      const client = connect(server.url, { maxConcurrentRequests: 16, maxQueuedRequests: 2_000 });
      const controller = new AbortController();
      const before = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
      const calls = Array.from({ length: 2_000 }, (_, index) => {
        const aborting = new AbortController();
        const promise = client.callTool(call, {
          contract,
          signal: index % 2 === 0 ? controller.signal : aborting.signal,
          idleTimeoutMs: 30,
          onProgress: () => aborting.abort(),
        });
        return promise.then(
          () => "answered",
          (error: unknown) => deliveryOf(error),
        );
      });
      const outcomes = new Set(await Promise.all(calls));
      expect(outcomes).toEqual(new Set(["answered", "unknown"]));
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
      await client.close();
      await expect.poll(() => server.openSockets).toBeLessThanOrEqual(sharedConnections);
      const after = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
      expect(after).toBeLessThanOrEqual(before + Math.min(1, sharedConnections));
    });
  });
});
