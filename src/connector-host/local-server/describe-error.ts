import {
  type AnyRemoteConnectorError,
  type Delivery,
  type ErrorCode,
  type ErrorDetails,
  isRemoteConnectorError,
  type RemoteConnectorError,
} from "../../errors.js";
import { isJsonObject, type JsonObject, type JsonRpcError, RpcCode } from "../../protocol/index.js";

/** A failure as an agent gets to know it. */
export interface DescribedError {
  readonly status: number;
  readonly error: JsonRpcError;
}

export interface DescriptionOptions {
  /** The key of the verdict in the error's data. */
  readonly deliveryKey: string;
  /** Of the agent. The eras have different codes for a resource that is not there. */
  readonly era: "modern" | "legacy";
  /** The URI that the agent asked for, when it asked for a resource. */
  readonly uri?: string | undefined;
  /** The verdict on the agent's own request, where it is not that of `error`. */
  readonly delivery?: Delivery | undefined;
}

/** Codes whose meaning fixes the HTTP status. Source: 2026-07-28, Overview, `_meta`; Streamable HTTP. */
const BAD_REQUEST: ReadonlySet<number> = new Set([
  RpcCode.headerMismatch,
  RpcCode.missingRequiredClientCapability,
  RpcCode.unsupportedProtocolVersion,
]);

/** Failures that lie in what the agent sent. */
const AGENT_FAULTS: ReadonlySet<string> = new Set([
  "ambiguous_resource",
  "continuation_refused",
  "invalid_argument",
  "invalid_tool",
  "not_permitted",
  "unknown_connector",
  "unknown_prompt",
  "unknown_tool",
]);

/** A gateway's failures, of which it says in `data.delivery` how far the request got behind it. */
const GATEWAY_FAULTS: ReadonlySet<number> = new Set([
  RpcCode.connectorUnavailable,
  RpcCode.upstreamTimeout,
  RpcCode.upstreamRateLimited,
  RpcCode.upstreamProtocolError,
]);

/** From the firmest verdict to the most cautious. */
const BY_CAUTION: readonly Delivery[] = ["not_sent", "answered", "unknown"];

const LONGEST_MESSAGE = 512;

/**
 * The JSON-RPC error and HTTP status for a failed request of an agent. Pure; takes any value.
 *
 * A peer's error keeps its code, message and data; an object in its data gets the verdict under `deliveryKey` beside its
 * own members, any other data stays as it is. Where a gateway failed to get an answer from the server behind it, the verdict
 * is the more cautious of the gateway's and ours: that the gateway answered says nothing of whether that server acted.
 *
 * A resource that is not there has the code of the agent's era, and the URI in its data. A modern agent never gets the code
 * that older revisions have for it.
 *
 * Every other failure is `-32602` or `-32603`, so that it can't be mistaken for a peer's, and says under the same key its
 * `code`, its `delivery`, and the facts that a program can act on. No stack, cause, header, path or body of a peer is among
 * them; of a value that is no error of this package, nothing is.
 *
 * Source: 2026-07-28, Overview, Error Codes; Resources, Error Handling.
 */
export function describeError(error: unknown, options: DescriptionOptions): DescribedError {
  if (!isRemoteConnectorError(error)) {
    const verdict = { delivery: options.delivery ?? "unknown", code: "internal_error" };
    return failure(RpcCode.internalError, "Internal error", options, verdict);
  }
  const verdict = { delivery: options.delivery ?? deliveryBehind(error), code: error.code, ...factsOf(error) };
  if (error.code === "peer_error") return peerError(error.details, options, verdict);
  if (error.code === "resource_not_found") return missingResource(error, options, verdict);
  const code = AGENT_FAULTS.has(error.code) ? RpcCode.invalidParams : RpcCode.internalError;
  return failure(code, plainText(error.message), options, verdict);
}

/** The verdict on the request as far as it travelled. */
function deliveryBehind(error: AnyRemoteConnectorError): Delivery {
  if (error.code !== "peer_error" || !GATEWAY_FAULTS.has(error.details.rpcCode)) return error.delivery;
  const { rpcData } = error.details;
  const told = isJsonObject(rpcData) ? rpcData["delivery"] : undefined;
  const caution = BY_CAUTION.findIndex((delivery) => delivery === told);
  return BY_CAUTION[Math.max(caution, BY_CAUTION.indexOf(error.delivery))] ?? error.delivery;
}

function failure(code: number, message: string, options: DescriptionOptions, verdict: JsonObject): DescribedError {
  return { status: 200, error: { code, message, data: { [options.deliveryKey]: verdict } } };
}

