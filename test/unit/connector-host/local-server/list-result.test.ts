import { describe, expect, it } from "vitest";
import { legacyList, legacyTools, modernList } from "../../../../src/connector-host/local-server/list-result.js";

const EXACT = '{ "name":"a_x","inputSchema":{"type":"object","maximum":12345678901234567890}, "foreign" : 1.0 }';

function exposed(definition: string): { name: string; definition: string } {
  return { name: "x", definition };
}

describe("H-24: a list", () => {
  it("is one page of whole definitions for a modern agent", () => {
    const text = modernList("tools", [EXACT, "{}"], { "sh.tutti/omitted": [] });
    expect(text).toBe(
      `{"resultType":"complete","tools":[${EXACT},{}],"ttlMs":0,"cacheScope":"private","_meta":{"sh.tutti/omitted":[]}}`,
    );
  });

  it("is one page of whole definitions for a legacy agent", () => {
    expect(legacyList("prompts", [EXACT, "{}"], {})).toBe(`{"prompts":[${EXACT},{}]}`);
    expect(legacyList("tools", [], { a: 1 })).toBe('{"tools":[],"_meta":{"a":1}}');
  });

  it.each<[string, string, string]>([
    ["an array", '{"name":"a","outputSchema":{"type":"array"},"z":1}', '{"name":"a","z":1}'],
    ["any of two", '{"outputSchema":{"anyOf":[]},"name":"a"}', '{"name":"a"}'],
    ["true", '{"name":"a","outputSchema":true}', '{"name":"a"}'],
    ["an array behind an escaped name", '{"name":"a","output\\u0053chema":{"type":"array"}}', '{"name":"a"}'],
    [
      "an object",
      '{"name":"a","outputSchema":{ "type" : "object" }}',
      '{"name":"a","outputSchema":{ "type" : "object" }}',
    ],
    ["only mentioned", '{"name":"a","description":"outputSchema"}', '{"name":"a","description":"outputSchema"}'],
  ])("leaves out what a legacy revision can't express: an output schema that is %s", (_name, given, expected) => {
    expect(legacyTools([exposed(given)])).toEqual([expected]);
  });
});
