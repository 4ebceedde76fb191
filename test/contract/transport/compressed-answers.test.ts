import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { Opened } from "../../support/opened.js";
import { idOf } from "../../support/raw-server.js";
import { EXCHANGES } from "./exchanges.js";

const opened = new Opened();
const { serve } = opened;

afterEach(opened.close);

type Compress = (text: string) => Buffer;

const CODINGS: readonly (readonly [coding: string, compress: Compress])[] = [
  ["gzip", (text) => gzipSync(text)],
  ["X-GZIP", (text) => gzipSync(text)],
  ["deflate", (text) => deflateSync(text)],
  ["deflate", (text) => deflateRawSync(text)],
  ["br", (text) => brotliCompressSync(text)],
];

interface Encoded {
  readonly type?: string;
  readonly status?: number;
}

function encoded(coding: string, body: Buffer, { type = "application/json", status = 200 }: Encoded = {}): Buffer {
  const head = `HTTP/1.1 ${String(status)} X\r\nContent-Type: ${type}\r\nContent-Encoding: ${coding}\r\nContent-Length: ${String(body.length)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

const call = { name: "t" };
const contract = { parameters: [] };
const json = (id: number, pad = ""): string =>
  `{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[],"pad":"${pad}"}}`;
const failed = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe.each(EXCHANGES)("compressed answers over $name", ({ create }) => {
  const connect = (endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) => {
    const clientInfo = { name: "test", version: "1" };
    const made = new ModernStreamableHTTPClient({ endpoint, clientInfo, exchange: create(endpoint), ...options });
    opened.push(made);
    return made;
  };

  it.each(CODINGS)(
    "F-3: %s is undone in JSON, streams and errors, though it was not asked for",
    async (coding, compress) => {
      const server = await serve((request) => {
        const id = idOf(request);
        const turn = server.requests.length;
        if (turn === 1) request.socket.write(encoded(coding, compress(json(id, "größe".repeat(20_000)))));
        else if (turn === 2) {
          const body = compress(`: hello\n\ndata: ${json(id, "x")}\n\n`);
          request.socket.write(encoded(coding, body, { type: "text/event-stream" }));
        } else {
          const body = compress(`{"jsonrpc":"2.0","id":${String(id)},"error":{"code":-32602,"message":"no"}}`);
          request.socket.write(encoded(coding, body, { status: 400 }));
        }
      });
      const client = connect(server.url);
      await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [], pad: "größe".repeat(20_000) });
      await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [], pad: "x" });
      await expect(client.callTool(call, { contract })).rejects.toMatchObject({
        code: "peer_error",
        delivery: "answered",
        details: { rpcCode: -32602 },
      });
      const asked = server.requests.map((request) => request.header("accept-encoding") ?? "identity");
      expect(new Set(asked)).toEqual(new Set(["identity"]));
      // One connection was enough: nothing was left in it.
      expect(server.connections).toBe(1);
    },
  );

  it("W-18: events of a compressed stream come as they are flushed", async () => {
    let more: (() => void) | undefined;
    const server = await serve((request) => {
      const id = idOf(request);
      request.socket.write(
        "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n",
      );
      const gzip = createGzip();
      gzip.pipe(request.socket);
      gzip.write(
        `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${String(id)},"progress":1}}\n\n`,
      );
      gzip.flush(constants.Z_SYNC_FLUSH);
      more = () => gzip.end(`data: ${json(id)}\n\n`);
    });
    const promise = connect(server.url).callTool(call, { contract, onProgress: () => more?.() });
    await expect(promise).resolves.toEqual({ content: [], pad: "" });
  });

  it.each([
    ["maxBodyBytes", "application/json"],
    ["maxStreamBytes", "text/event-stream"],
    ["maxEventBytes", "text/event-stream"],
  ] as const)("F-3, F-10: a bomb ends at %s, counted afterwards, and its connection too", async (option, type) => {
    const bomb = gzipSync(Buffer.alloc(300_000_000, "data: "));
    const server = await serve((request) => {
      if (server.requests.length === 1) request.socket.write(encoded("gzip", bomb, { type }));
      else request.socket.write(encoded("gzip", gzipSync(json(idOf(request)))));
    });
    const client = connect(server.url, { [option]: 1_000_000 });
    const before = process.memoryUsage().rss;
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      code: "limit_exceeded",
      delivery: "unknown",
      details: { option, limit: 1_000_000 },
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [], pad: "" });
  });

  it("W-8: a failed answer's bomb is cut at maxErrorBodyBytes", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, "<p>"));
    const server = await serve((request) => void request.socket.write(encoded("gzip", bomb, { status: 404 })));
    await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
      code: "unexpected_answer",
      delivery: "answered",
      details: { status: 404, snippet: expect.stringMatching(/^(?:<p>)+/) },
    });
  });

  it("F-1: compressed JSON that is cut at any byte is unknown, at once", async () => {
    const answers = (id: number): Buffer => encoded("gzip", gzipSync(json(id)));
    let at = 0;
    const server = await serve((request) => {
      const bytes = answers(idOf(request)).subarray(0, at);
      if (at === 0) request.socket.end();
      else request.socket.write(bytes, () => setImmediate(() => request.socket.end()));
    });
    const client = connect(server.url);
    for (; at < answers(1).length; at += 1) {
      const startedAt = performance.now();
      expect(await failed(client.callTool(call, { contract })), `cut at ${String(at)}`).toMatchObject({
        delivery: "unknown",
      });
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
  });

  it.each([
    ["no gzip at all", Buffer.from("certainly not compressed")],
    ["gzip that breaks off, in a body that is whole", gzipSync(json(1)).subarray(0, 40)],
  ])("F-1: %s is unknown, and the next call goes on", async (_, body) => {
    const server = await serve((request) => {
      if (server.requests.length === 1) request.socket.write(encoded("gzip", body));
      else request.socket.write(encoded("gzip", gzipSync(json(idOf(request)))));
    });
    const client = connect(server.url);
    await expect(client.callTool(call, { contract })).rejects.toMatchObject({
      // Fetch takes a part for the whole; then it is the JSON that shows it.
      code: expect.stringMatching(/^(?:connection_broken|unexpected_answer)$/),
      delivery: "unknown",
    });
    await expect(client.callTool(call, { contract })).resolves.toEqual({ content: [], pad: "" });
  });

  it.each(["zstd", "gzip, zstd"])("F-1: %s is refused, unknown", async (coding) => {
    const server = await serve((request) => void request.socket.write(encoded(coding, Buffer.from("(/\u00b5/\u00fd"))));
    await expect(connect(server.url).callTool(call, { contract })).rejects.toMatchObject({
      code: "unexpected_answer",
      delivery: "unknown",
      details: { reason: "a content encoding that was not asked for" },
    });
  });

  it("F-2, F-8: an abort while a bomb is undone ends it", async () => {
    const bomb = gzipSync(Buffer.alloc(300_000_000));
    const server = await serve((request) => {
      request.socket.write(encoded("gzip", bomb));
      setTimeout(() => controller.abort("enough"), 10);
    });
    const controller = new AbortController();
    const options = { maxBodyBytes: 500_000_000 };
    const promise = connect(server.url, options).callTool(call, { contract, signal: controller.signal });
    await expect(promise).rejects.toBe("enough");
  });
});
