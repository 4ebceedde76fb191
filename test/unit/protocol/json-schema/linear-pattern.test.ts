import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { translatePattern } from "../../../../src/protocol/json-schema/linear-pattern.js";

function linear(pattern: string, text: string): boolean | undefined {
  const translated = translatePattern(pattern);
  return translated === undefined ? undefined : RE2JS.compile(translated).test(text);
}

const TEXTS = [
  "",
  "a",
  "A",
  "aa",
  "ab",
  "b",
  "-",
  "]",
  "^",
  "\\",
  "\b",
  "\n",
  "\r",
  "\u2028",
  " ",
  "\u00a0",
  "\ufeff",
  "é",
  "😀",
  "0",
  "_",
  "\u0001",
  "[",
  "a\n",
  "/",
];

describe("translatePattern", () => {
  it.each([
    "^a$",
    "^.$",
    "^\\s$",
    "^\\S$",
    "^[\\s]$",
    "^[^\\s]$",
    "[\\s\\S]",
    "^[\\b]$",
    "\\bA",
    "^[]$",
    "^[^]$",
    "^\\u0061$",
    "^\\u{61}$",
    "^\\u{1F600}$",
    "^\\ud83d\\ude00$",
    "^\\x61$",
    "^\\cA$",
    "^[\\cA]$",
    "^\\p{L}$",
    "^\\p{Lu}$",
    "^\\p{Letter}$",
    "^\\P{L}$",
    "^\\p{Script=Latin}$",
    "^(?<n>a)$",
    "^(?:a|b)+$",
    "^[a\\-]$",
    "^[\\]\\\\]$",
    "^[\\^a]$",
    "^[^a]$",
    "^\\/$",
    "^[[]$",
    "^[[^]$",
    "^[[a]$",
    "^[\\]]$",

    "^\\d|\\w|\\W$",
    "^a{2}$",
    "^a{1,}$",
    "a*?",
    "^\\0?$",
    "^[.]$",
    "^[$]$",
    "^\\t?\\v?\\f?$",
  ])("W-38: %s means what it means in ECMAScript", (pattern) => {
    const native = new RegExp(pattern, "u");
    for (const text of TEXTS) expect([text, linear(pattern, text)]).toEqual([text, native.test(text)]);
  });

  it.each(["(a)\\1", "\\k<n>", "(?i:a)", "[\\B]", "\\Z", "\\Q"])("W-38: %s has no translation", (pattern) =>
    expect(translatePattern(pattern)).toBeUndefined(),
  );

  it("W-38: any pattern of the pieces means what it means in ECMAScript", () => {
    const pieces = [
      "a",
      "b",
      ".",
      "\\s",
      "\\S",
      "\\d",
      "\\w",
      "[ab]",
      "[^a\\s]",
      "(?:a|b)",
      "^",
      "$",
      "*",
      "+?",
      "{2}",
      "-",
      "\\.",
      "\\u{1F600}",
    ];
    const pattern = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(""));
    const text = fc
      .array(fc.constantFrom("a", "b", " ", "\u00a0", "0", "😀", "\n", "-"), { maxLength: 6 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        let native: RegExp;
        try {
          native = new RegExp(source, "u");
        } catch {
          return;
        }
        expect(linear(source, subject)).toBe(native.test(subject));
      }),
      { seed: 7, numRuns: 1_000 },
    );
  });
});
