import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, memberRange, RawJson, scanArray, scanObject } from "../../../src/protocol/index.js";
import { captureError } from "./capture-error.js";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The text at `path`, or `undefined`. */
function textAt(text: string, ...path: string[]): string | undefined {
  const json = encode(text);
  const range = memberRange(json, path);
  return range === undefined ? undefined : Buffer.from(json.subarray(range.start, range.end)).toString("utf8");
}

function rangeOrError(json: Uint8Array, path: readonly string[]): unknown {
  try {
    return memberRange(json, path);
  } catch (error) {
    return error;
  }
}

/** JSON as text, with the places that matter known from how it was made. */
type Rendered =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "list"; readonly text: string; readonly elements: readonly Rendered[] }
  | { readonly kind: "object"; readonly text: string; readonly members: readonly RenderedMember[] };
interface RenderedMember {
  readonly nameText: string;
  readonly value: Rendered;
}

const space = fc.oneof(
  { arbitrary: fc.constant(""), weight: 4 },
  fc.string({ unit: fc.constantFrom(" ", "\n", "\r", "\t"), maxLength: 4 }),
);

const hex = (code: number): string => `\\u${code.toString(16).padStart(4, "0")}`;

/** One character of a string, in each of the ways in which it can be written. */
const character = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom("{", "}", "[", "]", ",", ":", "a", "b", "é", "😀", "\ufeff", "\u2028"),
  fc.constantFrom('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0022", "\\u005C", "\\u005c"),
  fc.constantFrom(hex(0x61), hex(0x62), hex(0xd83d) + hex(0xde00), hex(0xd83d), hex(0xde00), hex(0), hex(0x7b)),
);
const stringText = fc.string({ unit: character, maxLength: 6 }).map((text) => `"${text}"`);

/** Few names in many spellings, so that they meet. */
const nameText = fc.oneof(fc.constantFrom('"a"', '"\\u0061"', '"b"', '""', '"__proto__"', '"a\\"b"'), stringText);

const scalarText = fc.oneof(
  fc.constantFrom("null", "true", "false", "0", "-0", "1e400", "-1.5E-7", "0.1000", "1E+2"),
  fc.constantFrom("9007199254740993", "123456789012345678901234567890.123456789012345678901234567890"),
  stringText,
);

const {
  value: renderedValue,
  object: renderedObject,
  list: renderedList,
} = fc.letrec<{
  value: Rendered;
  plain: Rendered;
  list: Rendered & { readonly kind: "list" };
  object: Rendered & { readonly kind: "object" };
}>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, tie("plain"), tie("list"), tie("object")),
  plain: scalarText.map((text) => ({ kind: "plain" as const, text })),
  list: fc.tuple(fc.array(fc.tuple(space, tie("value"), space), { maxLength: 4 }), space).map(([entries, inside]) => ({
    kind: "list" as const,
    text: `[${entries.length === 0 ? inside : entries.map(([before, { text }, after]) => before + text + after).join(",")}]`,
    elements: entries.map(([, element]) => element),
  })),
  object: fc
    .tuple(fc.array(fc.tuple(space, nameText, space, space, tie("value"), space), { maxLength: 5 }), space)
    .map(([entries, inside]) => ({
      kind: "object" as const,
      text: `{${
        entries.length === 0
          ? inside
          : entries.map(([a, name, b, c, { text }, d]) => `${a}${name}${b}:${c}${text}${d}`).join(",")
      }}`,
      members: entries.map(([, name, , , value]) => ({ nameText: name, value })),
    })),
}));

const padded = <T extends Rendered>(rendered: fc.Arbitrary<T>): fc.Arbitrary<readonly [string, T]> =>
  fc.tuple(space, rendered, space).map(([before, made, after]) => [before + made.text + after, made]);

