import { describe, expect, it } from "vitest";
import { type LegacyCallOptions, resolveLegacyCallOptions } from "../../../src/legacy-client/call-options.js";

function refusal(option: string, more: object = {}): unknown {
  return expect.objectContaining({
    code: "invalid_options",
    delivery: "not_sent",
    details: expect.objectContaining({ option, ...more }),
  });
}

describe("resolveLegacyCallOptions", () => {
  const fallback = { connectTimeoutMs: 1, idleTimeoutMs: 2, totalTimeoutMs: 3 };

  it("F-7: fills in the client's deadlines one by one", () => {
    expect(resolveLegacyCallOptions({ idleTimeoutMs: 9 }, fallback)).toMatchObject({
      connectTimeoutMs: 1,
      idleTimeoutMs: 9,
      totalTimeoutMs: 3,
      detail: false,
    });
  });

  it("L-23: takes what the calls of modern clients are told of output", () => {
    for (const outputCheck of ["report", "enforce", "off"] as const)
      resolveLegacyCallOptions({ outputCheck }, fallback);
  });

  it("refuses unknown names and values out of range", () => {
    const misspelt: LegacyCallOptions = Object.assign({ meta: undefined }, { onprogress: () => undefined });
    expect(() => resolveLegacyCallOptions(misspelt, fallback)).toThrow(
      refusal("onprogress", { suggestion: "onProgress" }),
    );
    expect(() => resolveLegacyCallOptions({ totalTimeoutMs: 0 }, fallback)).toThrow(refusal("totalTimeoutMs"));
    const odd: LegacyCallOptions = JSON.parse('{"outputCheck":"never"}');
    expect(() => resolveLegacyCallOptions(odd, fallback)).toThrow(refusal("outputCheck"));
  });
});
