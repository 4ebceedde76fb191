import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";

/** What OAuth calls its errors. Any other word of a server's is not repeated: it may be a secret that it was sent. */
const ERROR_CODES: ReadonlySet<string> = new Set([
  "access_denied",
  "invalid_client",
  "invalid_grant",
  "invalid_request",
  "invalid_scope",
  "invalid_target",
  "server_error",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
]);

/** Answers to say that a grant can't be renewed, whatever is done. Source: RFC 6749, Error Response. */
const LASTING_ERRORS: ReadonlySet<string> = new Set([
  "invalid_grant",
  "invalid_scope",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/**
 * What is told of a request to an authorization server that failed: `authorization_failed`, or the error of this package that it
 * already is. The library's errors hold answers, and the texts of parsers pieces of them, so that nothing of them is kept but codes.
 */
export function providerFailure(connectorId: string, error: unknown): Error {
  if (isRemoteConnectorError(error)) return error;
  const errorCode = ERROR_CODES.has(textOf(error, "error")) ? textOf(error, "error") : undefined;
  const reason = reasonOf(error);
  const said = errorCode === undefined ? "" : `, ${errorCode}`;
  return new RemoteConnectorError("authorization_failed", {
    message: `The authorization server of ${connectorId} could not be used: ${reason}${said}.`,
    details: { connectorKey: connectorId, reason, errorCode },
  });
}

/** The person, or the server on their behalf, refused to authorize. */
export function isDenial(error: unknown): boolean {
  return errorCodeOf(error) === "access_denied";
}

/** The grant is over: only a new authorization helps. */
export function isLasting(error: unknown): boolean {
  return LASTING_ERRORS.has(errorCodeOf(error) ?? "");
}

function errorCodeOf(error: unknown): string | undefined {
  return isRemoteConnectorError(error, "authorization_failed") ? error.details.errorCode : undefined;
}

/** The library's code or the system's, such as `OAUTH_PARSE_ERROR` and `ECONNREFUSED`; else what kind of error it is. */
function reasonOf(error: unknown): string {
  const codes = [error, error instanceof Error ? error.cause : undefined].map((each) => textOf(each, "code"));
  const kind = error instanceof Error ? error.constructor.name : "unknown";
  return codes.find((code) => /^[A-Z][A-Z_]{1,63}$/.test(code)) ?? kind;
}

function textOf(value: unknown, member: "code" | "error"): string {
  const text: unknown = value instanceof Error ? Reflect.get(value, member) : undefined;
  return typeof text === "string" ? text : "";
}
