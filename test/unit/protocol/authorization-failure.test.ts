import { describe, expect, it } from "vitest";
import { type ErrorCode, type ErrorDetails, RemoteConnectorError } from "../../../src/errors.js";
import { isAuthorizationFailure, isNotAuthorized } from "../../../src/protocol/index.js";

function failed<C extends ErrorCode>(code: C, details: ErrorDetails[C]): RemoteConnectorError<C> {
  return new RemoteConnectorError(code, { message: "It failed.", details });
}

const url = "https://as.example";
const refused = (status?: number, errorCode?: string) =>
  failed("oauth_refused", { step: "refresh", issuer: url, status, errorCode });
const undiscovered = (status: number) => failed("oauth_discovery_failed", { url, status, reason: "" });

describe("A-8: what an authorizer ends with", () => {
  it.each<[string, unknown, boolean, boolean]>([
    ["a sign-in", failed("sign_in_required", { endpoint: "", reason: "no_token", scopes: [] }), true, true],
    [
      "a refused token",
      failed("token_refused", { endpoint: "", status: 403, reason: "scope_not_enough", scopes: [] }),
      true,
      true,
    ],
    ["invalid metadata", failed("oauth_invalid", { subject: "token", url, member: "", reason: "" }), true, true],
    ["no client", failed("client_identity_required", { issuer: url, reason: "expired" }), true, true],
    ["a refusal that a browser brought", refused(), true, true],
    ["a refusal", refused(400), true, true],
    ["an authorization server that is away", refused(500), true, false],
    ["one that asks for patience", refused(429), true, false],
    ["one that says so by a word", refused(400, "temporarily_unavailable"), true, false],
    ["metadata that are too much for it now", undiscovered(429), true, false],
    ["metadata that is refused", undiscovered(499), true, true],
    ["metadata that can't be had now", undiscovered(503), true, false],
    ["a failed authorizer of another kind", failed("authorize_failed", { reason: "" }), false, false],
    ["no connection", failed("connect_failed", { origin: url, reason: "" }), false, false],
    ["an abort", new Error("enough"), false, false],
    ["nothing", undefined, false, false],
  ])("is told for %s, and whether it stays", (_, error, isFailure, stays) => {
    expect([isAuthorizationFailure(error), isNotAuthorized(error)]).toEqual([isFailure, stays]);
  });
});
