import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeRequest, type RequestLine } from "../../../src/legacy-client/encode-line.js";
import { RawJson } from "../../../src/protocol/index.js";

function encode(request: Partial<RequestLine>): string {
  return encodeRequest({
    id: 1,
    method: "tools/call",
    params: undefined,
    meta: undefined,
    progressToken: undefined,
    ...request,
  });
}

describe("encodeRequest", () => {
  it.each<[string, Partial<RequestLine>, string]>([
    ["no params", {}, ""],
    ["params", { params: { name: "n", arguments: { a: 1 } } }, ',"params":{"name":"n","arguments":{"a":1}}'],
    ["no params beside undefined ones", { params: { cursor: undefined } }, ',"params":{}'],
    ["an empty cursor", { params: { cursor: "" } }, ',"params":{"cursor":""}'],
    ["meta", { meta: { k: 1 } }, ',"params":{"_meta":{"k":1}}'],
    [
      "meta over that of the params",
      { params: { _meta: { k: 1, l: 2 } }, meta: { k: 3 } },
      ',"params":{"_meta":{"k":3,"l":2}}',
    ],
    ["a progress token", { progressToken: 0 }, ',"params":{"_meta":{"progressToken":0}}'],
    ["both", { meta: { k: 1 }, progressToken: 7 }, ',"params":{"_meta":{"k":1,"progressToken":7}}'],
  ])("encodes %s", (_name, request, params) => {
    expect(encode(request)).toBe(`{"jsonrpc":"2.0","id":1,"method":"tools/call"${params}}`);
  });

  it("W-45: sends raw arguments as their text, on one line", () => {
    const line = encode({
      params: { name: "n", arguments: new RawJson('{"n":\r\n12345678901234567890.0,\n"s":"a\\nb"}') },
    });
    expect(line).toContain('"arguments":{"n":  12345678901234567890.0, "s":"a\\nb"}');
    expect(line).not.toMatch(/[\r\n]/);
  });

  it("L-13: is one line of JSON for any params", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ unit: "binary" }), (params, method) => {
        const { _meta, ...rest } = params;
        const line = encode({ params: rest, method });
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual({
          jsonrpc: "2.0",
          id: 1,
          method: JSON.parse(JSON.stringify(method)),
          params: JSON.parse(JSON.stringify(rest)),
        });
        expect(_meta).toBe(params["_meta"]);
      }),
      { seed: 24, numRuns: 300 },
    );
  });

  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  it.each<[string, Partial<RequestLine>, string]>([
    ["a circular value", { params: { arguments: circular } }, "arguments"],
    ["a bigint", { params: { arguments: { n: 1n } } }, "arguments"],
    ["a function", { params: { arguments: () => 1 } }, "arguments"],
    ["meta that is no object", { params: { _meta: 1 } }, "params._meta"],
    ["a progress token of the caller's own", { meta: { progressToken: 1 } }, "meta"],
    ["one in the params", { params: { _meta: { progressToken: "t" } }, progressToken: 1 }, "meta"],
  ])("F-1: refuses %s before anything is sent", (_name, request, argument) => {
    expect(() => encode(request)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        delivery: "not_sent",
        details: expect.objectContaining({ argument }),
      }),
    );
  });
});
