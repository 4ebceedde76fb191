import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRequestId } from "../../../../src/protocol/index.js";
import { EnvelopeScan } from "../../../../src/transport/process/envelope-scan.js";

function scan(text: string, at = text.length): unknown {
  const bytes = new TextEncoder().encode(text);
  const envelope = new EnvelopeScan();
  envelope.push(bytes.subarray(0, at));
  envelope.push(bytes.subarray(at));
  return envelope.envelope();
}

describe("EnvelopeScan", () => {
  it.each([
    ["an id at the end", '{"result":{"id":9},"id":3}', { id: 3, hasMethod: false }],
    ["an id at the start", '{"id":3,"result":{"id":9}}', { id: 3, hasMethod: false }],
    ["white space", ' { "id" : 3 , "result" : [ 1 , { } ] } ', { id: 3, hasMethod: false }],
    ["a string as id", '{"id":"3"}', { id: "3", hasMethod: false }],
    ["an empty id", '{"id":""}', { id: "", hasMethod: false }],
    ["zero", '{"id":0}', { id: 0, hasMethod: false }],
    ["the last of two ids", '{"id":1,"id":2}', { id: 2, hasMethod: false }],
    ["an escaped name", '{"\\u0069d":3}', { id: 3, hasMethod: false }],
    ["a method", '{"id":3,"method":"ping"}', { id: 3, hasMethod: true }],
    ["a method inside the params only", '{"id":3,"params":{"method":"x"}}', { id: 3, hasMethod: false }],
    ["a text that looks like members", '{"result":"\\",\\"id\\":9,","id":3}', { id: 3, hasMethod: false }],
    ["null as id", '{"id":null}', { id: undefined, hasMethod: false }],
    ["a fraction as id", '{"id":1.5}', { id: undefined, hasMethod: false }],
    ["an object as id", '{"id":{"id":3}}', { id: undefined, hasMethod: false }],
    ["an id of a batch's element", '[{"id":3}]', { id: undefined, hasMethod: false }],
    ["an id that is cut", '{"id":31', { id: undefined, hasMethod: false }],
    ["an id beyond any that is used", `{"id":"${"x".repeat(500)}"}`, { id: undefined, hasMethod: false }],
    ["plain text", "progress: 40% [id: 3]", { id: undefined, hasMethod: false }],
  ])("F-10: reads %s, at every split point", (_name, text, expected) => {
    for (let at = 0; at <= text.length; at += 1) expect(scan(text, at)).toEqual(expected);
  });

  it("F-10: agrees with JSON.parse on the id of any object", () => {
    const member = fc.oneof(fc.constantFrom("id", "method", "result", "jsonrpc"), fc.string());
    const value = fc.oneof(fc.integer(), fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.dictionary(member, value), (object) => {
        const parsed = JSON.parse(JSON.stringify(object));
        const id: unknown = parsed.id;
        expect(scan(JSON.stringify(object))).toEqual({
          id: isRequestId(id) && String(id).length < 200 ? id : undefined,
          hasMethod: Object.hasOwn(parsed, "method"),
        });
      }),
      { seed: 21, numRuns: 500 },
    );
  });
});
