import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Line, LineFramer } from "../../../../src/transport/process/line-framer.js";

const encoder = new TextEncoder();

/** What is left of lines when the bytes themselves are put aside; those are compared with the text. */
function shown(lines: readonly Line[]): unknown[] {
  return lines.map((line) => {
    if (line.kind === "overlong") return { overlong: line.envelope };
    expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(line.bytes)).toBe(line.text);
    return line.unterminated ? { unterminated: line.text } : line.text;
  });
}

function frame(chunks: readonly Uint8Array[], maxLineBytes = 1_000): unknown[] {
  const framer = new LineFramer({ maxLineBytes });
  const lines = chunks.flatMap((chunk) => framer.push(chunk));
  return shown([...lines, ...framer.end()]);
}

describe("LineFramer", () => {
  it.each([
    ["nothing", "", []],
    ["a line", "a\n", ["a"]],
    ["lines", "a\nb\n", ["a", "b"]],
    ["CRLF", "a\r\nb\r\n", ["a", "b"]],
    ["a mixture of line ends", "a\r\nb\nc\r\n", ["a", "b", "c"]],
    ["a lone CR, which ends nothing", "a\rb\n", ["a\rb"]],
    ["only one CR of several", "a\r\r\n", ["a\r"]],
    ["blank lines", "\n\r\n  \t\na\n\n", ["a"]],
    ["a byte order mark", "\uFEFFa\n\uFEFFb\r\n", ["a", "b"]],
    ["a line of nothing but a byte order mark", "\uFEFF\r\na\n", ["a"]],
    ["separators that are no line ends", "a\u2028b\u2029c\u0085d\n", ["a\u2028b\u2029c\u0085d"]],
    ["characters of all lengths", "aé€😀\n", ["aé€😀"]],
    ["an end without a line end", "a\nb", ["a", { unterminated: "b" }]],
    ["an end after a CR", "a\r", [{ unterminated: "a" }]],
  ])("L-13: reads %s, at every split point", (_name, text, expected) => {
    const bytes = encoder.encode(text);
    expect(frame([bytes])).toEqual(expected);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(frame(chunks), `split at ${String(first)} and ${String(second)}`).toEqual(expected);
      }
    }
  });

  it("L-13: gives the same lines however the bytes are cut", () => {
    const piece = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\n", "\r\n", "\uFEFF", "\r", "😀", " "));
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(50)), fc.constantFrom(3, 10, 1_000), (pieces, cuts, limit) => {
        const bytes = encoder.encode(pieces.join(""));
        const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].toSorted((a, b) => a - b);
        const chunks = [0, ...places].map((start, index) => bytes.subarray(start, places[index]));
        expect(frame(chunks, limit)).toEqual(frame([bytes], limit));
      }),
      { seed: 20, numRuns: 500 },
    );
  });

  it("L-13: reads bytes that are no UTF-8 as replacement characters", () => {
    const framer = new LineFramer({ maxLineBytes: 100 });
    const [line] = framer.push(Uint8Array.from([0x61, 0xff, 0x62, 0x0a]));
    expect(line).toMatchObject({ kind: "line", text: "a\uFFFDb", bytes: Uint8Array.from([0x61, 0xff, 0x62]) });
  });

  it.each([
    ["exactly the limit", "x".repeat(10), "x".repeat(10)],
    ["the limit, with all that does not count", `\uFEFF${"x".repeat(10)}\r`, "x".repeat(10)],
    ["one byte more", "x".repeat(11), { overlong: { id: undefined, hasMethod: false } }],
    ["much more", "x".repeat(500), { overlong: { id: undefined, hasMethod: false } }],
  ])("L-13: keeps to the limit of a line: %s", (_name, line, expected) => {
    const bytes = encoder.encode(`${line}\nnext\n`);
    expect(frame([bytes], 10)).toEqual([expected, "next"]);
    expect(
      frame(
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
        10,
      ),
    ).toEqual([expected, "next"]);
  });

  it("F-10: tells of a line that is too long whose answer it is, and goes on with the next", () => {
    const long = JSON.stringify({ result: { text: 'x"{[,:\\'.repeat(30) }, jsonrpc: "2.0", id: 7 });
    const bytes = encoder.encode(`${long}\nnext\n`);
    const expected = [{ overlong: { id: 7, hasMethod: false } }, "next"];
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(frame([bytes.subarray(0, at), bytes.subarray(at)], 50), `split at ${String(at)}`).toEqual(expected);
    }
  });

  it("F-10: takes time linear in the bytes: 16 MiB in pieces of 1,460 bytes", () => {
    const framer = new LineFramer({ maxLineBytes: 16 * 1024 * 1024 });
    const piece = new Uint8Array(1_460).fill(0x78);
    let lines: Line[] = [];
    const started = performance.now();
    for (let sent = 0; sent + piece.length < 16 * 1024 * 1024; sent += piece.length) lines = framer.push(piece);
    lines = framer.push(encoder.encode("\n"));
    // Quadratic work would take minutes.
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(lines).toHaveLength(1);
  });
});