describe("scanObject", () => {
  it("W-45: finds every member in order, by its name, and its value byte for byte", () => {
    fc.assert(
      fc.property(padded(renderedObject), ([text, made]) => {
        const json = encode(text);
        const slice = (start: number, end: number): string => Buffer.from(json.subarray(start, end)).toString("utf8");
        const scanned = scanObject(json);
        if (scanned === undefined) throw new Error("no object");
        expect(slice(scanned.start, scanned.end)).toBe(made.text);
        expect(scanned.members.map(({ name }) => name)).toEqual(
          made.members.map((member) => String(JSON.parse(member.nameText))),
        );
        scanned.members.forEach(({ start, value }, index) => {
          const member = made.members[index]!;
          expect(slice(start, start + encode(member.nameText).length)).toBe(member.nameText);
          expect(slice(value.start, value.end)).toBe(member.value.text);
        });
      }),
      { seed: 45, numRuns: 1000 },
    );
  });

  it("W-45: begins where it is told to", () => {
    const json = encode('[{"a":1}, \n{"b" : {} } ]');
    expect(scanObject(json, 9)).toEqual({
      start: 11,
      end: 22,
      members: [{ name: "b", start: 12, value: { start: 18, end: 20 } }],
    });
    expect(scanObject(json, 0)).toBeUndefined();
  });

  it.each(["", " ", "[]", '"{}"', "null", "1", "true", '[{"a":1}]'])("W-45: %j holds no object", (text) => {
    expect(scanObject(encode(text))).toBeUndefined();
  });
});

describe("scanArray", () => {
  it("W-45: finds every element in order, byte for byte", () => {
    fc.assert(
      fc.property(padded(renderedList), ([text, made]) => {
        const json = encode(text);
        const found = scanArray(json)?.map(({ start, end }) => Buffer.from(json.subarray(start, end)).toString("utf8"));
        expect(found).toEqual(made.elements.map((element) => element.text));
      }),
      { seed: 451, numRuns: 500 },
    );
  });

  it("W-45: begins where it is told to", () => {
    expect(scanArray(encode('{"a": [1,[2]]}'), 5)).toEqual([
      { start: 7, end: 8 },
      { start: 9, end: 12 },
    ]);
  });

  it.each(["", " ", "{}", '"[]"', "1", '{"a":[]}'])("W-45: %j holds no array", (text) => {
    expect(scanArray(encode(text))).toBeUndefined();
  });

  it.each(["[", "[1", "[,]", "[}", "[1}", "[1,,2]", "[1 2]", '["', "[:]", "[[}"])(
    "W-45: %j, which is no JSON, comes to an end too",
    (text) => {
      expect(scanArray(encode(text))?.length).toBeLessThan(4);
    },
  );
});

