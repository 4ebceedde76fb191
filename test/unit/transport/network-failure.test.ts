import { describe, expect, it } from "vitest";
import { isLasting, networkCause, networkReason } from "../../../src/transport/network-failure.js";

it.each([
  ["request to https://x.example/mcp?key=secret failed", "request to https://x.example/mcp?… failed"],
  ["https://u:p@x.example/mcp: reset", "https://…@x.example/mcp: reset"],
  ["https://u:p@q@x.example/?a=b?c#d", "https://…@x.example/?…"],
  ["connect ECONNREFUSED 127.0.0.1:80", "connect ECONNREFUSED 127.0.0.1:80"],
  ["why?", "why?"],
])("F-6: the text %j of a network error is kept as %j", (text, kept) => {
  const error = Object.assign(new Error(text), { code: "E", data: "secret" });
  const cause = networkCause(error, networkReason(error));
  expect(cause.message).toBe(kept);
  expect(Object.entries(cause)).toEqual([["code", "E"]]);
});

it("F-6: a code is bounded", () => {
  expect(networkReason({ code: "E".repeat(1_000) }).length).toBeLessThanOrEqual(65);
  expect(networkReason(7)).toBe("unknown");
});

it("F-6: a long text takes time in proportion to its length", () => {
  const begun = performance.now();
  networkCause(new Error("//?".repeat(300_000)), "E");
  networkCause(new Error("/".repeat(1_000_000)), "E");
  expect(performance.now() - begun).toBeLessThan(1_000);
});

describe("isLasting", () => {
  it.each(["ERR_ADDRESS_REFUSED", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID", "SELF_SIGNED_CERT_IN_CHAIN"])(
    "F-11: %s does not pass by itself",
    (reason) => expect(isLasting(reason)).toBe(true),
  );

  it.each(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ECONNRESET", "UND_ERR_CONNECT_TIMEOUT", "Error", ""])(
    "F-11: %s may",
    (reason) => expect(isLasting(reason)).toBe(false),
  );
});
