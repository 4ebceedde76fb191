import { describe, expect, it } from "vitest";
import { provesNotSent } from "../../../src/transport/proves-not-sent.js";

const withCode = (facts: object, cause?: unknown): Error =>
  Object.assign(new Error("x", cause === undefined ? undefined : { cause }), facts);

describe("provesNotSent", () => {
  it.each([
    ["a refused connection", withCode({ code: "ECONNREFUSED" })],
    ["the same under a TypeError", withCode({}, withCode({ code: "ECONNREFUSED" }))],
    ["a name without address", withCode({}, withCode({ code: "ENOTFOUND", syscall: "getaddrinfo" }))],
    ["a connect that timed out", withCode({}, withCode({ code: "ETIMEDOUT", syscall: "connect" }))],
    ["a certificate that is not trusted", withCode({}, withCode({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }))],
    [
      "attempts on several addresses",
      withCode({}, Object.assign(new AggregateError([withCode({ syscall: "connect" })]), { code: "ENETUNREACH" })),
    ],
  ])("F-1, F-20: %s does", (_, error) => {
    expect(provesNotSent(error)).toBe(true);
  });

  it.each([
    ["a reset", withCode({}, withCode({ code: "ECONNRESET", syscall: "read" }))],
    ["a reset that does not say when", withCode({ code: "ECONNRESET" })],
    ["a broken pipe", withCode({ code: "EPIPE", syscall: "write" })],
    ["a time limit", withCode({}, withCode({ code: "UND_ERR_HEADERS_TIMEOUT" }))],
    ["an error that only says so in words", new Error("net::ERR_CONNECTION_REFUSED")],
    ["attempts of which one got further", new AggregateError([withCode({ syscall: "connect" }), withCode({})])],
    ["no attempts at all", new AggregateError([])],
    ["a primitive", "ECONNREFUSED"],
    ["nothing", undefined],
  ])("F-1, F-20: %s does not", (_, error) => {
    expect(provesNotSent(error)).toBe(false);
  });
});
