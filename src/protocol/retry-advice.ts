import { type Delivery, isRemoteConnectorError, type AnyRemoteConnectorError } from "../errors.js";
import { isJsonObject, RpcCode } from "./json-rpc.js";
import type { Tool } from "./results.js";
import { readRetryAfterMs } from "./retry-after.js";

/**
 * What to do after a failed call.
 *
 * - `never`: the same request fails again, or nobody wants it any more.
 * - `now`, `after`: it may be made again, the latter not before so many milliseconds.
 * - `after_authorization`: once the account has authorized the connector, or a person has signed in to the server.
 * - `ask`: the server may have acted, and doing it twice may matter. A person decides.
 */
export type RetryAdvice =
  | { readonly kind: "never" | "now" | "after_authorization" | "ask" }
  | { readonly kind: "after"; readonly ms: number };

/** What is known of the call that failed. */
export interface RetrySituation {
  /** Default `tools/call`. */
  readonly method?: string | undefined;
  /** The tool that was called. */
  readonly tool?: Pick<Tool, "annotations"> | undefined;
  /** Whether the server is trusted, so that its hints about its tools count. Default false. */
  readonly trustsHints?: boolean | undefined;
  /** Unix time in milliseconds, for a `Retry-After` that is a date: `Date.now()`. */
  readonly nowMs: number;
}

const READS: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "tasks/get",
]);

/** Whether a request of this method changes nothing on the server. */
export function isReadMethod(method: string): boolean {
  return READS.has(method);
}

/** What a peer says when it is only busy or away. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const BUSY_CODES: ReadonlySet<number> = new Set([
  RpcCode.connectorUnavailable,
  RpcCode.upstreamTimeout,
  RpcCode.upstreamRateLimited,
]);
const AUTHORIZATION_CODES: ReadonlySet<number> = new Set([RpcCode.authorizationRequired, RpcCode.reauthRequired]);
const AUTHORIZATION_STATUSES: ReadonlySet<number> = new Set([401, 428]);

/** Failures of ours after which a person has to act. */
const NEEDS_A_PERSON: ReadonlySet<string> = new Set([
  "account_not_ready",
  "authorization_required",
  "sign_in_required",
]);

/** Failures of ours that pass without anything being changed. */
const PASSING: ReadonlySet<string> = new Set([
  "connect_failed",
  "connection_broken",
  "process_exited",
  "stream_ended",
  "timeout",
]);

/**
 * What to do after `error`, by its delivery verdict, the method, and (when the server is trusted) the tool's `readOnlyHint`
 * and `idempotentHint`; a tool that declares neither is taken for one that writes. Takes any value: a caller's own abort
 * reason is `never`. Pure.
 */
export function retryAdvice(error: unknown, situation: RetrySituation): RetryAdvice {
  if (!isRemoteConnectorError(error)) return { kind: "never" };
  // The server works on the call, whatever became of a look at its task.
  if (error.details.taskId !== undefined && !mayRepeat(situation)) return { kind: "never" };
  if (needsAuthorization(error)) return { kind: "after_authorization" };
  if (!isPassing(error) && !isFullQueue(error) && !isFullRelay(error)) {
    return error.delivery === "unknown" && !mayRepeat(situation) ? { kind: "ask" } : { kind: "never" };
  }
  if (deliveryBehind(error) === "unknown" && !mayRepeat(situation)) return { kind: "ask" };
  const ms = readRetryAfterMs(error, situation.nowMs);
  return ms === undefined || ms === 0 ? { kind: "now" } : { kind: "after", ms };
}

/** Whether the failure may pass by itself: of the network, or of a server that is busy or away. */
export function isPassing(error: AnyRemoteConnectorError): boolean {
  if (error.code === "connect_failed" && error.details.lasting === true) return false;
  return PASSING.has(error.code) || saysBusy(error);
}

function saysBusy(error: AnyRemoteConnectorError): boolean {
  if (error.code === "unexpected_answer") return BUSY_STATUSES.has(error.details.status);
  if (error.code !== "peer_error") return false;
  const { rpcCode, httpStatus } = error.details;
  return BUSY_CODES.has(rpcCode) || (httpStatus !== undefined && BUSY_STATUSES.has(httpStatus));
}

function needsAuthorization(error: AnyRemoteConnectorError): boolean {
  if (NEEDS_A_PERSON.has(error.code)) return true;
  if (error.code === "unexpected_answer") return AUTHORIZATION_STATUSES.has(error.details.status);
  if (error.code !== "peer_error") return false;
  const { rpcCode, httpStatus } = error.details;
  return AUTHORIZATION_CODES.has(rpcCode) || (httpStatus !== undefined && AUTHORIZATION_STATUSES.has(httpStatus));
}

function isFullQueue(error: AnyRemoteConnectorError): boolean {
  return error.code === "limit_exceeded" && error.details.option === "maxQueuedRequests";
}

/** The other side of a relay had no place for the request, or no time: it made none. */
function isFullRelay(error: AnyRemoteConnectorError): boolean {
  return error.code === "relay_refused" && (error.details.reason === "busy" || error.details.reason === "timeout");
}

/**
 * The verdict on the request as far as it travelled. A gateway's answer is known; what became of the request behind it, only its data
 * can say. One that gave up waiting, or got nothing that it could hand on, leaves that open. Pure.
 */
export function deliveryBehind(error: AnyRemoteConnectorError): Delivery {
  if (error.code !== "peer_error") return error.delivery;
  const { rpcCode, rpcData, httpStatus } = error.details;
  const told = isJsonObject(rpcData) ? rpcData["delivery"] : undefined;
  if (told === "not_sent" || told === "answered" || told === "unknown") return told;
  const isOpen = rpcCode !== RpcCode.upstreamRateLimited && httpStatus !== 429 && saysBusy(error);
  return isOpen ? "unknown" : error.delivery;
}

function mayRepeat({ method = "tools/call", tool, trustsHints = false }: RetrySituation): boolean {
  if (isReadMethod(method)) return true;
  const annotations = trustsHints ? tool?.annotations : undefined;
  return annotations?.["readOnlyHint"] === true || annotations?.["idempotentHint"] === true;
}
