import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cut, decodeByTheBook, decodeChunks, encode } from "./stream-bytes.js";

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "{",
      '"',
      ":",
      " ",
      "a",
      "é",
      "工",
      "😀",
      "\u2028",
      "\u2029",
      "\u0085",
      "\0",
      "\ufeff",
      "\t",
      "\u000b",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((one) => one !== "\n" && one !== "\r"),
  ),
  maxLength: 8,
});
const line = fc.oneof(
  {
    arbitrary: fc.tuple(fc.constantFrom("data:", "data: ", "data:  ", "data: :"), text).map((pair) => pair.join("")),
    weight: 6,
  },
  { arbitrary: fc.constant(""), weight: 5 },
  {
    arbitrary: fc.constantFrom("data", "data:", "data: ", "event:", "id", "id:", "id: ", "event: message", "id:\0"),
    weight: 2,
  },
  fc.tuple(fc.constantFrom("id:", "id: ", "event: ", "event:"), text).map((pair) => pair.join("")),
  fc
    .tuple(fc.constantFrom(":", ": ", "retry: ", "nothing: ", "Data: ", " data: ", "datax"), text)
    .map((pair) => pair.join("")),
  text,
);
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");

/** A stream as text, its end included or missing. */
const stream = fc
  .tuple(
    fc.constantFrom("", "", "\ufeff", "\ufeff\ufeff", "ï»¿"),
    fc.oneof(fc.array(fc.tuple(line, lineEnd), { minLength: 3, maxLength: 14 }), alike(line)),
    fc.oneof(fc.constant(""), line),
  )
  .map(([mark, lines, rest]) => mark + lines.map((pair) => pair.join("")).join("") + rest);

/** Lines that all end alike, as those of real servers do. */
function alike(lines: fc.Arbitrary<string>): fc.Arbitrary<[string, string][]> {
  return fc
    .tuple(fc.array(lines, { minLength: 3, maxLength: 14 }), lineEnd)
    .map(([each, end]) => each.map((one): [string, string] => [one, end]));
}

describe("StreamDecoder", () => {
  it("W-12: decodes as the standard does, wherever the bytes are cut", () => {
    let events = 0;
    fc.assert(
      fc.property(stream, fc.infiniteStream(fc.nat()), (whole, places) => {
        const bytes = encode(whole);
        const expected = decodeByTheBook(whole);
        events += expected.length;
        expect(decodeChunks([bytes])).toEqual(expected);
        for (let place = 1; place < bytes.length; place += 1) {
          expect(decodeChunks(cut(bytes, [place]))).toEqual(expected);
        }
        for (let turn = 0; turn < 8; turn += 1) {
          const pair = [places.next().value % (bytes.length + 1), places.next().value % (bytes.length + 1)];
          expect(decodeChunks(cut(bytes, pair))).toEqual(expected);
        }
        expect(decodeChunks(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
      }),
      { seed: 12, numRuns: 250 },
    );
    expect(events).toBeGreaterThan(300);
  });
});
