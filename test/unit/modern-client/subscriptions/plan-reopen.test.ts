import { describe, expect, it } from "vitest";
import { type ErrorCode, RemoteConnectorError } from "../../../../src/errors.js";
import { planReopen } from "../../../../src/modern-client/subscriptions/plan-reopen.js";
import { readError, type SubscriptionEnd } from "../../../../src/modern-client/subscriptions/subscription-end.js";
import { peerError } from "../../../../src/protocol/index.js";

const config = { firstReopenDelayMs: 1_000, longestReopenDelayMs: 60_000, random: () => 0, wallNow: () => 0 };
const ended = new RemoteConnectorError("stream_ended", { message: "", delivery: "unknown", details: { reason: "" } });
const BROKEN: SubscriptionEnd = { kind: "broken", error: ended };
const plan = (end: SubscriptionEnd, failures = 0, openMs?: number, random = 0) =>
  planReopen(end, { failures, openMs }, { ...config, random: () => random });
const refused = (code: number, httpStatus?: number, retryAfter?: string) =>
  readError(peerError({ code, message: "no", data: undefined }, { httpStatus, retryAfter }), false);

const signIn = new RemoteConnectorError("sign_in_required", {
  message: "",
  delivery: "answered",
  details: { endpoint: "", reason: "token_refused", scopes: [] },
});

describe("planReopen", () => {
  it("W-37: pauses after failures double to the longest, half of each is random", () => {
    const delays = [0, 1, 2, 5, 6, 2_000].map((failures) => plan(BROKEN, failures));
    expect(delays.map((one) => (one.kind === "reopen" ? one.delayMs : -1))).toEqual([
      500, 1_000, 2_000, 16_000, 30_000, 30_000,
    ]);
    expect(plan(BROKEN, 1, undefined, 1)).toEqual({ kind: "reopen", delayMs: 2_000, failures: 2 });
  });

  it("W-37: one that was open for long begins anew, one that ends at once does not", () => {
    expect(plan(BROKEN, 3, 60_000)).toEqual({ kind: "reopen", delayMs: 500, failures: 1 });
    expect(plan(BROKEN, 3, 59_999)).toEqual({ kind: "reopen", delayMs: 4_000, failures: 4 });
  });

  it("W-37: a completed one waits for the long pause", () => {
    const long = { kind: "reopen", delayMs: 30_000, failures: 0 };
    expect(plan({ kind: "completed", result: {} }, 3)).toEqual(long);
    expect(plan({ kind: "ended_by_server", reason: undefined }, 3)).toEqual(long);
  });

  it.each([
    ["-32601", refused(-32601, 404)],
    ["-32021", refused(-32021, 400)],
    ["401", refused(-32603, 401)],
    ["403", refused(-32603, 403)],
    ["a sign-in that nobody was asked for", readError(signIn, false)],
    ["a sign-in that was asked for while it was open", readError(signIn, true)],
    ["-32602", refused(-32602, 400)],
    [
      "-32601 after the acknowledgement",
      { ...BROKEN, error: peerError({ code: -32601, message: "", data: undefined }) },
    ],
    ["our own end", { kind: "cancelled", reason: undefined }],
    ["a full buffer", { ...BROKEN, error: failure("limit_exceeded") }],
  ] as const)("W-37: there is no loop after %s", (_name, end) => {
    expect(plan(end)).toEqual({ kind: "stop" });
  });

  it.each(["maxQueuedRequests", "maxQueuedMessages"])(
    "W-37: a queue that was full for a moment is no end",
    (option) => {
      const error = new RemoteConnectorError("limit_exceeded", { message: "", details: { option, limit: 1 } });
      expect(plan({ kind: "refused", why: "other", error })).toMatchObject({ kind: "reopen", delayMs: 500 });
    },
  );

  it("W-37: a busy server says when", () => {
    expect(plan(refused(-32603, 503, "7"))).toEqual({ kind: "reopen", delayMs: 7_000, failures: 1 });
    expect(plan(refused(-32603, 500))).toMatchObject({ kind: "reopen", delayMs: 500 });
  });
});

function failure(code: ErrorCode & "limit_exceeded"): RemoteConnectorError {
  return new RemoteConnectorError(code, { message: "", details: { option: "maxBufferedNotifications", limit: 1 } });
}
