import { describe, expect, it } from "vitest";
import { readAnswerHead } from "../../../src/transport/answer-head.js";
import { BodyReader, StreamReader } from "../../../src/transport/answer-reader.js";

const limits = { maxBodyBytes: 1_000, maxErrorBodyBytes: 10, maxEventBytes: 100, maxStreamBytes: 100 };

function read(
  status: number,
  pieces: readonly string[],
  headers = {},
): { text: string; over: boolean; bytes: Uint8Array } {
  const reader = new BodyReader(readAnswerHead(status, headers), limits);
  let over = false;
  for (const piece of pieces) over = reader.push(Buffer.from(piece)) || over;
  return { text: Buffer.from(reader.body()).toString(), over, bytes: reader.body() };
}

describe("BodyReader", () => {
  it("F-10: a length that is a lie costs little, and one that is true costs linear time", () => {
    const roomy = { ...limits, maxBodyBytes: 64 * 1024 * 1024 };
    const headOf = (bytes: number) => readAnswerHead(200, { "content-length": String(bytes) });
    const lied = new BodyReader(headOf(60_000_000), roomy);
    for (let i = 0; i < 5; i += 1) lied.push(Buffer.from("ab"));
    expect(lied.body()).toHaveLength(10);
    expect(lied.body().buffer.byteLength).toBeLessThanOrEqual(2 * 1024 * 1024);
    // Of a usual size, room is made once.
    const usual = new BodyReader(headOf(1_000_000), roomy);
    const buffers = new Set<ArrayBufferLike>();
    for (let i = 0; i < 50; i += 1) {
      usual.push(Buffer.alloc(20_000, "x"));
      if (i > 0) buffers.add(usual.body().buffer);
    }
    expect(buffers.size).toBe(1);
    expect(usual.body().buffer.byteLength).toBe(1_000_000);
    const large = new BodyReader(headOf(40_000_000), roomy);
    buffers.clear();
    for (let i = 0; i < 2_000; i += 1) {
      large.push(Buffer.alloc(20_000, "x"));
      if (i > 0) buffers.add(large.body().buffer);
    }
    expect(buffers.size).toBeLessThan(8);
    expect(large.body()).toHaveLength(40_000_000);
  });

  it("F-10: a success that is too large by its own head fails with it, a failure is read up to its limit", () => {
    const head = { "content-length": "1001" };
    const refused = expect.objectContaining({
      code: "limit_exceeded",
      details: { option: "maxBodyBytes", limit: 1_000 },
    });
    expect(() => new BodyReader(readAnswerHead(200, head), limits)).toThrow(refused);
    expect(read(500, ["0123456789ab"], head)).toMatchObject({ text: "0123456789", over: true });
  });

  it("F-10: whatever the pieces, the body is what came", () => {
    const text = "0123456789".repeat(20);
    for (const size of [1, 2, 3, 7, 64, 199, 200]) {
      const pieces = text.match(new RegExp(`.{1,${String(size)}}`, "g")) ?? [];
      for (const headers of [
        {},
        { "content-length": "200" },
        { "content-length": "5" },
        { "content-length": "no" },
        { "content-length": "-5" },
      ]) {
        expect(read(200, pieces, headers).text).toBe(text);
      }
    }
    expect(read(200, []).text).toBe("");
  });

  it("F-10: the piece that came is not written to when another comes", () => {
    const reader = new BodyReader(readAnswerHead(200, {}), limits);
    const first = Buffer.from("abcdef").subarray(0, 3);
    reader.push(first);
    reader.push(Buffer.from("XY"));
    expect(Buffer.from(first.buffer, first.byteOffset, 6).toString()).toBe("abcdef");
    expect(Buffer.from(reader.body()).toString()).toBe("abcXY");
  });

  it("F-10: a body in single bytes takes memory like its size, not like its pieces", () => {
    const reader = new BodyReader(readAnswerHead(200, {}), { ...limits, maxBodyBytes: 4_000_000 });
    const before = process.memoryUsage();
    for (let i = 0; i < 2_000_000; i += 1) reader.push(Buffer.from([48 + (i % 10)]));
    const after = process.memoryUsage();
    expect(reader.body()).toHaveLength(2_000_000);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
  });

  it("F-3, W-8: a body of a success ends at its limit, one of a failure is cut there", () => {
    expect(() => read(200, ["x".repeat(999), "xx"])).toThrow(
      expect.objectContaining({ code: "limit_exceeded", details: { option: "maxBodyBytes", limit: 1_000 } }),
    );
    expect(read(500, ["12345678", "9ABC", "D"])).toMatchObject({ text: "123456789A", over: true });
    expect(read(500, ["1234567890"])).toMatchObject({ text: "1234567890", over: false });
  });
});

describe("StreamReader", () => {
  it("L-5: tells the pause that the server asks for, before the event that it came with", () => {
    const told: unknown[] = [];
    const reader = new StreamReader(
      limits,
      ({ id, data }) => told.push([id, data]),
      (retryMs) => told.push(retryMs),
    );
    reader.push(Buffer.from("id: 1\nretry: 250\ndata: a\n\nretry: x\ndata: b\n\n"));
    reader.end();
    expect(told).toEqual([250, ["1", "a"], [undefined, "b"]]);
  });
});
