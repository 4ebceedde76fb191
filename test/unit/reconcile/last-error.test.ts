import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { boundedText, describeError } from "../../../src/reconcile/last-error.js";

describe("describeError", () => {
  it("R-1: keeps code and message of an error of this package", () => {
    const error = new RemoteConnectorError("connect_failed", {
      message: "No connection.",
      details: { origin: "https://example.com", reason: "refused" },
    });
    expect(describeError(error)).toEqual({ code: "connect_failed", message: "No connection." });
  });

  it.each([
    [new TypeError("secret"), "TypeError"],
    ["secret", "string"],
    [undefined, "undefined"],
    [{ code: "secret", message: "secret" }, "object"],
  ])("F-6: keeps no text of any other value: %o", (value, message) => {
    expect(describeError(value)).toEqual({ code: "unexpected", message });
  });
});

describe("boundedText", () => {
  it("R-1: has no control characters and at most 512 characters", () => {
    expect(boundedText(" a\r\n\tb\u0000\u0085c ")).toBe("a b c");
    expect(boundedText("x".repeat(513))).toHaveLength(512);
  });

  it("does not cut a character in half", () => {
    expect(boundedText(`${"x".repeat(511)}\u{1f600}`)).toBe("x".repeat(511));
    expect(boundedText(`${"x".repeat(510)}\u{1f600}y`)).toBe(`${"x".repeat(510)}\u{1f600}`);
  });
});
