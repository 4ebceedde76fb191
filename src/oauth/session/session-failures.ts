import { type ErrorDetails, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { shownUrl } from "../../transport/index.js";

/** Nobody was asked. `not_sent`: what was refused has done nothing. */
export function signInRequired(
  endpoint: URL,
  details: Omit<ErrorDetails["sign_in_required"], "endpoint">,
): RemoteConnectorError<"sign_in_required"> {
  const shown = shownUrl(endpoint);
  return new RemoteConnectorError("sign_in_required", {
    message: `A person has to sign in at ${shown}.`,
    details: { endpoint: shown, ...details },
  });
}

/** The server refuses whatever it is given. */
export function tokenRefused(
  endpoint: URL,
  details: Omit<ErrorDetails["token_refused"], "endpoint">,
): RemoteConnectorError<"token_refused"> {
  const shown = shownUrl(endpoint);
  return new RemoteConnectorError("token_refused", {
    message: `The server ${shown} refuses the token that was issued for it.`,
    details: { endpoint: shown, ...details },
    delivery: "answered",
  });
}

/** Ended from our side. */
export function cancelled(reason: string): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The authorization was ended.",
    details: { reason },
  });
}

/** The person took too long. */
export function signInTimeout(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `Nobody signed in within ${String(limitMs)} ms (signInTimeoutMs).`,
    details: { phase: "total", option: "signInTimeoutMs", limitMs },
  });
}

/** The code of an error, for events; OAuth's own word where an authorization server gave one. */
export function codeOf(error: unknown): string | undefined {
  if (isRemoteConnectorError(error, "oauth_refused")) return error.details.errorCode ?? error.code;
  return isRemoteConnectorError(error) ? error.code : undefined;
}
