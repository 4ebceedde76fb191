import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { createUndiciExchange, type Exchange, type ExchangeControl } from "../../../src/transport/index.js";
import { SERVER_CERTIFICATE, SERVER_KEY } from "../../support/certificates.js";
import { Opened } from "../../support/opened.js";
import { httpAnswer, idOf } from "../../support/raw-server.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

function client(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const made = new ModernStreamableHTTPClient({ endpoint, clientInfo: { name: "test", version: "1" }, ...options });
  opened.push(made);
  return made;
}

const call = { name: "t" };
const contract = { parameters: [] };

const ok = (id: number): Buffer => httpAnswer(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[]}}`);

describe("what the exchange over undici alone can", () => {
  it.each(["end", "reset"])(
    "F-12: an idle connection that the server closed (%s) costs the next call nothing",
    async (how) => {
      const server = await serve((request) => {
        request.socket.write(ok(idOf(request)), () => {
          setTimeout(() => (how === "end" ? request.socket.end() : request.socket.resetAndDestroy()), 5);
        });
      });
      const made = client(server.url);
      for (let i = 0; i < 5; i += 1) {
        await expect(made.callTool(call, { contract })).resolves.toEqual({ content: [] });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(server.requests).toHaveLength(5);
    },
  );

  it.each([
    ["an address that is not allowed", "ERR_ADDRESS_REFUSED", { allowedAddresses: "public", allowInsecureHttp: true }],
    ["a certificate that is not trusted", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", {}],
  ] as const)("F-11: %s is not tried again, by reads or calls", async (_, reason, options) => {
    let connections = 0;
    const server = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY });
    server.on("connection", () => (connections += 1));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const made = client(`https://127.0.0.1:${String(port)}/mcp`, { ...options, random: () => 0 });
    const failure = {
      code: "connect_failed",
      delivery: "not_sent",
      details: { reason, lasting: true, evidence: { attempts: 1 } },
    };
    await expect(made.discover()).rejects.toMatchObject(failure);
    await expect(made.callTool(call, { contract })).rejects.toMatchObject(failure);
    expect(connections).toBe(reason === "ERR_ADDRESS_REFUSED" ? 0 : 2);
  });

  it("F-8: a client that is closed while it connects leaves no socket", async () => {
    // It never speaks TLS: who connects so waits for the handshake.
    const server = await serve(() => undefined);
    const made = client(`https://127.0.0.1:${String(server.port)}/mcp`);
    const promise = made.callTool(call, { contract, connectTimeoutMs: 50 });
    await expect(promise).rejects.toMatchObject({
      code: "timeout",
      delivery: "not_sent",
      details: { phase: "connect" },
    });
    await made.close();
    await expect.poll(() => server.openSockets).toBe(0);
  });

  it.skipIf(process.platform === "win32")("reaches a server on a Unix socket, under the origin's name", async () => {
    const folder = await mkdtemp(join(tmpdir(), "exchange-"));
    opened.push({ close: () => rm(folder, { recursive: true, force: true }) });
    const socketPath = join(folder, "mcp.sock");
    const hosts: unknown[] = [];
    const server = createHttpServer((request, response) => {
      hosts.push(request.headers.host);
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}');
    });
    server.listen(socketPath);
    await once(server, "listening");
    opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const exchange = createUndiciExchange({ origin: "http://localhost", maxConnections: 1, socketPath });
    const made = client("http://localhost/mcp", { exchange });
    await expect(made.callTool(call, { contract })).resolves.toEqual({ content: [] });
    expect(hosts).toEqual(["localhost"]);
    const gone = createUndiciExchange({ origin: "http://localhost", maxConnections: 1, socketPath: `${socketPath}-` });
    await expect(client("http://localhost/mcp", { exchange: gone }).callTool(call, { contract })).rejects.toMatchObject(
      { code: "connect_failed", delivery: "not_sent", details: { reason: "ENOENT" } },
    );
  });

  it.each([
    { proxy: "environment" },
    { http2: true },
    { allowedAddresses: "public" },
    { lookup: () => undefined },
  ] as const)("refuses a socket beside %j, which would not be heeded", (options) => {
    const make = (): unknown =>
      createUndiciExchange({ origin: "http://localhost", maxConnections: 1, socketPath: "/x", ...options });
    expect(make).toThrowError(expect.objectContaining({ code: "invalid_options" }));
  });

  it.each([
    ["as it is", (body: Buffer) => body, ""],
    ["that is compressed", (body: Buffer) => gzipSync(body), "Content-Encoding: gzip\r\n"],
  ] as const)("pauses an answer %s, and loses nothing of it", async (_, encode, headers) => {
    const body = Buffer.alloc(8 * 1024 * 1024, "0123456789abcdef-");
    const server = await serve(({ socket }) => {
      const bytes = encode(body);
      socket.write(`HTTP/1.1 200 X\r\n${headers}Content-Length: ${String(bytes.length)}\r\n\r\n`);
      socket.write(bytes);
    });
    const exchange = createUndiciExchange({ origin: new URL(server.url).origin, maxConnections: 1 });
    opened.push({ close: () => exchange.destroy() });
    const chunks: Uint8Array[] = [];
    let control: ExchangeControl | undefined;
    const ended = new Promise<void>((resolve, reject) => {
      exchange.dispatch(
        { method: "POST", path: "/mcp", headers: [], body: "" },
        {
          onRequestStart: () => undefined,
          onResponseStart: (given) => void (control = given),
          onResponseData(given, chunk) {
            if (chunks.push(chunk) === 1) given.pause?.();
          },
          onResponseEnd: () => resolve(),
          onResponseError: (_given, error) => reject(error),
        },
      );
    });
    await expect.poll(() => chunks.length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const held = chunks.length;
    expect(Buffer.concat(chunks).length).toBeLessThan(1024 * 1024);
    const taken = server.requests[0]?.socket.bytesWritten;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(chunks.length).toBe(held);
    expect(server.requests[0]?.socket.bytesWritten).toBe(taken);
    control?.resume?.();
    await ended;
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
  });

  it("F-1: tells an error of this package as it is, with the verdict of what was seen", async () => {
    const error = new RemoteConnectorError("not_admitted", { message: "no", details: { reason: "elsewhere" } });
    const told: [notSent: boolean | undefined, delivery: string][] = [
      [true, "not_sent"],
      [undefined, "unknown"],
    ];
    for (const [notSent, delivery] of told) {
      const exchange: Exchange = {
        origin: "http://localhost",
        capabilities: new Set(),
        dispatch(_request, handler) {
          const control = { abort: () => undefined };
          handler.onRequestStart(control);
          handler.onResponseError(control, error, notSent);
        },
        destroy: () => Promise.resolve(),
      };
      const promise = client("http://localhost/mcp", { exchange }).callTool(call, { contract });
      await expect(promise).rejects.toMatchObject({
        code: "not_admitted",
        delivery,
        details: { reason: "elsewhere", evidence: { handedOver: delivery === "unknown" } },
      });
    }
  });
});
