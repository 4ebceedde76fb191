import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
  type NotifyOptions,
} from "../../../src/modern-client/index.js";
import { createFetchExchange } from "../../../src/transport/index.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, type RawRequest, RawServer } from "../../support/raw-server.js";

const opened = new Opened();
afterEach(opened.close);

const METHOD = "notifications/example/told";
const rpcRefusal = JSON.stringify({ jsonrpc: "2.0", error: { code: -32600, message: "no", data: { why: 1 } } });

describe.each(["undici", "fetch"])("a notification over %s", (kind) => {
  function connect(server: RawServer, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
    const { origin } = new URL(server.url);
    const exchange = kind === "fetch" ? createFetchExchange({ origin, fetch: globalThis.fetch }) : undefined;
    const clientInfo = { name: "test", version: "1" };
    const client = new ModernStreamableHTTPClient({ endpoint: server.url, clientInfo, exchange, ...options });
    opened.push(client);
    return client;
  }

  async function sendTo(answer: (request: RawRequest) => Buffer | string, options?: NotifyOptions) {
    const server = await opened.serve((request) => request.socket.write(answer(request)));
    const told: unknown[] = [];
    const onSettled = (settled: unknown): void => void told.push(settled);
    const sending = connect(server).notify(METHOD, { a: 1 }, { ...options, onSettled });
    return { server, sending, told };
  }

  it("W-7, W-2: is one POST without an id, with the fixed headers and only the caller's _meta", async () => {
    const server = await opened.serve(({ socket }) => socket.write(httpAnswer("", { status: 202 })));
    const client = connect(server);
    await client.notify(METHOD, { a: 1, _meta: { "example.com/a": 1 } }, { meta: { traceparent: "00-1" } });
    await client.notify(METHOD);
    const [full, bare] = server.requests;
    expect(JSON.parse(full?.body ?? "")).toEqual({
      jsonrpc: "2.0",
      method: METHOD,
      params: { a: 1, _meta: { "example.com/a": 1, traceparent: "00-1" } },
    });
    expect(JSON.parse(bare?.body ?? "")).toEqual({ jsonrpc: "2.0", method: METHOD });
    expect(full?.header("content-type")).toBe("application/json");
    expect(full?.header("accept")).toBe("application/json, text/event-stream");
    expect(full?.header("mcp-protocol-version")).toBe("2026-07-28");
    expect(full?.header("mcp-method")).toBe(METHOD);
    expect(full?.header("mcp-name")).toBeUndefined();
  });

  it.each([
    [200, "", undefined],
    [200, "null", undefined],
    [200, "<html>", "text/html"],
    [200, rpcRefusal, undefined],
    [200, "data: {}\n\n", "text/event-stream"],
    [202, "", undefined],
    [202, "thank you", "text/plain"],
    [204, "", undefined],
    [299, "x".repeat(200_000), "text/plain"],
  ])("W-7: %i with %.10j is taken, and its body not read", async (status, body, type) => {
    const answer =
      status === 204
        ? Buffer.from("HTTP/1.1 204 No Content\r\n\r\n")
        : httpAnswer(body, type === undefined ? { status } : { status, type });
    const { sending, told } = await sendTo(() => answer);
    await expect(sending).resolves.toBeUndefined();
    expect(told).toEqual([{ outcome: "resolved", delivery: "answered" }]);
  });

  it("W-7, F-10: a body without an end holds neither the call nor its connection nor a turn", async () => {
    const server = await opened.serve(({ socket }) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    });
    const client = connect(server, { maxConcurrentRequests: 1 });
    for (let i = 0; i < 12; i += 1) await client.notify(METHOD);
    const isHeld = (): boolean => server.requests.some(({ socket }) => !socket.destroyed);
    await expect.poll(isHeld, { timeout: 3_000 }).toBe(false);
  });

  it.each([
    [400, rpcRefusal, "peer_error", "answered"],
    [500, rpcRefusal, "peer_error", "answered"],
    [403, "no", "unexpected_answer", "answered"],
    [503, "later", "unexpected_answer", "unknown"],
  ] as const)("W-7, W-8: %i with %.14j is an error and not repeated", async (status, body, code, delivery) => {
    const { sending, server, told } = await sendTo(() => httpAnswer(body, { status }));
    await expect(sending).rejects.toMatchObject({ code, delivery, details: { evidence: { attempts: 1 } } });
    expect(told).toMatchObject([{ outcome: "rejected", delivery }]);
    expect(server.requests).toHaveLength(1);
  });

  it("W-7, F-2: a connection that breaks before the answer leaves it unknown", async () => {
    const { sending, server } = await sendTo(({ socket }) => {
      socket.destroy();
      return "";
    });
    await expect(sending).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
    expect(server.requests).toHaveLength(1);
  });

  it("W-7, F-2: an abort ends it with the signal's reason, a deadline with its name", async () => {
    const controller = new AbortController();
    const { sending, server } = await sendTo(() => "", { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort("enough");
    await expect(sending).rejects.toBe("enough");
    expect(deliveryOf(sending)).toBe("unknown");
    const late = connect(server).notify(METHOD, {}, { totalTimeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "total" } });
  });

  it("W-7: what is not admitted, misspelt or no notification is not sent", async () => {
    const server = await opened.serve(() => undefined);
    const client = connect(server);
    const refused = client.notify(METHOD, {}, { admit: () => "fenced" });
    await expect(refused).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    const misspelt: object = { sginal: undefined };
    await expect(client.notify(METHOD, {}, misspelt)).rejects.toMatchObject({ code: "invalid_options" });
    await expect(client.notify("no method")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(client.notify(METHOD, { n: 1n })).rejects.toMatchObject({ code: "invalid_argument" });
    await client.close();
    await expect(client.notify(METHOD)).rejects.toMatchObject({ code: "cancelled", delivery: "not_sent" });
    expect(server.requests).toHaveLength(0);
  });
});

describe("a notification to nobody", () => {
  it("W-7: is tried twice when no connection can be made", async () => {
    const server = await RawServer.start(() => undefined);
    await server.close();
    const client = new ModernStreamableHTTPClient({ endpoint: server.url, clientInfo: false });
    opened.push(client);
    await expect(client.notify(METHOD)).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { evidence: { attempts: 2 } },
    });
  });
});
