import { describe, expect, it } from "vitest";
import { readAnswerHead } from "../../../src/transport/answer-head.js";
import { BodyReader } from "../../../src/transport/answer-reader.js";

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
  it("F-10: whatever the pieces, the body is what came", () => {
    const text = "0123456789".repeat(20);
    for (const size of [1, 2, 3, 7, 64, 199, 200]) {
      const pieces = text.match(new RegExp(`.{1,${String(size)}}`, "g")) ?? [];
      for (const headers of [
        {},
        { "content-length": "200" },
        { "content-length": "5" },
        { "content-length": "no" },
        { "content-length": "999999999" },
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
