import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printableText } from "../../../../src/transport/process/printable-text.js";
import { Redaction } from "../../../../src/transport/process/redaction.js";
import { TailBuffer } from "../../../../src/transport/process/tail-buffer.js";

const encoder = new TextEncoder();

function tail(chunks: readonly string[], capacityBytes: number, secrets: readonly string[] = []): string {
  const buffer = new TailBuffer({ capacityBytes, redaction: new Redaction(secrets) });
  for (const chunk of chunks) buffer.push(encoder.encode(chunk));
  return buffer.text();
}

describe("TailBuffer", () => {
  it.each([
    ["nothing", [], ""],
    ["less than it can hold", ["abc"], "abc"],
    ["several pieces", ["ab", "cd\n", "e"], "abcd\ne"],
    ["exactly what it can hold", ["0123456789"], "0123456789"],
    ["the end of more", ["0123456789", "abc"], "3456789abc"],
    ["the end of one long piece", ["x".repeat(100) + "0123456789"], "0123456789"],
    ["the end of many pieces", Array.from({ length: 500 }, (_, n) => String(n % 10)), "0123456789"],
  ])("L-14: keeps %s", (_name, chunks, expected) => {
    expect(tail(chunks, 10)).toBe(expected);
  });

  it("L-14: is the end of the text, whatever the pieces", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme-ascii" })),
        fc.integer({ min: 1, max: 40 }),
        (chunks, capacity) => {
          const whole = chunks.join("");
          expect(tail(chunks, capacity)).toBe(whole.slice(Math.max(0, whole.length - capacity)));
        },
      ),
      { seed: 22, numRuns: 500 },
    );
  });

  it("L-14: shows no control characters and no terminal sequences", () => {
    expect(tail(["\u001B[31mred\u001B[0m\r\n\u0000a\u0007\tb\u009B \u202Ec\u001B]0;title\u0007d"], 100)).toBe(
      "red\na\tb cd",
    );
    expect(printableText("é€😀\n")).toBe("é€😀\n");
  });

  it.each([
    ["as it is", "key=s3cr3t/+ value", "key=[redacted] value"],
    ["cut by pieces", "key=s3cr|3t/+ value", "key=[redacted] value"],
    ["as a URL encodes it", "?key=s3cr3t%2F%2B&x", "?key=[redacted]&x"],
    ["with a colour inside", "key=s3c\u001B[1mr3t/+ value", "key=[redacted] value"],
    ["twice", "s3cr3t/+s3cr3t/+", "[redacted][redacted]"],
  ])("F-6: takes a secret out %s", (_name, text, expected) => {
    expect(tail(text.split("|"), 100, ["s3cr3t/+"])).toBe(expected);
  });

  it("F-6: takes out a secret as JSON escapes it, and the longer of two", () => {
    expect(tail([JSON.stringify('line\n"two"')], 100, ['line\n"two"'])).toBe('"[redacted]"');
    expect(tail(["token-extended token"], 100, ["token", "token-extended"])).toBe("[redacted] [redacted]");
    expect(tail(["abc"], 100, ["", "\uD800"])).toBe("abc");
  });

  it("F-6: shows no part of a secret that the cut goes through, wherever it is", () => {
    const secret = "0123456789543210";
    for (let after = 0; after < 80; after += 1) {
      const text = tail([`${"x".repeat(200)}${secret}${secret}${"y".repeat(after)}`], 40, [secret]);
      expect(text, `${String(after)} characters after it`).not.toMatch(/\d/);
      expect(text.length).toBeLessThanOrEqual(40);
      expect(text.endsWith("y".repeat(Math.min(after, 24)))).toBe(true);
    }
  });
});
