import { type ErrorCode, isRemoteConnectorError } from "../errors.js";

const FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "client_identity_required",
  "oauth_discovery_failed",
  "oauth_invalid",
  "oauth_refused",
  "sign_in_required",
  "token_refused",
]);

/**
 * Whether a request failed because its client could not be authorized: what its authorizer ended with. It says nothing of the server
 * behind the authorization, and is the outcome of whatever the request was for. Takes any value. Pure.
 */
export function isAuthorizationFailure(error: unknown): boolean {
  return isRemoteConnectorError(error) && FAILURES.has(error.code);
}

/** Answers of an authorization server that say nothing of the next time. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
const PASSING_WORDS: ReadonlySet<string> = new Set(["server_error", "slow_down", "temporarily_unavailable"]);

/**
 * Whether such a failure stays until somebody acts: an authorization server that is only away, or busy, is none. Takes any value. Pure.
 */
export function isNotAuthorized(error: unknown): boolean {
  if (isRemoteConnectorError(error, "oauth_refused")) {
    const { errorCode, status } = error.details;
    return !PASSING_WORDS.has(errorCode ?? "") && isLastingStatus(status);
  }
  if (isRemoteConnectorError(error, "oauth_discovery_failed")) return isLastingStatus(error.details.status);
  return isAuthorizationFailure(error);
}

function isLastingStatus(status: number | undefined): boolean {
  return status === undefined || (status < 500 && !PASSING_STATUSES.has(status));
}
