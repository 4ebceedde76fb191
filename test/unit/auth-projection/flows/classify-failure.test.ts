import { expect, it } from "vitest";
import { classifyFailure, pauseAfter } from "../../../../src/auth-projection/flows/classify-failure.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { broken, refusal } from "./world.js";

it.each([
  [refusal(400), "lasting", "refused", "http_400"],
  [refusal(409, "in_progress"), "lasting", "refused", "in_progress"],
  [refusal(408), "passing", "refused", "http_408"],
  [refusal(425), "passing", "refused", "http_425"],
  [refusal(429, "slow_down"), "passing", "refused", "slow_down"],
  [refusal(500), "passing", "refused", "http_500"],
  [refusal(503, "closed", false), "lasting", "refused", "closed"],
  [refusal(409, "busy", true), "passing", "refused", "busy"],
  [broken("unknown"), "passing", "unreachable", "connection_broken"],
  [broken("not_sent"), "passing", "unreachable", "connect_failed"],
  [
    new RemoteConnectorError("connect_failed", {
      message: "no",
      details: { origin: "o", reason: "certificate", lasting: true },
    }),
    "lasting",
    "unreachable",
    "connect_failed",
  ],
  [
    new RemoteConnectorError("account_not_ready", { message: "no", details: { status: 401 } }),
    "account",
    "refused",
    "account_not_ready",
  ],
  [
    new RemoteConnectorError("invalid_session", { message: "no", details: { reason: "r" } }),
    "lasting",
    "invalid_answer",
    "invalid_session",
  ],
  [new Error("passing"), "lasting", "invalid_answer", undefined],
])("P-10: %o is %s", (error, kind, reason, errorCode) => {
  expect(classifyFailure(error)).toEqual({ kind, reason, errorCode });
});

it.each([
  [refusal(429), 500, 500],
  [asking("7"), 500, 7_000],
  [asking("7"), 9_000, 9_000],
  [asking("3600"), 500, 60_000],
  [asking("soon"), 500, 500],
  [asking("Thu, 01 Jan 1970 00:00:03 GMT"), 500, 2_000],
  [broken(), 500, 500],
])("P-10: the pause after %o, of %i ms, is %i ms", (error, ownMs, expected) => {
  expect(pauseAfter(error, ownMs, 1_000)).toBe(expected);
});

function asking(retryAfter: string): RemoteConnectorError {
  const details = { status: 429, controlCode: undefined, controlMessage: undefined, retryable: undefined, retryAfter };
  return new RemoteConnectorError("control_plane_error", { message: "no", delivery: "answered", details });
}
