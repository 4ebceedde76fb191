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

/** Whether such a failure stays until somebody acts: an authorization server that is only away is none. Takes any value. Pure. */
export function isNotAuthorized(error: unknown): boolean {
  if (isRemoteConnectorError(error, "oauth_refused") || isRemoteConnectorError(error, "oauth_discovery_failed")) {
    const { status } = error.details;
    return status === undefined || status < 500;
  }
  return isAuthorizationFailure(error);
}
