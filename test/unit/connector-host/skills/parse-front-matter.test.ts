import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFrontMatter } from "../../../../src/connector-host/skills/front-matter/index.js";

function textsOf(yaml: string): Record<string, string> {
  const parsed = parseFrontMatter(yaml);
  return parsed.kind === "texts" ? Object.fromEntries(parsed.texts) : { refused: parsed.reason };
}

describe("H-29: front matter", () => {
  it.each([
    ["name: pdf\ndescription: Reads them.\n", { name: "pdf", description: "Reads them." }],
    ["name: 'a: b'\ntitle: \"x\\ny\"", { name: "a: b", title: "x\ny" }],
    ["d: >\n  one\n  two\n", { d: "one two\n" }],
    ["a: b\r\nc: d\r\n", { a: "b", c: "d" }],
    // What other schemas make numbers, truths and dates of.
    [
      "a: 1\nb: yes\nc: 2024-01-01\nd: null\ne: 0x10\nf:",
      { a: "1", b: "yes", c: "2024-01-01", d: "null", e: "0x10", f: "" },
    ],
    ["a: b\nmetadata:\n  x: y\nlist: [1, 2]\n", { a: "b" }],
    ["<<: {name: x}\na: b", { a: "b" }],
    ["{a: b, c: d}", { a: "b", c: "d" }],
    ["# only a comment\na: b", { a: "b" }],
  ])("gives the texts of %j", (yaml, texts) => {
    expect(textsOf(yaml)).toEqual(texts);
  });

  it("gives names as they are, whatever objects have", () => {
    const parsed = parseFrontMatter("__proto__: a\nconstructor: b\ntoString: c");
    expect(parsed.kind === "texts" && [...parsed.texts]).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
      ["toString", "c"],
    ]);
  });

  it.each([
    ["", "is no mapping"],
    ["just words", "is no mapping"],
    ["- a", "is no mapping"],
    ["a: b\na: c", "is no YAML (DUPLICATE_KEY)"],
    ["? [a]\n: b", "is no YAML (NON_STRING_KEY)"],
    ["a: [", "is no YAML (BAD_INDENT)"],
    ["a: 'b", "is no YAML (MISSING_CHAR)"],
    ["a: b\n---\nc: d", "is no mapping"],
    ["a: &x b\nc: *x", "has an anchor, an alias or a tag"],
    ["a: &x b", "has an anchor, an alias or a tag"],
    ["&x\na: b", "has an anchor, an alias or a tag"],
    ["a: [[b, &x c]]", "has an anchor, an alias or a tag"],
    ["a: !!str b", "has an anchor, an alias or a tag"],
    ["a: !!binary aGVsbG8=", "has an anchor, an alias or a tag"],
    ["a: !!js/function 'x'", "has an anchor, an alias or a tag"],
    ["a: !<tag:x> |\n  b", "has an anchor, an alias or a tag"],
    ["&k a: b", "has an anchor, an alias or a tag"],
  ])("refuses %j", (yaml, reason) => {
    expect(parseFrontMatter(yaml)).toEqual({ kind: "refused", reason });
  });

  it.each(["[", "{a: ", "- ", "? ", "[{", "a: [", "? - ", "[? "])(
    "refuses as much nesting of %j as fits, and before anything runs out of stack",
    (opening) => {
      const yaml = `a: ${opening.repeat(8_192)}`.slice(0, 8_192);
      expect(parseFrontMatter(yaml).kind).toBe("refused");
    },
  );

  it("takes 16 levels, and no more", () => {
    const nested = (levels: number): string => `a: ${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(parseFrontMatter(nested(8)).kind).toBe("texts");
    expect(parseFrontMatter(nested(40))).toEqual({ kind: "refused", reason: "is nested more than 16 deep" });
  });

  it("never throws", () => {
    const piece = fc.constantFrom(
      "a",
      ": ",
      "\n",
      " ",
      "- ",
      "[",
      "]",
      "{",
      "}",
      "&x ",
      "*x",
      "!t ",
      "|\n",
      ">-\n",
      "'",
      '"',
      "#",
      "? ",
      "\t",
      "%",
      "...",
      "\u2028",
      "\ud800",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(["texts", "refused"]).toContain(parseFrontMatter(pieces.join("")).kind);
      }),
      { numRuns: 500 },
    );
  });

  it("gives back every text that was quoted", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(textsOf(`a: ${JSON.stringify(text)}`)).toEqual({ a: text });
      }),
    );
  });
});
