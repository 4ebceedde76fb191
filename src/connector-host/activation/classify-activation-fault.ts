import { type AnyRemoteConnectorError, type ErrorCode, isRemoteConnectorError } from "../../errors.js";
import { readRetryAfterMs, RpcCode } from "../../protocol/index.js";
import { type AuthorizationDemand, readAuthorizationDemand } from "./authorization-demand.js";

/** What a failed activation means for the next one. */
export interface ActivationFault {
  /** Whether it counts against the connector's failure budget: the peer broke the protocol, or the fault is ours. */
  readonly counts: boolean;
  /** How long the peer asked to be left alone, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** No failure at all, and nothing to try again before the account has acted. */
  readonly authorization?: AuthorizationDemand | undefined;
}

/** Failures of the network, of the moment, of our own disk, and of our own side's plans. */
const PASSING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "account_not_ready",
  "authorize_failed",
  "cancelled",
  "connect_failed",
  "connection_broken",
  "not_admitted",
  "route_unavailable",
  "store_full",
  "store_in_use",
  "store_newer_format",
  "store_unavailable",
  "stream_ended",
  "timeout",
]);

/** Codes of the gateway that speak of the moment, not of the connector. */
const PASSING_RPC_CODES: ReadonlySet<number> = new Set([
  RpcCode.connectorUnavailable,
  RpcCode.upstreamTimeout,
  RpcCode.upstreamRateLimited,
]);

/**
 * The verdict on what an activation rejected with. Pure, takes any value; `nowMs` is the wall clock in epoch milliseconds, which
 * a `Retry-After` date is compared with.
 *
 * Networks, timeouts, busy servers, an account that is not ready, a store that fails, and what was ended from our side don't
 * count. Everything else does, an unknown value too: it is a fault of ours. A peer's own retry data is carried along wherever
 * it came.
 */
export function classifyActivationFault(error: unknown, nowMs: number): ActivationFault {
  const authorization = readAuthorizationDemand(error);
  if (authorization !== undefined) return { counts: false, authorization };
  if (!isRemoteConnectorError(error)) return { counts: true };
  const counts = countsByCode(error);
  const retryAfterMs = readRetryAfterMs(error, nowMs);
  return retryAfterMs === undefined ? { counts } : { counts, retryAfterMs };
}

function countsByCode(error: AnyRemoteConnectorError): boolean {
  if (isRemoteConnectorError(error, "peer_error")) {
    return countsByPeerError(error.details.rpcCode, error.details.httpStatus);
  }
  if (isRemoteConnectorError(error, "unexpected_answer")) return !isPassing(error.details.status);
  // One that was not sent met our own full queue; otherwise an answer was too large.
  if (isRemoteConnectorError(error, "relay_refused")) return error.details.reason === "invalid_request";
  if (isRemoteConnectorError(error, "limit_exceeded")) return error.delivery !== "not_sent";
  return !PASSING_CODES.has(error.code);
}

/** The gateway's own codes speak for themselves, whatever status they came under. */
function countsByPeerError(rpcCode: number, httpStatus: number | undefined): boolean {
  if (PASSING_RPC_CODES.has(rpcCode)) return false;
  return rpcCode === RpcCode.upstreamProtocolError || httpStatus === undefined || !isPassing(httpStatus);
}

/** 401 and 403 are about the account's session, the others about the moment. */
function isPassing(status: number): boolean {
  return status === 401 || status === 403 || status === 408 || status === 429 || status === 499 || status >= 500;
}
