import { expect, it } from "vitest";
import { classifyFailure } from "../../../../src/auth-projection/flows/classify-failure.js";
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