describe("memberRange", () => {
  it("W-45: the value at every path is what JSON.parse finds there", () => {
    fc.assert(
      fc.property(padded(renderedObject), ([text]) => {
        const visit = (value: unknown, path: readonly string[]): void => {
          const found = textAt(text, ...path);
          expect(found !== undefined && isDeepStrictEqual(JSON.parse(found), value)).toBe(true);
          if (!isJsonObject(value)) return;
          for (const [name, below] of Object.entries(value)) visit(below, [...path, name]);
          const missing = `${Object.keys(value).join("")}!`;
          expect(textAt(text, ...path, missing)).toBeUndefined();
        };
        visit(JSON.parse(text), []);
      }),
      { seed: 4545, numRuns: 500 },
    );
  });

  it("W-45: finds the same whatever stands around the member", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(nameText, renderedValue), { maxLength: 4 }), renderedValue, (others, wanted) => {
        const front = others.map(([name, { text }]) => `${name}:${text},`).join("");
        const behind = others.map(([name, { text }]) => `,"x${name.slice(1)}:${text}`).join("");
        expect(textAt(`{${front}"result":${wanted.text}${behind}}`, "result")).toBe(wanted.text);
      }),
      { seed: 454, numRuns: 500 },
    );
  });

  it.each([
    ["a number beyond 2^53", '{"result":{"n":12345678901234567890}}', '{"n":12345678901234567890}'],
    ["a number with its zeros", '{"result":1.000e+00}', "1.000e+00"],
    ["white space inside", '{ "result" :\t[ 1 , 2 ] }', "[ 1 , 2 ]"],
    ["brackets in strings", '{"result":{"a":"}]\\"}","b":"\\\\"},"c":1}', '{"a":"}]\\"}","b":"\\\\"}'],
    ["an escaped name", '{"r\\u0065sult":1}', "1"],
    ["the last of two", '{"result":1,"result":2}', "2"],
    ["the last of two spellings", '{"result":1,"\\u0072esult":{"x":2}}', '{"x":2}'],
    ["a name of the same length beside it", '{"resulx":1,"result":2,"rfsult":3}', "2"],
    ["the same name deeper", '{"a":{"result":1},"result":2,"b":[{"result":3}]}', "2"],
    ["a byte order mark in front", '\ufeff {"result":7}', "7"],
  ])("W-45: %s", (_, text, expected) => {
    expect(textAt(text, "result")).toBe(expected);
  });

  it.each([
    ["no such member", "{}", ["a"]],
    ["a list on the way", '{"a":[{"b":1}]}', ["a", "b"]],
    ["a list index", '{"a":[1]}', ["a", "0"]],
    ["text on the way", '{"a":"{\\"b\\":1}"}', ["a", "b"]],
    ["null on the way", '{"a":null}', ["a", "b"]],
    ["the last of two is no object", '{"a":{"b":1},"a":2}', ["a", "b"]],
    ["an object behind a number", '{"a":1,"c":{"b":1}}', ["a", "b"]],
    ["only the prototype has it", "{}", ["constructor"]],
    ["a list outside", '[{"a":1}]', ["a"]],
    ["nothing at all", "", ["a"]],
    ["another name that reads alike", '{"\ufffd":1}', ["\ud800"]],
  ])("W-45: undefined for %s", (_, text, path) => {
    expect(memberRange(encode(text), path)).toBeUndefined();
  });

  it("W-45: finds names that only escapes or unusual characters can write", () => {
    expect(textAt('{"\\ud800":1,"\ufffd":2}', "\ud800")).toBe("1");
    expect(textAt('{"\\ud800":1,"\ufffd":2}', "\ufffd")).toBe("2");
    expect(textAt('{"\ufeffa":1,"a":2}', "\ufeffa")).toBe("1");
    expect(textAt('{"\ufeffa":1,"a":2}', "a")).toBe("2");
    expect(textAt('{"a":0,"":1}', "")).toBe("1");
    expect(textAt('{"__proto__":{"x":1}}', "__proto__", "x")).toBe("1");
  });

  it("W-45: the empty path is the whole text", () => {
    expect(memberRange(encode(" {} "), [])).toEqual({ start: 0, end: 4 });
  });

  it("W-45: depth costs no stack", () => {
    const deep = `${'{"n":['.repeat(200_000)}1${"]}".repeat(200_000)}`;
    const json = encode(`{"before":${deep},"result":${deep}}`);
    expect(memberRange(json, ["result"])).toEqual({ start: json.length - deep.length - 1, end: json.length - 1 });
    expect(scanObject(json)?.members).toHaveLength(2);
  });

  it("W-45: malformed UTF-8 inside strings moves no border", () => {
    const json = Uint8Array.from(Buffer.from('{"\xff\\u0062\xe2":1,"result":"\xc3","x\xf0":"\xe2\x82"}', "latin1"));
    expect(Object.keys(JSON.parse(new TextDecoder().decode(json)))).toEqual(["\ufffdb\ufffd", "result", "x\ufffd"]);
    expect(scanObject(json)?.members.map(({ name }) => name)).toEqual(["\ufffdb\ufffd", "result", "x\ufffd"]);
    const range = memberRange(json, ["result"]);
    expect(range && [...json.subarray(range.start, range.end)]).toEqual([0x22, 0xc3, 0x22]);
  });

  it("W-45: what is no JSON comes to an end too", () => {
    const bytes = fc.array(fc.constantFrom(...encode('{}[]",:\\ \na1u'), 0xc3, 0xff, 0), { maxLength: 40 });
    fc.assert(
      fc.property(bytes, (array) => {
        const found = rangeOrError(Uint8Array.from([0x7b, ...array]), ["a1"]);
        expect(found === undefined || found instanceof SyntaxError || isJsonObject(found)).toBe(true);
      }),
      { seed: 5, numRuns: 2000 },
    );
  });
});

describe("RawJson", () => {
  it.each(['{"n":12345678901234567890}', "null", ' "x" ', "[1.0,\n2]", '{"b":1,"a":2,"b":3}'])(
    "W-45: keeps the text of %j beside its value",
    (text) => {
      const raw = new RawJson(text);
      expect(raw.text).toBe(text);
      expect(raw.value).toEqual(JSON.parse(text));
    },
  );

  it("W-45: takes what its text was parsed to from who has parsed it", () => {
    const text = '{"n":12345678901234567890}';
    const value: unknown = JSON.parse(text);
    const raw = new RawJson(text, value);
    expect(raw.text).toBe(text);
    expect(raw.value).toBe(value);
  });

  it.each(["", "{", "undefined", "{'a':1}", "[1,]", "\ufeff{}", "NaN"])("W-45: %j is no JSON", (text) => {
    expect(captureError(() => new RawJson(text))).toMatchObject({ code: "invalid_argument", delivery: "not_sent" });
  });
});
