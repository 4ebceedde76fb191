import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BodyReading, type HttpListener, listen, readBody, sendJson } from "../../../src/serving/index.js";

const LIMIT = 1_000;
let listener: HttpListener;
let readings: Promise<BodyReading>[];

beforeEach(async () => {
  readings = [];
  listener = await listen(async (request, response) => {
    const reading = readBody(request, { maxBytes: LIMIT });
    readings.push(reading);
    const { kind } = await reading;
    sendJson(response, kind === "too_large" ? 413 : 200, JSON.stringify(kind), { Connection: "close" });
  });
});
afterEach(() => listener.close());

const post = (body: Uint8Array | ReadableStream<Uint8Array>): Promise<Response> =>
  fetch(listener.origin, { method: "POST", body, duplex: "half" });

function chunked(...sizes: number[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const size of sizes) controller.enqueue(new Uint8Array(size));
      controller.close();
    },
  });
}

describe("readBody", () => {
  it.each([0, 1, LIMIT])("H-20: reads %i bytes", async (size) => {
    expect((await post(new Uint8Array(size))).status).toBe(200);
    expect(await readings[0]).toEqual({ kind: "complete", body: Buffer.alloc(size) });
  });

  it("H-20: puts chunks together in order", async () => {
    const text = "grüße, 世界";
    const bytes = new TextEncoder().encode(text);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    await post(stream);
    const reading = await readings[0];
    expect(reading?.kind === "complete" ? Buffer.from(reading.body).toString("utf8") : reading).toBe(text);
  });

  it("H-20: a length beyond the limit is refused before the body comes", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(
        listener.origin,
        { method: "POST", headers: { "Content-Length": String(LIMIT + 1) } },
        (response) => {
          resolve(response.statusCode);
          request.destroy();
        },
      );
      request.on("error", reject);
      request.flushHeaders();
    });
    expect(status).toBe(413);
    expect(await readings[0]).toEqual({ kind: "too_large", limit: LIMIT });
  });

  it("H-20: a body without a length is refused when it passes the limit, and the caller can read that", async () => {
    const answer = await post(chunked(LIMIT, 1, 4_000_000));
    expect(answer.status).toBe(413);
    expect(await readings[0]).toEqual({ kind: "too_large", limit: LIMIT });
  });

  it("H-20: an upload that is cut settles as aborted", async () => {
    const socket = connect(listener.port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
    await expect.poll(() => readings.length).toBe(1);
    socket.destroy();
    expect(await readings[0]).toEqual({ kind: "aborted" });
  });
});
