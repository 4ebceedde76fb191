import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { isDenial, isLasting, providerFailure } from "../../../src/gateway/authorizing/provider-failure.js";

const SECRET = "sentinel-of-the-provider";

/** As the library's errors are: with members of their own. */
function oauthError(members: object, cause?: unknown): Error {
  return Object.assign(new Error(`said ${SECRET}`, { cause }), members);
}

describe("providerFailure", () => {
  it.each([
    [
      oauthError({ code: "OAUTH_RESPONSE_BODY_ERROR", error: "invalid_grant" }),
      "OAUTH_RESPONSE_BODY_ERROR",
      "invalid_grant",
    ],
    [oauthError({ code: "OAUTH_PARSE_ERROR" }, new SyntaxError(SECRET)), "OAUTH_PARSE_ERROR", undefined],
    [oauthError({ code: SECRET, error: SECRET }), "Error", undefined],
    [new TypeError("fetch failed", { cause: oauthError({ code: "ECONNREFUSED" }) }), "ECONNREFUSED", undefined],
    [new RangeError(SECRET), "RangeError", undefined],
    [SECRET, "unknown", undefined],
  ])("F-6: keeps nothing but codes of %o", (error, reason, errorCode) => {
    const failure = providerFailure("c", error);
    expect(failure).toMatchObject({ code: "authorization_failed", details: { connectorKey: "c", reason, errorCode } });
    expect(failure.cause).toBeUndefined();
    expect(failure.message + JSON.stringify(failure)).not.toContain(SECRET);
  });

  it("F-6: leaves errors of this package as they are", () => {
    const error = new RemoteConnectorError("cancelled", { message: "over", details: { reason: "closed" } });
    expect(providerFailure("c", error)).toBe(error);
  });

  it.each([
    ["access_denied", true, false],
    ["invalid_grant", false, true],
    ["unsupported_grant_type", false, true],
    ["temporarily_unavailable", false, false],
    [SECRET, false, false],
  ])("P-10: %s is a denial: %s, and lasting: %s", (error, denial, lasting) => {
    const failure = providerFailure("c", oauthError({ error }));
    expect([isDenial(failure), isLasting(failure)]).toEqual([denial, lasting]);
  });
});
