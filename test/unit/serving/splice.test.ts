import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addMissingMembers, changeMembers, resultLine } from "../../../src/serving/index.js";

const change = (json: string, changes: Record<string, string | undefined>): string =>
  Buffer.from(changeMembers(Buffer.from(json), changes)).toString("utf8");

const add = (json: string): string =>
  Buffer.from(addMissingMembers(Buffer.from(json), { resultType: '"complete"', ttlMs: "0" })).toString("utf8");

describe("changeMembers", () => {
  it.each([
    ["replaces in place", '{ "a" : 1 , "b":[2] }', { a: "9" }, '{ "a" : 9 , "b":[2] }'],
    ["adds in front", '{"a":1}', { n: '"x"', m: "2" }, '{"n":"x","m":2,"a":1}'],
    ["adds to an empty object", "{ }", { n: "null" }, '{"n":null }'],
    ["removes the first", '{"a":1, "b":2}', { a: undefined }, '{"b":2}'],
    ["removes one in the middle", '{"a":1,"b":2 ,"c":3}', { b: undefined }, '{"a":1,"c":3}'],
    ["removes the last", '{"a":1 , "b":2}', { b: undefined }, '{"a":1}'],
    ["removes the last two", '{"a":1,"b":2,"c":3}', { b: undefined, c: undefined }, '{"a":1}'],
    ["removes the only one", '{ "a":1 }', { a: undefined }, "{ }"],
    ["removes all", '{"a":1,"b":2}', { a: undefined, b: undefined }, "{}"],
    ["removes all and adds", '{"a":1,"b":2}', { a: undefined, b: undefined, c: "3" }, '{"c":3}'],
    ["replaces one, removes its neighbour", '{"a":1,"b":2,"c":3}', { a: "0", b: undefined }, '{"a":0,"c":3}'],
    ["ignores the removal of what is not there", '{"a":1}', { x: undefined }, '{"a":1}'],
    ["finds a name through its escapes", '{"\\u0061":1}', { a: "2" }, '{"\\u0061":2}'],
    ["does not look into values", '{"x":{"a":1},"y":"\\"a\\":2"}', { a: "3" }, '{"a":3,"x":{"a":1},"y":"\\"a\\":2"}'],
    ["lets the last of two count", '{"a":1,"b":2,"a":3}', { a: "4" }, '{"b":2,"a":4}'],
    ["removes both of two", '{"a":1,"b":2,"a":3}', { a: undefined }, '{"b":2}'],
    [
      "leaves other values to the byte",
      '{"n":12345678901234567890,"f":1.0e+2,"a":0}',
      { a: "1" },
      '{"n":12345678901234567890,"f":1.0e+2,"a":1}',
    ],
    ["leaves what is no object", "[1]", { a: "1" }, "[1]"],
    ["is not confused by inherited names", '{"a":1}', {}, '{"a":1}'],
  ])("W-45: %s", (_what, json, changes, expected) => {
    expect(change(json, changes)).toBe(expected);
  });

  it("W-45: takes `toString` and `__proto__` as ordinary names", () => {
    expect(change('{"toString":1,"__proto__":2}', { a: "3" })).toBe('{"a":3,"toString":1,"__proto__":2}');
  });

  it("W-45: means for every object and every change what JSON.parse would say", () => {
    const name = fc.constantFrom("a", "b", "resultType", "ttlMs", 'q"uote', "\u00e4\\", "");
    const members = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true });
    const changes = fc.dictionary(name, fc.option(fc.jsonValue(), { nil: undefined }), { noNullPrototype: true });
    const indent = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(members, changes, indent, (object, changed, space) => {
        const texts = Object.fromEntries(
          Object.entries(changed).map(([key, value]) => [key, value === undefined ? undefined : JSON.stringify(value)]),
        );
        const expected: Record<string, unknown> = JSON.parse(JSON.stringify(object));
        for (const [key, text] of Object.entries(texts)) {
          if (text === undefined) delete expected[key];
          else expected[key] = JSON.parse(text);
        }
        expect(JSON.parse(change(JSON.stringify(object, null, space), texts))).toEqual(expected);
      }),
      { seed: 45, numRuns: 500 },
    );
  });
});

describe("addMissingMembers", () => {
  it.each([
    ['{"tools":[]}', '{"resultType":"complete","ttlMs":0,"tools":[]}'],
    ['{"ttlMs":5,"tools":[]}', '{"resultType":"complete","ttlMs":5,"tools":[]}'],
    ['{"ttlMs":null,"resultType":"x"}', '{"ttlMs":null,"resultType":"x"}'],
    ["{}", '{"resultType":"complete","ttlMs":0}'],
  ])("W-45: %s", (json, expected) => {
    expect(add(json)).toBe(expected);
  });

  it("W-45: gives back the same bytes when nothing is missing", () => {
    const bytes = Buffer.from('{ "ttlMs":1, "resultType" : "complete" }');
    expect(addMissingMembers(bytes, { resultType: "1", ttlMs: "2" })).toBe(bytes);
  });
});

describe("resultLine", () => {
  it.each([0, "", 7, 'a"b'])("W-5: echoes the id %j as it came", (id) => {
    const raw = '{"n":12345678901234567890, "z":1,"a":2}';
    const line = Buffer.from(resultLine(id, Buffer.from(raw))).toString("utf8");
    expect(line).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${raw}}`);
  });
});
