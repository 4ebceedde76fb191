import { isRemoteConnectorError } from "../../errors.js";

/** What a token was asked for. `assertion`: at an identity provider, to be shown to another authorization server. */
export type TokenStep = "token" | "refresh" | "assertion";

const LASTING: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "invalid_scope",
  "invalid_target",
  "unsupported_grant_type",
]);
const OF_CLIENT: ReadonlySet<string | undefined> = new Set(["invalid_client", "unauthorized_client"]);
const PASSING: ReadonlySet<string | undefined> = new Set(["server_error", "slow_down", "temporarily_unavailable"]);
const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;

/**
 * Whether a request for a token failed by what passes: the network, a deadline, or the server's own trouble (5xx, 408, 429). The grant is as
 * good as before. No two of this, {@link isLastingRefusal} and {@link isClientRefusal} are true of one error.
 */
export function isTransient(error: unknown): boolean {
  if (!isRemoteConnectorError(error)) return false;
  if (error.code === "connect_failed") return error.details.lasting !== true;
  if (error.code === "connection_broken" || error.code === "timeout") return true;
  if (error.code !== "oauth_refused") return false;
  const { errorCode, status = 0 } = error.details;
  return status >= 500 || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT || PASSING.has(errorCode);
}

/** Whether the grant is over: what was shown for a token will never be taken, and only a new authorization helps. */
export function isLastingRefusal(error: unknown): boolean {
  return LASTING.has(refusalWord(error));
}

/** Whether it is the client that is not known, or not allowed to: its registration is of no use, and the grant says nothing. */
export function isClientRefusal(error: unknown): boolean {
  return OF_CLIENT.has(refusalWord(error));
}

function refusalWord(error: unknown): string | undefined {
  if (!isRemoteConnectorError(error, "oauth_refused") || isTransient(error)) return undefined;
  return error.details.errorCode;
}
