import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { HttpEndpoint, httpGet, resolveTransportOptions } from "../../../src/transport/index.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf, type RawRequest } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

const call = { name: "t", arguments: { a: 1 } };
const contract = { parameters: [] };
const pathOf = (request: RawRequest): string => request.head.split(" ")[1] ?? "";
const ok = (request: RawRequest): void =>
  void request.socket.write(httpAnswer(`{"jsonrpc":"2.0","id":${String(idOf(request))},"result":{"content":[]}}`));
const to = (location: string, status = 307, body = ""): Buffer =>
  httpAnswer(body, { status, type: "text/html", headers: `Location: ${location}\r\n` });
const failed = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe.each(EXCHANGES)("F-14: redirects over $name", ({ create }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, exchange: create(endpoint), ...options });
    opened.push(made);
    return made;
  };

  it.each([307, 308])("%i within the origin is followed with method, body and headers", async (status) => {
    const server = await serve((request) => {
      if (pathOf(request) === "/moved?x=1") ok(request);
      else request.socket.write(to("/moved?x=1#f", status, "<p>moved</p>"));
    });
    const asked: string[] = [];
    const admitted: string[] = [];
    const client = connect(server.url, {
      headers: { "X-Mine": "1" },
      authorize: ({ url }) => {
        asked.push(url);
        return { Authorization: "Bearer one" };
      },
    });
    const admit = (): undefined => void admitted.push("asked");
    await expect(client.callTool(call, { contract, admit })).resolves.toEqual({ content: [] });
    const [first, second] = server.requests;
    expect(second?.body).toBe(first?.body);
    expect(second?.head.split("\r\n").slice(1).toSorted()).toEqual(first?.head.split("\r\n").slice(1).toSorted());
    expect(second?.head).toMatch(/^POST \/moved\?x=1 /);
    expect(second?.header("authorization")).toBe("Bearer one");
    expect(asked).toEqual([server.url]);
    expect(admitted).toEqual(["asked", "asked"]);
  });

  it("in whatever coding its body is, that of a redirect is not read", async () => {
    const server = await serve((request) => {
      if (pathOf(request) === "/moved") ok(request);
      else {
        const headers = "Location: /moved\r\nContent-Encoding: x-unknown\r\n";
        request.socket.write(httpAnswer("moved", { status: 307, headers }));
      }
    });
    await expect(connect(server.url).callTool(call, { contract })).resolves.toEqual({ content: [] });
  });

  it("a blob: URL has the origin of its path, and is not followed", async () => {
    const server = await serve((request) => request.socket.write(to(`blob:${new URL(server.url).origin}/moved`)));
    await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("three in a row, each from where the last one led; the fourth is refused", async () => {
    let hops = 3;
    const server = await serve((request) => {
      const at = /^\/mcp\/?(\d*)/.exec(pathOf(request))?.[1] ?? "";
      const next = at === "" ? 1 : Number(at) + 1;
      if (next > hops) ok(request);
      else request.socket.write(to(at === "" ? "mcp/1" : String(next)));
    });
    const client = connect(server.url);
    await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [] });
    expect(server.requests.map(pathOf)).toEqual(["/mcp", "/mcp/1", "/mcp/2", "/mcp/3"]);
    hops = 9;
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
    });
    expect(server.requests).toHaveLength(8);
  });

  it.each([301, 302, 303])("%i is refused, and nothing more is sent", async (status) => {
    const server = await serve((request) => void request.socket.write(to("/mcp/", status)));
    const error = await failed(connect(server.url).callTool(call, { contract }));
    expect(error).toMatchObject({ code: "redirect_refused", delivery: "answered", details: { status } });
    expect(server.requests).toHaveLength(1);
  });

  it("another origin gets nothing, whatever the status", async () => {
    const elsewhere = await serve(ok);
    const server = await serve((request) => void request.socket.write(to(elsewhere.url)));
    const client = connect(server.url, { headers: { Authorization: "Bearer secret" } });
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({ code: "redirect_refused" });
    expect(elsewhere.connections).toBe(0);
  });

  it("a read of a resource follows none", async () => {
    const server = await serve((request) => void request.socket.write(to("/other")));
    const config = resolveTransportOptions({ exchange: create(server.url) });
    const endpoint = new HttpEndpoint(new URL(server.url), config, undefined);
    opened.push(endpoint);
    expect((await httpGet(endpoint)).status).toBe(307);
    expect(server.requests).toHaveLength(1);
  });

  it("F-1: a redirect that is cut is followed once its head is whole, else unknown, at every byte", async () => {
    const answer = to("/moved", 307, "moved");
    let at = 0;
    const server = await serve((request) => {
      if (pathOf(request) === "/moved") ok(request);
      else if (at === 0) request.socket.end();
      else request.socket.write(answer.subarray(0, at), () => setImmediate(() => request.socket.end()));
    });
    const client = connect(server.url);
    for (; at < answer.length; at += 1) {
      const outcome = await failed(client.callTool(call, { contract }));
      const whole = at >= answer.indexOf("\r\n\r\n") + 4;
      expect(outcome, `cut at ${String(at)}`).toMatchObject(whole ? { content: [] } : { delivery: "unknown" });
    }
  });

  it("F-10: a redirect whose body has no end is followed all the same", async () => {
    const server = await serve((request) => {
      if (pathOf(request) === "/moved") {
        ok(request);
        return;
      }
      request.socket.write("HTTP/1.1 307 X\r\nLocation: /moved\r\nTransfer-Encoding: chunked\r\n\r\n");
      const timer = setInterval(() => request.socket.write(`400\r\n${"x".repeat(1_024)}\r\n`), 1);
      request.socket.on("close", () => clearInterval(timer));
    });
    const client = connect(server.url, { maxErrorBodyBytes: 4_000 });
    await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [] });
    await expect.poll(() => server.requests[0]?.socket.destroyed).toBe(true);
  });

  it.each(["", "half"])("F-7: a redirect whose body stalls after %j is followed all the same", async (beginning) => {
    const server = await serve((request) => {
      if (pathOf(request) === "/moved") ok(request);
      else request.socket.write(`HTTP/1.1 307 X\r\nLocation: /moved\r\nContent-Length: 9\r\n\r\n${beginning}`);
    });
    const client = connect(server.url);
    for (const idleTimeoutMs of [400, 60_000]) {
      await expect(client.callTool(call, { contract, idleTimeoutMs })).resolves.toEqual({ content: [] });
    }
    expect(server.requests.map(pathOf)).toEqual(["/mcp", "/moved", "/mcp", "/moved"]);
    await expect.poll(() => server.requests.map(({ socket }) => socket.destroyed)).toContain(true);
  });

  it("F-2, F-8: a call that ends while a redirect's body stalls follows nothing, and leaves nothing", async () => {
    const server = await serve((request) => {
      request.socket.write("HTTP/1.1 307 X\r\nLocation: /moved\r\nContent-Length: 9\r\n\r\n");
    });
    const aborting = new AbortController();
    const promise = connect(server.url).callTool(call, { contract, signal: aborting.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    aborting.abort("enough");
    await expect(promise).rejects.toBe("enough");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.requests).toHaveLength(1);
  });

  it("F-7: one deadline for all hops", async () => {
    const slow = await serve((request) => void setTimeout(() => request.socket.write(to("/mcp")), 60));
    await expect(connect(slow.url).callTool(call, { contract, totalTimeoutMs: 150 })).rejects.toMatchObject({
      code: "timeout",
      details: { phase: "total", evidence: { headersSeen: false } },
    });
  });

  it("F-1: the verdict is that of the last hop", async () => {
    let ending: "cut" | "stall" = "cut";
    const server = await serve((request) => {
      if (pathOf(request) === "/mcp") request.socket.write(to("/moved"));
      else if (ending === "cut") request.socket.end();
    });
    const client = connect(server.url);
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
      details: { evidence: { handedOver: true, headersSeen: false } },
    });
    let asked = 0;
    const admit = (): string | undefined => ((asked += 1) === 2 ? "revoked meanwhile" : undefined);
    const before = server.requests.length;
    await expect(client.callTool(call, { contract, admit })).rejects.toMatchObject({
      code: "not_admitted",
      delivery: "not_sent",
    });
    expect(server.requests).toHaveLength(before + 1);
    ending = "stall";
    const aborting = new AbortController();
    const promise = client.callTool(call, { contract, signal: aborting.signal });
    await expect.poll(() => server.requests.map(pathOf).filter((path) => path === "/moved").length).toBe(2);
    aborting.abort("enough");
    await expect(promise).rejects.toBe("enough");
    expect(deliveryOf(promise)).toBe("unknown");
  });
});
