import { describe, expect, it } from "vitest";
import { classifyActivationFault, readAuthorizationDemand } from "../../../../src/connector-host/activation/index.js";
import { type Delivery, type ErrorCode, type ErrorDetails, RemoteConnectorError } from "../../../../src/errors.js";

const NOW = Date.UTC(2026, 6, 28, 12, 0, 0);

function fault<C extends ErrorCode>(code: C, details: ErrorDetails[C], delivery?: Delivery): RemoteConnectorError<C> {
  return new RemoteConnectorError(code, { message: code, details, delivery });
}

function peer(rpcCode: number, more: Partial<ErrorDetails["peer_error"]> = {}): RemoteConnectorError<"peer_error"> {
  return fault("peer_error", { rpcCode, rpcMessage: "", rpcData: undefined, ...more }, "answered");
}

function status(code: number, retryAfter?: string): RemoteConnectorError<"unexpected_answer"> {
  return fault("unexpected_answer", { status: code, mediaType: "", snippet: "", reason: "", retryAfter });
}

describe("R-6: what the account has to do", () => {
  it.each<[string, unknown, boolean]>([
    ["-33001", peer(-33_001, { httpStatus: 428 }), false],
    ["-33001 without HTTP", peer(-33_001), false],
    ["-33002", peer(-33_002, { httpStatus: 200 }), true],
    ["-33002 under 428", peer(-33_002, { httpStatus: 428 }), true],
    ["428 with another code", peer(-32_000, { httpStatus: 428 }), false],
    ["a bare 428", status(428), false],
    ["our own verdict", fault("authorization_required", { connectorKey: "git", reauthorize: true }), true],
  ])("is read from %s, and counts for nothing", (_, error, reauthorize) => {
    expect(classifyActivationFault(error, NOW)).toEqual({ counts: false, authorization: { reauthorize } });
    expect(readAuthorizationDemand(error)).toEqual({ reauthorize });
  });

  it.each([
    peer(-33_003, { httpStatus: 503 }),
    peer(-33_006),
    status(401),
    status(403),
    new Error("428"),
    undefined,
    428,
  ])("is not read from %s", (error) => {
    expect(readAuthorizationDemand(error)).toBeUndefined();
  });
});

describe("R-4, R-6: what counts against a connector", () => {
  it.each<[string, unknown]>([
    ["a connection that can't be made", fault("connect_failed", { origin: "", reason: "" })],
    ["a connection that broke", fault("connection_broken", { origin: "", reason: "" }, "unknown")],
    ["a stream that was cut", fault("stream_ended", { reason: "" }, "unknown")],
    ["a deadline", fault("timeout", { phase: "total", option: "totalTimeoutMs", limitMs: 1 }, "unknown")],
    ["429", status(429)],
    ["500", status(500)],
    ["503", status(503)],
    ["408", status(408)],
    ["an account whose session is refused", status(401)],
    ["a forbidden account", peer(-32_000, { httpStatus: 403 })],
    ["a server error with JSON-RPC", peer(-32_603, { httpStatus: 502 })],
    ["-33003", peer(-33_003)],
    ["-33004", peer(-33_004, { httpStatus: 200 })],
    ["-33005", peer(-33_005)],
    ["an account that is signed out", fault("account_not_ready", {})],
    ["an authorizer that failed", fault("authorize_failed", { reason: "" })],
    ["a cancellation of ours", fault("cancelled", { reason: "" })],
    ["a request that was not admitted", fault("not_admitted", { reason: "" })],
    ["a full disk", fault("store_full", { path: "" })],
    ["a store that can't be used", fault("store_unavailable", { path: "", reason: "" })],
    ["a store that another process holds", fault("store_in_use", { path: "" })],
    ["a store of a newer version", fault("store_newer_format", { path: "", found: 2, known: 1 })],
    ["a relay without a lease for it", fault("relay_refused", { reason: "unauthorized", detail: "" }, "not_sent")],
    ["our own full queue", fault("limit_exceeded", { option: "maxQueuedRequests", limit: 1 }, "not_sent")],
  ])("%s does not", (_, error) => {
    expect(classifyActivationFault(error, NOW)).toEqual({ counts: false });
  });

  it.each<[string, unknown]>([
    ["-33006, under whatever status", peer(-33_006, { httpStatus: 502 })],
    ["-32601", peer(-32_601, { httpStatus: 404 })],
    ["an invalid answer", fault("invalid_answer", { reason: "" }, "answered")],
    ["an answer that is no MCP", status(200)],
    ["a missing endpoint", status(404)],
    ["a server without our revision", fault("unsupported_version", { supported: [], ours: [] }, "answered")],
    ["a server without tools", fault("unsupported", { feature: "tools" }, "answered")],
    ["a list that goes nowhere", fault("no_progress", { method: "tools/list", pages: 3 }, "answered")],
    ["what a relay can't read", fault("relay_refused", { reason: "invalid_request", detail: "" }, "not_sent")],
    ["a list that is too large", fault("limit_exceeded", { option: "maxPages", limit: 64 }, "answered")],
    ["a redirect", fault("redirect_refused", { status: 302, location: "", reason: "" }, "answered")],
    ["a process that ended", fault("process_exited", { exitCode: 1, signal: undefined, stderrTail: "" })],
    ["a fault of ours", fault("internal_error", { reason: "" })],
    ["an unknown error", new TypeError("x is not a function")],
    ["anything else", undefined],
  ])("%s does", (_, error) => {
    expect(classifyActivationFault(error, NOW)).toEqual({ counts: true });
  });
});

describe("R-6: when to come back", () => {
  it.each<[string, unknown, number]>([
    ["retry data", peer(-33_005, { rpcData: { retryAfterMs: 1_500 } }), 1_500],
    ["retry data of 0", peer(-33_005, { rpcData: { retryAfterMs: 0 }, retryAfter: "9" }), 0],
    ["Retry-After on an error", peer(-33_005, { retryAfter: "30" }), 30_000],
    ["retry data before Retry-After", peer(-33_003, { rpcData: { retryAfterMs: 5 }, retryAfter: "30" }), 5],
    ["Retry-After without JSON-RPC", status(503, "0"), 0],
    ["Retry-After as a date", status(429, "Tue, 28 Jul 2026 12:00:30 GMT"), 30_000],
    ["Retry-After as a date that is past", status(429, "Tue, 28 Jul 2026 11:00:00 GMT"), 0],
  ])("obeys %s", (_, error, retryAfterMs) => {
    expect(classifyActivationFault(error, NOW)).toEqual({ counts: false, retryAfterMs });
  });

  it.each<[string, unknown]>([
    ["a negative number", peer(-33_005, { rpcData: { retryAfterMs: -1 } })],
    ["no number", peer(-33_005, { rpcData: { retryAfterMs: "5" } })],
    ["no object", peer(-33_005, { rpcData: [5] })],
    ["a header that is no time", status(503, "soon")],
    ["a negative header", status(503, "-1")],
    ["a date that is none", status(503, "Tue, 99 Foo 2026 12:00:30 GMT")],
    ["another form of date", status(503, "2026-07-28")],
  ])("ignores %s", (_, error) => {
    expect(classifyActivationFault(error, NOW)).toEqual({ counts: false });
  });
});