function peerError(
  details: { readonly rpcCode: number; readonly rpcMessage: string; readonly rpcData: unknown },
  options: DescriptionOptions,
  verdict: JsonObject,
): DescribedError {
  const { rpcCode, rpcMessage: message, rpcData } = details;
  const code = options.era === "modern" && rpcCode === RpcCode.resourceNotFound ? RpcCode.invalidParams : rpcCode;
  const members = rpcData === undefined ? {} : rpcData;
  const data = isJsonObject(members) ? { ...members, [options.deliveryKey]: verdict } : members;
  return { status: BAD_REQUEST.has(code) ? 400 : 200, error: { code, message, data } };
}

/**
 * The URI is the one that the agent asked for, by which it knows what the code is about. A modern agent gets no verdict
 * beside it: the official client knows the error only by data that holds nothing else, and a missing resource says all
 * there is. Data of the server that is no object is kept in the verdict all the same.
 * Source: 2026-07-28, Resources, Error Handling; 2025-11-25, the same.
 */
function missingResource(
  { message, details }: RemoteConnectorError<"resource_not_found">,
  options: DescriptionOptions,
  verdict: JsonObject,
): DescribedError {
  const { rpcData } = details;
  const uri = options.uri ?? details.uri;
  const members = isJsonObject(rpcData) ? rpcData : {};
  const kept = rpcData === undefined || isJsonObject(rpcData) ? undefined : { ...verdict, rpcData };
  const told = kept ?? (options.era === "legacy" ? verdict : undefined);
  const data = { ...members, uri, ...(told && { [options.deliveryKey]: told }) };
  const code = options.era === "modern" ? RpcCode.invalidParams : RpcCode.resourceNotFound;
  return { status: 200, error: { code, message: plainText(message), data } };
}

/** What may be told of the details of each code. Of a code that is not here, nothing. */
const FACTS: { readonly [C in ErrorCode]?: (details: ErrorDetails[C]) => JsonObject } = {
  approval_denied: ({ connectorKey, reason }) => ({ connectorKey, reason }),
  approval_required: ({ connectorKey }) => ({ connectorKey }),
  authorization_required: ({ connectorKey, reauthorize }) => ({ connectorKey, reauthorize }),
  cancelled: ({ reason }) => ({ reason }),
  continuation_refused: ({ reason }) => ({ reason }),
  input_required: ({ capability }) => ({ capability }),
  invalid_argument: ({ argument, reason }) => ({ argument, reason }),
  invalid_tool: ({ tool }) => ({ tool }),
  ambiguous_resource: ({ uri, connectorKeys }) => ({ uri, connectorKeys }),
  limit_exceeded: ({ option, limit }) => ({ option, limit }),
  not_admitted: ({ reason }) => ({ reason }),
  not_permitted: ({ connectorKey }) => ({ connectorKey }),
  peer_error: ({ retryAfter, httpStatus }) => ({ ...retryFacts(retryAfter), httpStatus }),
  relay_refused: ({ reason }) => ({ reason }),
  route_unavailable: ({ connectorKey, state, since, nextAttemptAt }) => ({ connectorKey, state, since, nextAttemptAt }),
  sign_in_required: ({ reason, scopes }) => ({ reason, scopes }),
  timeout: ({ phase, option, limitMs }) => ({ phase, option, limitMs }),
  token_refused: ({ reason, scopes }) => ({ reason, scopes }),
  unexpected_answer: ({ retryAfter, status }) => ({ ...retryFacts(retryAfter), httpStatus: status }),
  unknown_connector: ({ connectorKey }) => ({ connectorKey }),
  unknown_prompt: ({ prompt }) => ({ prompt }),
  unknown_tool: ({ tool }) => ({ tool }),
  unsupported: ({ feature }) => ({ feature }),
};

function factsOf<C extends ErrorCode>({ code, details }: RemoteConnectorError<C>): JsonObject {
  return FACTS[code]?.(details) ?? {};
}

/** `Retry-After` in seconds becomes milliseconds; a date stays text. Source: RFC 9110, Retry-After. */
function retryFacts(retryAfter: string | undefined): JsonObject {
  if (retryAfter === undefined) return {};
  if (/^\d{1,9}$/.test(retryAfter)) return { retryAfterMs: Number(retryAfter) * 1000 };
  return /^[A-Za-z0-9 ,:-]{1,40}$/.test(retryAfter) ? { retryAfter } : {};
}

function plainText(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, " ").slice(0, LONGEST_MESSAGE);
}
