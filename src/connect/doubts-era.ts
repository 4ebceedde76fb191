import { type AnyRemoteConnectorError, type Delivery, isRemoteConnectorError } from "../errors.js";
import { classifyProbe, type EraVerdict, type ProbeContext, RpcCode } from "../protocol/index.js";
import type { Era } from "./mcp-client.js";

/** What is known of the era that a call relied on. */
export interface EraStanding {
  readonly era: Era;
  /** Whether the server answered as one of that era does: what is only remembered may be out of date. */
  readonly isProven: boolean;
}

/** What a failure says of the era. What is no error of this package, like a caller's abort, says nothing. Pure. */
export function judgeFailure(failure: unknown, context: ProbeContext): EraVerdict {
  if (!isRemoteConnectorError(failure)) return { kind: "undecided" };
  return classifyProbe({ kind: "failed", error: behind(failure) }, context);
}

/**
 * Whether a call's failure is worth a look at the server's era. Pure.
 *
 * Of a server that has proved to be of an era, only a refusal by HTTP is: errors in answers are what tools and servers give
 * every day. What only modern servers say is, too.
 */
export function doubtsEra(failure: unknown, { era, isProven }: EraStanding, context: ProbeContext): boolean {
  if (!isRemoteConnectorError(failure)) return false;
  const error = behind(failure);
  // These are signs of an era only when they answer a probe.
  if (error.code === "timeout" || error.code === "process_exited") return false;
  const { kind } = judgeFailure(failure, context);
  if (era === "legacy") return kind === "modern_refused" || kind === "no_revision" || isRefusal(kind, error);
  return isRefusal(kind, error) || (kind === "initialize" && (!isProven || error !== failure));
}

/** Errors by which a server says that it did not run what it was asked for. */
const REFUSING_CODES: ReadonlySet<number> = new Set([
  RpcCode.parseError,
  RpcCode.invalidRequest,
  RpcCode.methodNotFound,
  RpcCode.invalidParams,
  RpcCode.headerMismatch,
  RpcCode.missingRequiredClientCapability,
  RpcCode.unsupportedProtocolVersion,
]);

/**
 * Whether a call that failed so was refused before anything could act, so that it can be made again in another era. Pure.
 *
 * That a server was replaced says nothing of which one it was that answered: the one before may have run the call.
 */
export function wasRefused(failure: unknown, delivery: Delivery | undefined): boolean {
  if (!isRemoteConnectorError(failure)) return false;
  if (delivery === "not_sent" || failure.code === "unsupported_version") return true;
  if (delivery !== "answered") return false;
  if (failure.code === "unexpected_answer") return isClientError(failure.details.status);
  if (failure.code !== "peer_error") return false;
  const { httpStatus, rpcCode } = failure.details;
  if (REFUSING_CODES.has(rpcCode)) return true;
  return httpStatus !== undefined && isClientError(httpStatus) && rpcCode !== RpcCode.internalError;
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

/** A process that was found to speak no modern revision is refused as a whole; what it said is the cause. */
function behind(error: AnyRemoteConnectorError): AnyRemoteConnectorError {
  const { cause } = error;
  return error.code === "unsupported_version" && isRemoteConnectorError(cause) ? cause : error;
}

/** Refused by HTTP in a way that servers refuse what is of the other era. */
function isRefusal(kind: EraVerdict["kind"], error: AnyRemoteConnectorError): boolean {
  if (kind !== "initialize") return false;
  if (error.code === "unexpected_answer") return true;
  return error.code === "peer_error" && error.details.httpStatus !== undefined && error.details.httpStatus >= 400;
}
