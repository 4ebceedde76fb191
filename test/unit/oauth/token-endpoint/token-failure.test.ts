import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { isClientRefusal, isLastingRefusal, isTransient } from "../../../../src/oauth/token-endpoint/index.js";

function refused(status: number | undefined, errorCode?: string): RemoteConnectorError<"oauth_refused"> {
  const details = { step: "refresh", issuer: "https://as.example", status, errorCode } as const;
  return new RemoteConnectorError("oauth_refused", { message: "refused", details });
}

function broken(code: "connection_broken" | "connect_failed", lasting?: true): RemoteConnectorError {
  const details = { origin: "https://as.example", reason: "reset", ...(lasting === undefined ? {} : { lasting }) };
  return new RemoteConnectorError(code, { message: "broken", details });
}

const OVER = new RemoteConnectorError("timeout", {
  message: "over",
  details: { phase: "total", option: "requestTimeoutMs", limitMs: 1 },
});
const CLOSED = new RemoteConnectorError("cancelled", { message: "closed", details: { reason: "closed" } });
const UNUSABLE = new RemoteConnectorError("oauth_invalid", {
  message: "unusable",
  details: { subject: "token", url: "https://as.example/token", member: "access_token", reason: "is missing" },
});

type Verdict = "passes" | "lasts" | "client" | "neither";

describe("A-7: what a failed request for a token means", () => {
  it.each<[string, unknown, Verdict]>([
    ["invalid_grant", refused(400, "invalid_grant"), "lasts"],
    ["invalid_grant with 200", refused(200, "invalid_grant"), "lasts"],
    ["invalid_scope", refused(400, "invalid_scope"), "lasts"],
    ["invalid_target", refused(400, "invalid_target"), "lasts"],
    ["unsupported_grant_type", refused(400, "unsupported_grant_type"), "lasts"],
    ["invalid_client", refused(401, "invalid_client"), "client"],
    ["unauthorized_client", refused(400, "unauthorized_client"), "client"],
    ["invalid_request", refused(400, "invalid_request"), "neither"],
    ["use_dpop_nonce", refused(400, "use_dpop_nonce"), "neither"],
    ["a refusal without a word", refused(400), "neither"],
    ["an answer that is no JSON", refused(200), "neither"],
    ["a refusal that a browser brought", refused(undefined, "access_denied"), "neither"],
    ["500", refused(500), "passes"],
    ["503", refused(503), "passes"],
    ["429", refused(429), "passes"],
    ["429 whatever it says", refused(429, "invalid_grant"), "passes"],
    ["429 whatever it says of the client", refused(429, "invalid_client"), "passes"],
    ["408", refused(408), "passes"],
    ["temporarily_unavailable", refused(400, "temporarily_unavailable"), "passes"],
    ["server_error", refused(400, "server_error"), "passes"],
    ["slow_down", refused(400, "slow_down"), "passes"],
    ["no connection", broken("connect_failed"), "passes"],
    ["an address that is refused", broken("connect_failed", true), "neither"],
    ["a broken connection", broken("connection_broken"), "passes"],
    ["a deadline", OVER, "passes"],
    ["an end", CLOSED, "neither"],
    ["a token that can't be used", UNUSABLE, "neither"],
    ["an abort", new DOMException("gone", "AbortError"), "neither"],
    ["nothing", undefined, "neither"],
  ])("%s", (_title, error, verdict) => {
    expect([isTransient(error), isLastingRefusal(error), isClientRefusal(error)]).toEqual([
      verdict === "passes",
      verdict === "lasts",
      verdict === "client",
    ]);
  });
});
