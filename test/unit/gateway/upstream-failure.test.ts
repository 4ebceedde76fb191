import { describe, expect, it } from "vitest";
import { type Delivery, type ErrorCode, type ErrorDetails, RemoteConnectorError } from "../../../src/errors.js";
import { classifyUpstreamFailure } from "../../../src/gateway/upstream-failure.js";
import { RpcCode } from "../../../src/protocol/index.js";

function failed<C extends ErrorCode>(code: C, details: ErrorDetails[C], delivery: Delivery = "unknown"): unknown {
  return new RemoteConnectorError(code, { message: "secret text", delivery, details });
}

function peer(rpcCode: number, more: { rpcData?: unknown; httpStatus?: number; retryAfter?: string } = {}): unknown {
  return failed("peer_error", { rpcCode, rpcMessage: "said", rpcData: undefined, ...more }, "answered");
}

function answered(status: number, retryAfter?: string): unknown {
  return failed("unexpected_answer", { status, retryAfter, mediaType: "text/html", snippet: "<p>", reason: "status" });
}

const NOW = Date.UTC(2026, 0, 1);

describe("classifyUpstreamFailure", () => {
  it.each([
    [
      "refused connection",
      failed("connect_failed", { origin: "o", reason: "ECONNREFUSED" }, "not_sent"),
      503,
      RpcCode.connectorUnavailable,
    ],
    [
      "broken connection",
      failed("connection_broken", { origin: "o", reason: "ECONNRESET" }),
      503,
      RpcCode.connectorUnavailable,
    ],
    ["stream without an end", failed("stream_ended", { reason: "r" }), 503, RpcCode.connectorUnavailable],
    [
      "program that can't start",
      failed("spawn_failed", { command: "c", reason: "ENOENT" }, "not_sent"),
      503,
      RpcCode.connectorUnavailable,
    ],
    [
      "program that exited",
      failed("process_exited", { exitCode: 1, signal: undefined, stderrTail: "" }),
      503,
      RpcCode.connectorUnavailable,
    ],
    ["closed upstream", failed("cancelled", { reason: "r" }, "not_sent"), 503, RpcCode.connectorUnavailable],
    [
      "full queue",
      failed("limit_exceeded", { option: "maxQueuedRequests", limit: 1 }, "not_sent"),
      503,
      RpcCode.connectorUnavailable,
    ],
    ["status 502", answered(502), 503, RpcCode.connectorUnavailable],
    ["status 503", answered(503), 503, RpcCode.connectorUnavailable],
    [
      "deadline",
      failed("timeout", { phase: "idle", option: "idleTimeoutMs", limitMs: 5 }),
      504,
      RpcCode.upstreamTimeout,
    ],
    ["status 504", answered(504), 504, RpcCode.upstreamTimeout],
    ["status 408", answered(408), 504, RpcCode.upstreamTimeout],
    ["status 429", answered(429), 429, RpcCode.upstreamRateLimited],
    ["status 429 with an error", peer(-1, { httpStatus: 429 }), 429, RpcCode.upstreamRateLimited],
    ["status 401", answered(401), 502, RpcCode.upstreamProtocolError],
    ["status 500", answered(500), 502, RpcCode.upstreamProtocolError],
    [
      "too large an answer",
      failed("limit_exceeded", { option: "maxBodyBytes", limit: 1 }),
      502,
      RpcCode.upstreamProtocolError,
    ],
    ["invalid answer", failed("invalid_answer", { reason: "r" }), 502, RpcCode.upstreamProtocolError],
    [
      "question to nobody",
      failed("input_required", { capability: "c", key: "k" }, "answered"),
      502,
      RpcCode.upstreamProtocolError,
    ],
    [
      "tool that can't be called",
      failed("invalid_tool", { tool: "t", path: "/", reason: "r" }, "not_sent"),
      502,
      RpcCode.upstreamProtocolError,
    ],
    [
      "arguments that can't be sent",
      failed("invalid_argument", { argument: "a", reason: "r" }, "not_sent"),
      400,
      RpcCode.invalidParams,
    ],
    ["unknown method", peer(RpcCode.methodNotFound), 404, RpcCode.methodNotFound],
    ["missing capability", peer(RpcCode.missingRequiredClientCapability), 400, RpcCode.missingRequiredClientCapability],
    ["invalid params", peer(RpcCode.invalidParams), 200, RpcCode.invalidParams],
    ["error of its own", peer(4711), 200, 4711],
    ["error code zero", peer(0), 200, 0],
  ])("C-5: %s", (_what, error, status, code) => {
    const answer = classifyUpstreamFailure(error, NOW);
    expect([answer?.status, answer?.error.code]).toEqual([status, code]);
    expect(JSON.stringify(answer)).not.toContain("secret");
  });

  it("C-5: an upstream's own error keeps its message and data", () => {
    expect(classifyUpstreamFailure(peer(4711, { rpcData: { a: [null] } }), NOW)?.error).toEqual({
      code: 4711,
      message: "said",
      data: { a: [null] },
    });
    expect(classifyUpstreamFailure(peer(4711), NOW)?.error).toEqual({ code: 4711, message: "said" });
  });

  it.each([-32020, -32022, -33001, -33002, -33003, -33004, -33005, -33006])(
    "C-5: an upstream's %i is about its own hop and goes no further",
    (rpcCode) => {
      const answer = classifyUpstreamFailure(peer(rpcCode, { rpcData: { secret: 1 } }), NOW);
      expect(answer).toMatchObject({
        status: 502,
        error: { code: RpcCode.upstreamProtocolError, data: { reason: "peer_error", rpcCode, rpcMessage: "said" } },
      });
    },
  );

  it.each(["not_sent", "answered", "unknown"] as const)("F-1: says that the delivery was %s", (delivery) => {
    const answer = classifyUpstreamFailure(failed("cancelled", { reason: "r" }, delivery), NOW);
    expect(answer?.error.data).toEqual({ reason: "cancelled", delivery });
  });

  it.each([
    ["7", 7_000, "7"],
    ["Thu, 01 Jan 2026 00:00:01 GMT", 1_000, "1"],
  ])("F-4: hands on Retry-After %s in both forms", (retryAfter, retryAfterMs, header) => {
    for (const error of [answered(429, retryAfter), peer(1, { httpStatus: 429, retryAfter })]) {
      const answer = classifyUpstreamFailure(error, NOW);
      expect(answer?.error.data).toMatchObject({ retryAfterMs });
      expect(answer?.headers).toEqual({ "Retry-After": header });
    }
  });

  it("F-4: invents no Retry-After", () => {
    const answer = classifyUpstreamFailure(answered(429, "soon"), NOW);
    expect(answer?.headers).toEqual({});
    expect(answer?.error.data).not.toHaveProperty("retryAfterMs");
  });

  it("C-5: what is no failure of an upstream is not made one", () => {
    expect(classifyUpstreamFailure(new TypeError("bug"), NOW)).toBeUndefined();
    expect(classifyUpstreamFailure(undefined, NOW)).toBeUndefined();
  });
});
