import { getEventListeners, once } from "node:events";
import { constants } from "node:http2";
import { createServer } from "node:https";
import { connect as connectSocket, createServer as createRelay, type LookupFunction, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { createFetchExchange, createUndiciExchange } from "../../../src/transport/index.js";
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from "../../support/certificates.js";
import { respondResult, Http2Server, type Http2ServerOptions } from "../../support/http2-server.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();

afterEach(opened.close);

async function serve(answer: Http2ServerOptions["answer"], options: Partial<Http2ServerOptions> = {}) {
  const server = await Http2Server.start({ answer, ...options });
  opened.push(server);
  return server;
}

function connect(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const clientInfo = { name: "test", version: "1" };
  const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, ca: AUTHORITY, http2: true, ...options });
  opened.push(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };
const works = { content: [] };
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe("F-16: HTTP/2", () => {
  it("carries calls on one connection, which is dropped when the client is closed", async () => {
    const server = await serve((request) => respondResult(request));
    const client = connect(server.url, { headers: { "X-Mine": "1" } });
    const calls = Array.from({ length: 20 }, () => client.callTool(call, { contract }));
    await expect(Promise.all(calls)).resolves.toEqual(Array.from({ length: 20 }, () => works));
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.connections).toBe(1);
    expect(server.requests[0]?.headers).toMatchObject({
      ":method": "POST",
      ":path": "/mcp",
      "x-mine": "1",
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(server.requests[0]?.body ?? "")),
    });
    await client.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it("falls back to HTTP/1.1 by ALPN, on the connection that asked, and the same is the default", async () => {
    const versions: string[] = [];
    const plain = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (request, response) => {
      versions.push(request.httpVersion);
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { id }: { readonly id: number } = JSON.parse(body);
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: works }));
      });
    });
    let connections = 0;
    plain.on("secureConnection", () => (connections += 1));
    plain.listen(0, "127.0.0.1");
    await once(plain, "listening");
    opened.push({ close: () => new Promise((resolve) => plain.close(resolve)) });
    const address = plain.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const client = connect(`https://127.0.0.1:${String(port)}/mcp`);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(connections).toBe(1);
    await Promise.all(Array.from({ length: 5 }, () => client.callTool(call, { contract })));
    expect(versions).toEqual(Array.from({ length: 6 }, () => "1.1"));
    const both = await serve((request) => respondResult(request), {
      answerPlain: (_, response) => void response.writeHead(500).end(),
    });
    await expect(connect(both.url).callTool(call, { contract })).resolves.toEqual(works);
    await expect(connect(both.url, { http2: false }).callTool(call, { contract })).rejects.toMatchObject({
      code: "unexpected_answer",
    });
  });

  it("a server of HTTP/2 alone is not reached without it", async () => {
    const server = await serve((request) => respondResult(request));
    await expect(connect(server.url, { http2: false }).callTool(call, { contract })).rejects.toMatchObject({
      delivery: expect.stringMatching(/^(?:unknown|not_sent)$/),
    });
    expect(server.requests).toHaveLength(0);
  });

  it("an open stream starves nobody, though the server permits one stream to a connection", async () => {
    const server = await serve(
      (request) => {
        if (request.headers[":path"] === "/mcp" && request.body.includes("slow")) {
          request.stream.respond({ ":status": 200, "content-type": "text/event-stream" });
          request.stream.write(": open\n\n");
        } else respondResult(request);
      },
      { settings: { maxConcurrentStreams: 1 } },
    );
    const client = connect(server.url);
    const open = outcome(client.callTool({ name: "slow" }, { contract }));
    await expect.poll(() => server.requests.length).toBe(1);
    for (let i = 0; i < 3; i += 1) await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.connections).toBe(2);
    await client.close();
    await expect(open).resolves.toMatchObject({ code: "cancelled", delivery: "unknown" });
  });

  it("large and compressed answers come whole", async () => {
    const text = "x".repeat(3 * 1024 * 1024);
    const server = await serve(({ stream, id }) => {
      stream.respond({ ":status": 200, "content-type": "application/json", "content-encoding": "gzip" });
      stream.end(gzipSync(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })));
    });
    const result = await connect(server.url).callTool({ name: "t", arguments: { text } }, { contract });
    expect(result).toEqual({ content: [{ type: "text", text }] });
    expect(server.requests[0]?.body).toContain(text);
  });

  it("F-15: its addresses are guarded, its certificates checked, and both families tried, as over HTTP/1.1", async () => {
    const server = await serve((request) => respondResult(request));
    const at = (host: string): string => server.url.replace("127.0.0.1", host);
    const lookupTo =
      (...addresses: readonly { readonly address: string; readonly family: number }[]): LookupFunction =>
      (_, __, callback) =>
        callback(null, [...addresses]);
    const four = { address: "127.0.0.1", family: 4 };
    const refused = { code: "connect_failed", delivery: "not_sent" };
    const guarded = { ...refused, details: { reason: "ERR_ADDRESS_REFUSED", lasting: true } };
    const called = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions>) =>
      outcome(connect(endpoint, options).callTool(call, { contract }));
    expect(await called(server.url, { allowedAddresses: "public" })).toMatchObject(guarded);
    expect(await called(at("mcp.test"), { allowedAddresses: "public", lookup: lookupTo(four) })).toMatchObject(guarded);
    expect(await called(server.url, { ca: undefined })).toMatchObject({ ...refused, details: { lasting: true } });
    expect(server.requests).toHaveLength(0);
    expect(await called(server.url, { allowedAddresses: "public_or_loopback" })).toEqual(works);
    const lookup = lookupTo({ address: "::1", family: 6 }, four);
    expect(await called(at("localhost"), { lookup })).toEqual(works);
  });

  it("over an exchange without it, or through a proxy, it is refused", () => {
    const endpoint = "https://127.0.0.1:9/mcp";
    const origin = new URL(endpoint).origin;
    const refusal = (code: string) => expect.objectContaining({ code, delivery: "not_sent" });
    expect(() => connect(endpoint, { ca: undefined, exchange: createFetchExchange({ origin }) })).toThrow(
      refusal("unsupported_by_exchange"),
    );
    const exchange = createUndiciExchange({ origin, maxConnections: 1, http2: true });
    opened.push({ close: () => exchange.destroy() });
    expect(exchange.capabilities.has("http2")).toBe(true);
    expect(() => connect(endpoint, { ca: undefined, exchange })).toThrow(refusal("invalid_options"));
    expect(() => connect(endpoint, { proxy: { url: "http://127.0.0.1:9" } })).toThrow(refusal("invalid_options"));
    expect(() => connect(endpoint, JSON.parse('{"http2":"yes"}'))).toThrow(refusal("invalid_options"));
  });
});

