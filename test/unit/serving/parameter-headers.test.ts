import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeHeaderValue, mirrorArguments, RpcCode, type ToolContract } from "../../../src/protocol/index.js";
import { checkParameterHeaders } from "../../../src/serving/index.js";

const contract: ToolContract = {
  parameters: [
    { header: "Mcp-Param-Region", path: ["region"] },
    { header: "Mcp-Param-Count", path: ["page", "count"] },
    { header: "Mcp-Param-Dry", path: ["dry"] },
  ],
};

const codeOf = (headers: Record<string, string>, args: Record<string, unknown>): number | undefined =>
  checkParameterHeaders(headers, contract, args, 1)?.error.code;

describe("checkParameterHeaders", () => {
  it.each([
    ["nothing at all", {}, {}],
    ["a string", { "mcp-param-region": "eu" }, { region: "eu" }],
    ["a wrapped string", { "mcp-param-region": "=?base64?w6Q=?=" }, { region: "ä" }],
    ["a wrapped string that needed no wrapping", { "mcp-param-region": "=?base64?ZXU=?=" }, { region: "eu" }],
    ["an empty string", { "mcp-param-region": "=?base64??=" }, { region: "" }],
    ["null, which counts as absent", {}, { region: null }],
    ["a nested integer", { "mcp-param-count": "-7" }, { page: { count: -7 } }],
    ["an integer with a fraction of zeros", { "mcp-param-count": "42.0" }, { page: { count: 42 } }],
    ["a negative zero", { "mcp-param-count": "-0" }, { page: { count: 0 } }],
    ["a boolean", { "mcp-param-dry": "false" }, { dry: false }],
    ["a header that the contract does not know", { "mcp-param-other": "x" }, {}],
    ["the largest safe integer", { "mcp-param-count": "9007199254740991.00" }, { page: { count: 9007199254740991 } }],
  ])("H-21: accepts %s", (_what, headers, args) => {
    expect(codeOf(headers, args)).toBeUndefined();
  });

  it.each([
    ["a missing header", {}, { region: "eu" }],
    ["another value", { "mcp-param-region": "us" }, { region: "eu" }],
    ["another case", { "mcp-param-region": "EU" }, { region: "eu" }],
    ["a header without a value in the arguments", { "mcp-param-region": "eu" }, {}],
    ["a header beside null", { "mcp-param-region": "null" }, { region: null }],
    ["an empty header beside nothing", { "mcp-param-region": "" }, {}],
    ["a broken sentinel", { "mcp-param-region": "=?base64?x?=" }, { region: "eu" }],
    ["characters that a header can't carry", { "mcp-param-region": "\u00e4" }, { region: "ä" }],
    [
      "a fraction that only rounding makes equal",
      { "mcp-param-count": "9007199254740991.4" },
      { page: { count: 9007199254740991 } },
    ],
    ["an exponent", { "mcp-param-count": "1e1" }, { page: { count: 10 } }],
    ["a leading zero", { "mcp-param-count": "042" }, { page: { count: 42 } }],
    ["a number's text beside a string of digits", { "mcp-param-region": "42.0" }, { region: "42" }],
    ["a boolean in another case", { "mcp-param-dry": "True" }, { dry: true }],
  ])("H-21: refuses %s with -32020", (_what, headers, args) => {
    expect(codeOf(headers, args)).toBe(RpcCode.headerMismatch);
  });

  it.each([
    ["a fraction", { page: { count: 1.5 } }],
    ["an unsafe integer", { page: { count: 2 ** 53 } }],
    ["an object", { region: {} }],
    ["a list", { region: ["eu"] }],
  ])("W-20: %s can't be mirrored: -32602", (_what, args) => {
    expect(codeOf({ "mcp-param-region": "eu", "mcp-param-count": "1" }, args)).toBe(RpcCode.invalidParams);
  });

  it("W-19: accepts whatever the client's codec makes of any arguments", () => {
    const argument = fc.oneof(fc.string({ unit: "grapheme" }), fc.boolean(), fc.constant(null));
    const run = fc.record({ region: argument, page: fc.record({ count: fc.maxSafeInteger() }), dry: argument });
    fc.assert(
      fc.property(run, (args) => {
        const headers: Record<string, string> = {};
        for (const { header, value } of mirrorArguments(contract, args)) {
          headers[header.toLowerCase()] = encodeHeaderValue(value);
        }
        expect(checkParameterHeaders(headers, contract, args, 1)).toBeUndefined();
      }),
      { seed: 21, numRuns: 300 },
    );
  });
});
