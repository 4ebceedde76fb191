import { type AnyRemoteConnectorError, isRemoteConnectorError } from "../errors.js";
import { type JsonObject, type JsonRpcError, parseRetryAfter, RpcCode } from "../protocol/index.js";
import type { ExtraHeaders } from "../serving/index.js";

/** How a failed upstream request is answered. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly error: JsonRpcError;
  readonly headers: ExtraHeaders;
}

/**
 * Codes that say something about the one hop that they travelled: the headers, the version, the authorization or the
 * state of the gateway's own request. Handed on, they would make our caller repair a request that was right, or take a
 * connection for revoked because an upstream says so.
 */
const HOP_CODES: ReadonlySet<number> = new Set([
  RpcCode.headerMismatch,
  RpcCode.unsupportedProtocolVersion,
  RpcCode.authorizationRequired,
  RpcCode.reauthRequired,
  RpcCode.connectorUnavailable,
  RpcCode.upstreamTimeout,
  RpcCode.upstreamRateLimited,
  RpcCode.upstreamProtocolError,
]);

/**
 * What a caller is told of a failed upstream request. Pure; never throws.
 *
 * An upstream's own JSON-RPC error keeps its code, message and data. Everything else is one of the contract's codes:
 * `-33003` (503) when the upstream can't be reached, went away or cut its answer, `-33004` (504) when a deadline passed,
 * `-33005` (429) when it asked for fewer requests, `-33006` (502) when it answered what MCP does not allow. Their `data`
 * says why, and `delivery` whether the upstream may have acted. Arguments that the upstream's client can't send are the
 * caller's (400, `-32602`). `undefined` for what is no failure of an upstream.
 */
export function classifyUpstreamFailure(error: unknown, nowMs: number): UpstreamAnswer | undefined {
  if (!isRemoteConnectorError(error)) return undefined;
  if (error.code === "peer_error") return classifyPeerError(error, nowMs);
  if (error.code === "unexpected_answer") {
    const { status, retryAfter } = error.details;
    if (status === 429) return rateLimited(error, retryAfter, nowMs, {});
    if (status === 408 || status === 504) return timedOut(error, { upstreamStatus: status });
    if (status === 502 || status === 503) return unavailable(error, { upstreamStatus: status });
    return protocolError(error, { upstreamStatus: status });
  }
  if (error.code === "invalid_argument") return invalidArgument(error);
  // Before anything was sent it is a queue that is full; afterwards it is an answer that is too large.
  if (error.code === "limit_exceeded" && error.delivery === "not_sent") return unavailable(error, {});
  if (error.code === "timeout") {
    return timedOut(error, { phase: error.details.phase, limitMs: error.details.limitMs });
  }
  return UNAVAILABLE.has(error.code) ? unavailable(error, {}) : protocolError(error, {});
}

const UNAVAILABLE: ReadonlySet<string> = new Set([
  "cancelled",
  "connect_failed",
  "connection_broken",
  "process_exited",
  "spawn_failed",
  "stream_ended",
]);

function classifyPeerError(
  error: AnyRemoteConnectorError & { readonly code: "peer_error" },
  nowMs: number,
): UpstreamAnswer {
  const { httpStatus, retryAfter, rpcCode, rpcMessage, rpcData } = error.details;
  if (httpStatus === 429) return rateLimited(error, retryAfter, nowMs, { rpcCode });
  if (HOP_CODES.has(rpcCode)) return protocolError(error, { rpcCode, rpcMessage });
  const data = rpcData === undefined ? {} : { data: rpcData };
  return { status: statusOf(rpcCode), error: { code: rpcCode, message: rpcMessage, ...data }, headers: {} };
}

/** The statuses that the revision gives to codes. Others are answers like a result is. */
function statusOf(rpcCode: number): number {
  if (rpcCode === RpcCode.methodNotFound) return 404;
  return rpcCode === RpcCode.missingRequiredClientCapability ? 400 : 200;
}

function invalidArgument({ details }: AnyRemoteConnectorError & { readonly code: "invalid_argument" }): UpstreamAnswer {
  const message = `Argument ${details.argument}: ${details.reason}`;
  return { status: 400, error: { code: RpcCode.invalidParams, message }, headers: {} };
}

function unavailable(error: AnyRemoteConnectorError, data: JsonObject): UpstreamAnswer {
  return contractError(503, RpcCode.connectorUnavailable, "The connector's server is not available", error, data);
}

function timedOut(error: AnyRemoteConnectorError, data: JsonObject): UpstreamAnswer {
  return contractError(504, RpcCode.upstreamTimeout, "The connector's server did not answer in time", error, data);
}

function protocolError(error: AnyRemoteConnectorError, data: JsonObject): UpstreamAnswer {
  const message = "The connector's server gave an answer that can't be used";
  return contractError(502, RpcCode.upstreamProtocolError, message, error, data);
}

function rateLimited(
  error: AnyRemoteConnectorError,
  retryAfter: string | undefined,
  nowMs: number,
  data: JsonObject,
): UpstreamAnswer {
  const retryAfterMs = parseRetryAfter(retryAfter, nowMs);
  const message = "The connector's server asks for fewer requests";
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const answer = contractError(429, RpcCode.upstreamRateLimited, message, error, { ...data, ...wait });
  if (retryAfterMs === undefined) return answer;
  return { ...answer, headers: { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) } };
}

function contractError(
  status: number,
  code: number,
  message: string,
  error: AnyRemoteConnectorError,
  data: JsonObject,
): UpstreamAnswer {
  const facts = { reason: error.code, delivery: error.delivery, ...data };
  return { status, error: { code, message, data: facts }, headers: {} };
}