describe("F-1: verdicts over HTTP/2", () => {
  const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;
  const broken = { code: "connection_broken", delivery: "unknown" };

  it.each([NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR])(
    "a stream that is reset (%i) before the head is unknown, and others go on",
    async (code) => {
      const server = await serve((request) => {
        if (request.body.includes("victim")) request.stream.close(code);
        else respondResult(request);
      });
      const client = connect(server.url);
      const other = client.callTool(call, { contract });
      await expect(client.callTool({ name: "victim" }, { contract })).rejects.toMatchObject(broken);
      await expect(other).resolves.toEqual(works);
      expect(server.connections).toBe(1);
    },
  );

  it.each([
    ["with an error", new Error("cut"), {}],
    ["without one", undefined, { "content-length": "40" }],
    ["without one, in a body of unknown length", undefined, {}],
  ])("a stream that is reset in the body %s is unknown, and others go on", async (_, error, length) => {
    const server = await serve((request) => {
      const { stream } = request;
      if (!request.body.includes("victim")) {
        respondResult(request);
        return;
      }
      stream.respond({ ":status": 200, "content-type": "application/json", ...length });
      stream.write('{"jsonrpc":"2.0",', () => setTimeout(() => stream.destroy(error), 5));
    });
    const client = connect(server.url);
    const other = client.callTool(call, { contract });
    const ended = await outcome(client.callTool({ name: "victim" }, { contract }));
    // The last looks like an end, after which the body is no message.
    const isTold = error !== undefined || "content-length" in length;
    expect(ended).toMatchObject(isTold ? broken : { code: "unexpected_answer", delivery: "unknown" });
    await expect(other).resolves.toEqual(works);
    expect(server.connections).toBe(1);
  });

  it("a refused stream was not acted on: the call is made once more", async () => {
    let refusals = 1;
    const server = await serve((request) => {
      if ((refusals -= 1) >= 0) request.stream.close(NGHTTP2_REFUSED_STREAM);
      else respondResult(request);
    });
    const client = connect(server.url);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    refusals = 2;
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason: "ERR_STREAM_REFUSED" },
    });
    expect(server.requests).toHaveLength(4);
  });

  it("GOAWAY lets what runs come to its end, and what follows goes elsewhere", async () => {
    const server = await serve((request) => {
      if (!request.body.includes("slow")) {
        respondResult(request);
        return;
      }
      request.session.close();
      setTimeout(() => respondResult(request), 300);
    });
    const client = connect(server.url);
    const slow = client.callTool({ name: "slow" }, { contract });
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    await expect(slow).resolves.toEqual(works);
    expect(server.connections).toBe(2);
    await expect.poll(() => server.openSockets).toBe(1);
  });

  it.each(["head", "body"])("GOAWAY with an error at the %s is unknown for what it may have acted on", async (at) => {
    const server = await serve((request) => {
      if (!request.body.includes("victim")) {
        respondResult(request);
        return;
      }
      if (at === "body") {
        request.stream.respond({ ":status": 200, "content-type": "application/json" });
        request.stream.write("{");
      }
      setTimeout(() => request.session.goaway(NGHTTP2_INTERNAL_ERROR, request.stream.id), 5);
    });
    const client = connect(server.url);
    await expect(client.callTool({ name: "victim" }, { contract })).rejects.toMatchObject(broken);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests).toHaveLength(2);
  });

  it("GOAWAY names the last stream that was acted on: those above were not", async () => {
    const server = await serve((request) => {
      if (server.sessions.length > 1) respondResult(request);
      else if (server.requests.length === 2) request.session.goaway(NGHTTP2_INTERNAL_ERROR, 1);
    });
    const client = connect(server.url);
    const [first, second] = [1, 2].map(() => outcome(client.callTool(call, { contract })));
    await expect(first).resolves.toMatchObject(broken);
    await expect(second).resolves.toEqual(works);
    expect(server.requests).toHaveLength(3);
  });

  it.each(["head", "body"])("a connection that breaks at the %s is unknown", async (at) => {
    const server = await serve((request) => {
      if (at === "body") {
        request.stream.respond({ ":status": 200, "content-type": "application/json" });
        request.stream.write("{");
      }
      setTimeout(() => server.drop(), 5);
    });
    const client = connect(server.url);
    const ended = await Promise.all([1, 2].map(() => outcome(client.callTool(call, { contract }))));
    expect(ended).toMatchObject([broken, broken]);
    await client.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it("F-2, F-7: an abort and a deadline end their stream, and not the connection", async () => {
    const resets: number[] = [];
    const server = await serve((request) => {
      request.stream.on("close", () => resets.push(request.stream.rstCode ?? -1));
      if (!request.body.includes("slow")) setTimeout(() => respondResult(request), 150);
    });
    const client = connect(server.url);
    const running = client.callTool(call, { contract });
    const aborting = new AbortController();
    const aborted = client.callTool({ name: "slow" }, { contract, signal: aborting.signal });
    const late = client.callTool({ name: "slow" }, { contract, idleTimeoutMs: 120 });
    await expect.poll(() => server.requests.length).toBe(3);
    aborting.abort("enough");
    await expect(aborted).rejects.toBe("enough");
    expect(deliveryOf(aborted)).toBe("unknown");
    await expect(late).rejects.toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "idle" } });
    await expect(running).resolves.toEqual(works);
    await expect.poll(() => resets.filter((code) => code === NGHTTP2_CANCEL)).toHaveLength(2);
    expect(server.connections).toBe(1);
  });

  it.each([
    ["chooses HTTP/2 and never speaks it", (socket: Socket) => socket.resume(), 200, { code: "timeout" }],
    [
      "chooses HTTP/2 and closes",
      (socket: Socket) => socket.end(),
      10_000,
      { code: "connect_failed", details: { reason: "ERR_CONNECTION_CLOSED" } },
    ],
  ])("F-8: a server that %s gets nothing, and leaves nothing", async (_, behave, connectTimeoutMs, failure) => {
    const sockets = new Set<Socket>();
    const options = { cert: SERVER_CERTIFICATE, key: SERVER_KEY, ALPNProtocols: ["h2"] };
    const server = createTlsServer(options, (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
      behave(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const client = connect(`https://127.0.0.1:${String(port)}/mcp`);
    const timers = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
    const calls = [1, 2].map(() => outcome(client.callTool(call, { contract, connectTimeoutMs })));
    await expect(Promise.all(calls)).resolves.toMatchObject([1, 2].map(() => ({ ...failure, delivery: "not_sent" })));
    await client.close();
    await expect.poll(() => sockets.size).toBe(0);
    const left = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
    expect(left).toBeLessThanOrEqual(timers);
  });

  it("F-7: a connection that died silently is given up, and the next call makes its own", async () => {
    const server = await serve((request) => respondResult(request));
    const relays: { readonly client: Socket; frozen: boolean }[] = [];
    const relay = createRelay((client) => {
      const upstream = connectSocket(Number(new URL(server.url).port), "127.0.0.1");
      const one = { client, frozen: false };
      relays.push(one);
      client.on("data", (chunk) => !one.frozen && upstream.write(chunk)).on("error", () => undefined);
      upstream.on("data", (chunk) => client.write(chunk)).on("error", () => undefined);
      client.on("close", () => upstream.destroy());
    });
    relay.listen(0, "127.0.0.1");
    await once(relay, "listening");
    opened.push({ close: () => new Promise((resolve) => relay.close(resolve)) });
    const address = relay.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const client = connect(`https://127.0.0.1:${String(port)}/mcp`);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    for (const one of relays) one.frozen = true;
    // Calls that keep coming keep it from being idle.
    let failures = 0;
    let last: unknown;
    const startedAt = performance.now();
    while (performance.now() - startedAt < 9_000) {
      last = await outcome(client.callTool(call, { contract, idleTimeoutMs: 400 }));
      if (!(last instanceof Error)) break;
      failures += 1;
    }
    expect(last).toEqual(works);
    expect(failures).toBeGreaterThan(3);
    expect(relays).toHaveLength(2);
  });

  it("F-8: after 500 calls that end in every way nothing is left, and one connection was enough", async () => {
    let turn = 0;
    const server = await serve((request) => {
      turn += 1;
      if (turn % 4 === 0) request.stream.close(NGHTTP2_INTERNAL_ERROR);
      else if (turn % 4 === 1) respondResult(request);
      else if (turn % 4 === 2) {
        request.stream.respond({ ":status": 200, "content-type": "text/event-stream" });
        const params = { progressToken: request.id, progress: 1 };
        request.stream.write(
          `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params })}\n\n`,
        );
      }
    });
    const client = connect(server.url, { maxConcurrentRequests: 16, maxQueuedRequests: 500 });
    const shared = new AbortController();
    const calls = Array.from({ length: 500 }, async (_, index) => {
      const own = new AbortController();
      const promise = client.callTool(call, {
        contract,
        signal: index % 2 === 0 ? shared.signal : own.signal,
        idleTimeoutMs: 100,
        onProgress: () => own.abort(),
      });
      return promise.then(
        () => "answered",
        () => deliveryOf(promise),
      );
    });
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["answered", "unknown"]));
    expect(server.connections).toBe(1);
    expect(getEventListeners(shared.signal, "abort")).toHaveLength(0);
    await client.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it("H-14: what is not admitted is not written", async () => {
    const server = await serve((request) => respondResult(request));
    const client = connect(server.url);
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    await expect(client.callTool(call, { contract, admit: () => "fenced" })).rejects.toMatchObject({
      code: "not_admitted",
      delivery: "not_sent",
    });
    await expect(client.callTool(call, { contract })).resolves.toEqual(works);
    expect(server.requests).toHaveLength(2);
  });
});
