import { describe, expect, it } from "vitest";
import { type Delivery, type ErrorCode, type ErrorDetails, RemoteConnectorError } from "../../../src/errors.js";
import { retryAdvice, type RetrySituation } from "../../../src/protocol/index.js";

const nowMs = Date.UTC(2026, 0, 1);

function fault<C extends ErrorCode>(code: C, delivery: Delivery, details: ErrorDetails[C]): RemoteConnectorError<C> {
  return new RemoteConnectorError(code, { message: "", delivery, details });
}

const status = (code: number, delivery: Delivery, retryAfter?: string) =>
  fault("unexpected_answer", delivery, { status: code, mediaType: "", snippet: "", reason: "", retryAfter });
const peer = (rpcCode: number, more: { httpStatus?: number; rpcData?: unknown; retryAfter?: string } = {}) =>
  fault("peer_error", "answered", { rpcCode, rpcMessage: "", rpcData: undefined, ...more });
const broken = fault("connection_broken", "unknown", { origin: "", reason: "" });
const advise = (error: unknown, situation: Partial<RetrySituation> = {}) => retryAdvice(error, { nowMs, ...situation });

const SIGN_IN = { endpoint: "", reason: "no_token", scopes: [] } as const;
const REFUSED = { endpoint: "", status: 401, reason: "refused_again", scopes: [] } as const;

describe("retryAdvice", () => {
  it.each<[string, unknown, object]>([
    ["no connection", fault("connect_failed", "not_sent", { origin: "", reason: "" }), { kind: "now" }],
    [
      "no connection, and none to come",
      fault("connect_failed", "not_sent", { origin: "", reason: "", lasting: true }),
      { kind: "never" },
    ],
    ["a full queue", fault("limit_exceeded", "not_sent", { option: "maxQueuedRequests", limit: 1 }), { kind: "now" }],
    ["a full relay", fault("relay_refused", "not_sent", { reason: "busy", detail: "" }), { kind: "now" }],
    [
      "a lease that has ended",
      fault("relay_refused", "not_sent", { reason: "lease_ended", detail: "" }),
      { kind: "never" },
    ],
    ["an answer that is too large", fault("limit_exceeded", "answered", { option: "o", limit: 1 }), { kind: "never" }],
    ["an argument", fault("invalid_argument", "not_sent", { argument: "", reason: "" }), { kind: "never" }],
    ["a tool's own refusal", peer(-32602), { kind: "never" }],
    ["an abort", new Error("enough"), { kind: "never" }],
    ["a primitive", 0, { kind: "never" }],
    ["401", status(401, "answered"), { kind: "after_authorization" }],
    ["401 with an error", peer(-32600, { httpStatus: 401 }), { kind: "after_authorization" }],
    ["428", status(428, "answered"), { kind: "after_authorization" }],
    ["403", status(403, "answered"), { kind: "never" }],
    ["a sign-in", fault("sign_in_required", "answered", SIGN_IN), { kind: "after_authorization" }],
    [
      "a sign-in, before anything was sent",
      fault("sign_in_required", "not_sent", SIGN_IN),
      { kind: "after_authorization" },
    ],
    ["a token that is refused again", fault("token_refused", "answered", REFUSED), { kind: "never" }],
    ["no client", fault("client_identity_required", "answered", { issuer: "", reason: "none" }), { kind: "never" }],
    ["-33001", peer(-33001), { kind: "after_authorization" }],
    ["-33002", peer(-33002), { kind: "after_authorization" }],
    ["429", status(429, "answered", "3"), { kind: "after", ms: 3_000 }],
    ["429 with a date", status(429, "answered", "Thu, 01 Jan 2026 00:00:30 GMT"), { kind: "after", ms: 30_000 }],
    ["429 without a wish", status(429, "answered"), { kind: "now" }],
    ["429 with an error", peer(-32000, { httpStatus: 429, retryAfter: "2" }), { kind: "after", ms: 2_000 }],
    ["-33005", peer(-33005, { rpcData: { retryAfterMs: 40 } }), { kind: "after", ms: 40 }],
    ["-33003 behind which nothing is known", peer(-33003, { rpcData: { delivery: "unknown" } }), { kind: "ask" }],
    ["-33004 of which nothing is known", peer(-33004), { kind: "ask" }],
    ["-33003 of which nothing is known", peer(-33003), { kind: "ask" }],
    ["504 with an error", peer(-32603, { httpStatus: 504 }), { kind: "ask" }],
    ["-33004 that was answered behind", peer(-33004, { rpcData: { delivery: "answered" } }), { kind: "now" }],
    [
      "a walk that was capped",
      fault("limit_exceeded", "not_sent", { option: "maxPages", limit: 1 }),
      { kind: "never" },
    ],
    ["-33003 behind which nothing was sent", peer(-33003, { rpcData: { delivery: "not_sent" } }), { kind: "now" }],
    ["a broken connection", broken, { kind: "ask" }],
    ["503", status(503, "unknown", "1"), { kind: "ask" }],
    ["500", status(500, "unknown"), { kind: "ask" }],
    ["an answer that breaks the protocol", fault("invalid_answer", "unknown", { reason: "" }), { kind: "ask" }],
  ])("F-4: after %s", (_, error, advice) => {
    expect(advise(error)).toEqual(advice);
  });

  it("F-4: a read may be made again", () => {
    for (const method of ["tools/list", "resources/read", "completion/complete"]) {
      expect(advise(broken, { method })).toEqual({ kind: "now" });
      expect(advise(status(503, "unknown", "1"), { method })).toEqual({ kind: "after", ms: 1_000 });
    }
    expect(advise(fault("invalid_answer", "unknown", { reason: "" }), { method: "tools/list" })).toEqual({
      kind: "never",
    });
  });

  it.each([
    [{ readOnlyHint: true }, true, "now"],
    [{ idempotentHint: true }, true, "now"],
    [{ readOnlyHint: true }, false, "ask"],
    [{ readOnlyHint: false }, true, "ask"],
    [{ readOnlyHint: "true" }, true, "ask"],
    [{}, true, "ask"],
    [undefined, true, "ask"],
  ])("F-4: with the hints %j, trusted: %j, %s", (annotations, trustsHints, kind) => {
    expect(advise(broken, { tool: { annotations }, trustsHints })).toEqual({ kind });
  });
});
