import { describe, expect, it } from "vitest";
import { countOption, durationOption, refuseUnknownOptions } from "../../src/options.js";

const refused = (details: object) =>
  expect.objectContaining({ code: "invalid_options", delivery: "not_sent", details: expect.objectContaining(details) });

describe("options", () => {
  it.each([
    ["totalTimeout", "totalTimeoutMs"],
    ["totaltimeoutms", "totalTimeoutMs"],
    ["maxPage", "maxPages"],
    ["colour", undefined],
  ])("a key %s that nobody knows is refused, with %s as the name that was meant", (option, suggestion) => {
    const known = ["totalTimeoutMs", "maxPages"];
    expect(() => refuseUnknownOptions({ [option]: 1 }, known)).toThrow(refused({ option, suggestion }));
    expect(() => refuseUnknownOptions({ maxPages: 1 }, known)).not.toThrow();
  });

  it("F-7: a duration is above zero or Infinity; 0 never means a hidden default", () => {
    expect(durationOption("idleTimeoutMs", undefined, 5)).toBe(5);
    expect(durationOption("idleTimeoutMs", Infinity, 5)).toBe(Infinity);
    for (const value of [0, -1, Number.NaN]) {
      expect(() => durationOption("idleTimeoutMs", value, 5)).toThrow(refused({ option: "idleTimeoutMs" }));
    }
  });

  it("a count is a whole number in range, or Infinity", () => {
    expect(countOption("maxPages", undefined, 64)).toBe(64);
    expect(countOption("maxPages", 1, 64)).toBe(1);
    for (const value of [0, 1.5, -1, Number.NaN]) {
      expect(() => countOption("maxPages", value, 64)).toThrow(refused({ option: "maxPages" }));
    }
  });
});
