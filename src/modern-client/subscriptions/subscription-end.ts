import { isRemoteConnectorError, type RemoteConnectorError } from "../../errors.js";
import { invalidAnswer, isNotAuthorized, type JsonObject, RpcCode } from "../../protocol/index.js";
import type { AnswerVerdict } from "../classify-answer.js";

/** Why a server has no subscription for us: it knows none, we declare too little, we are not allowed, or anything else. */
export type RefusalReason = "unsupported" | "missing_capability" | "authorization" | "other";

/** How a subscription ended. Source: 2026-07-28, Subscriptions, Cancellation. */
export type SubscriptionEnd =
  /** The server ended it in peace, with a result. */
  | { readonly kind: "completed"; readonly result: JsonObject }
  /** The server cancelled it. */
  | { readonly kind: "ended_by_server"; readonly reason: string | undefined }
  /** It never came to be: the server, or a check on our side, would not have it. */
  | { readonly kind: "refused"; readonly why: RefusalReason; readonly error: RemoteConnectorError }
  /** No connection, a lost one, a deadline that passed, an error on the way, a full buffer. */
  | { readonly kind: "broken"; readonly error: RemoteConnectorError }
  /** We ended it: `close()`, the caller's signal with its reason, or the end of the client. */
  | { readonly kind: "cancelled"; readonly reason: unknown };

const AUTHORIZATION_STATUSES: ReadonlySet<number> = new Set([401, 403, 428]);
const AUTHORIZATION_CODES: ReadonlySet<number> = new Set<number>([
  RpcCode.authorizationRequired,
  RpcCode.reauthRequired,
]);

/** What the response to a subscription means: its end, before or after it was acknowledged. Pure and total. */
export function readEnd(verdict: AnswerVerdict, isAcknowledged: boolean): SubscriptionEnd {
  if (verdict.kind === "result") return { kind: "completed", result: verdict.result };
  const error = verdict.kind === "failed" ? verdict.error : invalidAnswer("a subscription that wants something first");
  return readError(error, isAcknowledged);
}

/** The end by an answer that is an error. Pure. */
export function readError(error: RemoteConnectorError, isAcknowledged: boolean): SubscriptionEnd {
  return isAcknowledged ? { kind: "broken", error } : { kind: "refused", why: readRefusal(error), error };
}

/** Why the server refused, by status and code. Pure. */
export function readRefusal(error: RemoteConnectorError): RefusalReason {
  if (!isRemoteConnectorError(error)) return "other";
  if (error.code === "authorization_required" || error.code === "account_not_ready") return "authorization";
  if (isNotAuthorized(error)) return "authorization";
  if (error.code === "unexpected_answer") {
    return AUTHORIZATION_STATUSES.has(error.details.status) ? "authorization" : "other";
  }
  if (error.code !== "peer_error") return "other";
  const { rpcCode, httpStatus } = error.details;
  if (rpcCode === RpcCode.methodNotFound) return "unsupported";
  if (rpcCode === RpcCode.missingRequiredClientCapability) return "missing_capability";
  if (AUTHORIZATION_CODES.has(rpcCode)) return "authorization";
  return httpStatus !== undefined && AUTHORIZATION_STATUSES.has(httpStatus) ? "authorization" : "other";
}
