import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { decodeHeaderValue, encodeHeaderValue } from "../../../src/protocol/index.js";
import { captureError } from "./capture-error.js";

const wrap = (value: string): string => `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;

/** The rule, character by character, without the expressions that the codec uses. */
function mayTravelPlain(value: string): boolean {
  const codes = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  if (codes.length === 0 || codes.some((code) => code < 0x20 || code > 0x7e)) return false;
  if (codes[0] === 0x20 || codes.at(-1) === 0x20) return false;
  const lower = value.toLowerCase();
  return !(lower.startsWith("=?base64?") && lower.endsWith("?="));
}

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "binary-ascii" }),
  fc.string({ unit: fc.constantFrom("=?", "base64", "bASE64", "?", "=", "?=", " ", "\t", "a", "Z", "é", "\n", "😀") }),
);

describe("encodeHeaderValue", () => {
  it.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ])("W-19: the specification's example %j", (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });

  it.each([
    "!",
    "~",
    "a b",
    "a  b",
    "42",
    "-7",
    "true",
    "get_weather",
    "file:///projects/myapp/config.json",
    'quotes " and \\',
    "=?",
    "?=",
    "=?base64?",
    "=?base64?abc",
    "abc?=",
    "x=?base64?abc?=",
    "=?base64?abc?=x",
    "=?base32?abc?=",
    "=?base64=",
    "=?utf-8?B?YQ==?=",
  ])("W-19: %j travels as it is", (value) => {
    expect(encodeHeaderValue(value)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(value);
  });

  it.each([
    ["the empty string", "", "=?base64??="],
    ["a space", " ", "=?base64?IA==?="],
    ["a tab", "\t", "=?base64?CQ==?="],
    ["a tab inside", "a\tb", "=?base64?YQli?="],
    ["a leading space", " a", "=?base64?IGE=?="],
    ["a trailing space", "a ", "=?base64?YSA=?="],
    ["a trailing line feed", "a\n", "=?base64?YQo=?="],
    ["a carriage return", "a\rb", "=?base64?YQ1i?="],
    ["NUL", "\0", "=?base64?AA==?="],
    ["the last control", "\u001f", "=?base64?Hw==?="],
    ["DEL", "\u007f", "=?base64?fw==?="],
    ["Latin-1", "é", "=?base64?w6k=?="],
    ["a no-break space at the end", "a\u00a0", "=?base64?YcKg?="],
    ["a character beyond the first plane", "😀", "=?base64?8J+YgA==?="],
    ["a byte order mark", "\ufeff", "=?base64?77u/?="],
    ["the sentinel, empty", "=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="],
    ["the sentinel with one shared mark", "=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
    ["the sentinel in capitals", "=?BASE64?x?=", "=?base64?PT9CQVNFNjQ/eD89?="],
    ["the sentinel in mixed case, shared mark", "=?Base64?=", "=?base64?PT9CYXNlNjQ/PQ==?="],
    ["the sentinel around a line feed", "=?base64?a\nb?=", "=?base64?PT9iYXNlNjQ/YQpiPz0=?="],
  ])("W-19: %s is wrapped", (_, value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });

  it.each(["\ud800", "\udfff", "a\ud83d", "\ude00a", "\ude00\ud83d", "a\ud83d\ud83d\ude00"])(
    "W-19: the lone surrogate in %j is the caller's error",
    (value) => {
      const error = captureError(() => encodeHeaderValue(value));
      expect(isRemoteConnectorError(error, "invalid_argument")).toBe(true);
      expect(error).toMatchObject({ delivery: "not_sent" });
    },
  );

  it("W-19: comes back from every well-formed string", () => {
    fc.assert(
      fc.property(anyText, (value) => {
        expect(decodeHeaderValue(encodeHeaderValue(value))).toBe(value);
      }),
      { seed: 19, numRuns: 2000 },
    );
  });

  it("W-19: is plain exactly when the rule allows it, a legal header value always, and untouched by trimming", () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const header = encodeHeaderValue(value);
        expect(header).toBe(mayTravelPlain(value) ? value : wrap(value));
        expect(header).toMatch(/^[\u0020-\u007e]+$/);
        expect(header.trim()).toBe(header);
      }),
      { seed: 1919, numRuns: 2000 },
    );
  });

  it("W-19: takes a value of megabytes", () => {
    const value = `${"é".repeat(1_000_000)} `;
    expect(encodeHeaderValue(value) === wrap(value)).toBe(true);
  });
});

describe("decodeHeaderValue", () => {
  it.each([
    ["one character", "=?base64?A?="],
    ["missing padding", "=?base64?QQ?="],
    ["half the padding", "=?base64?QQ=?="],
    ["too much padding", "=?base64?QQ===?="],
    ["padding alone", "=?base64?====?="],
    ["padding in front", "=?base64?=QQQ?="],
    ["padding inside", "=?base64?QQ==QQ==?="],
    ["the URL alphabet", "=?base64?-_-_?="],
    ["a space", "=?base64?QU FB?="],
    ["a line feed", "=?base64?QUFB\n?="],
    ["a letter beyond ASCII", "=?base64?é?="],
    ["a lone continuation byte", "=?base64?gA==?="],
    ["an overlong form", "=?base64?wIA=?="],
    ["an encoded surrogate", "=?base64?7aCA?="],
    ["a cut character", "=?base64?8J+Y?="],
    ["markers that share a mark", "=?base64?="],
  ])("W-19: a sentinel with %s stands for nothing", (_, header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });

  it.each(["a\nb", "a\r", "\0", "\u007f", "é", "世"])("W-19: %j is no header", (header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });

  it.each(["=?BASE64?QQ==?=", "=?Base64?QQ==?=", "=?base64?QQ==", "QQ==?=", "a\tb", ""])(
    "W-19: %j is its own text, since the markers count in lower case alone",
    (header) => {
      expect(decodeHeaderValue(header)).toBe(header);
    },
  );

  it("W-19: keeps a byte order mark", () => {
    expect(decodeHeaderValue("=?base64?77u/YQ==?=")).toBe("\ufeffa");
  });

  it("W-19: judges megabytes of broken Base64 without running out of stack", () => {
    const letters = "A".repeat(16 * 1024 * 1024);
    expect(decodeHeaderValue(`=?base64?${letters}!AAA?=`)).toBeUndefined();
    expect(decodeHeaderValue(`=?base64?${letters}A?=`)).toBeUndefined();
  });

  it("W-19: answers for any string, and what it answers can be sent again", () => {
    const pieces = fc.constantFrom("=?base64?", "?=", "=", "QUFB", "QQ==", "/+8=", "é", "\n", "A", " ");
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: pieces }), fc.string({ unit: "binary" })), (header) => {
        const value = decodeHeaderValue(header);
        if (value !== undefined) expect(decodeHeaderValue(encodeHeaderValue(value))).toBe(value);
      }),
      { seed: 192, numRuns: 2000 },
    );
  });
});
