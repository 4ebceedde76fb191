import type { PendingAuthorization } from "./prepare-authorization.js";

/**
 * The parameters of the token request that redeems a code, without those that authenticate the client. `resource` is what the
 * authorization request had; `undefined` leaves it out. Pure. Source: OAuth 2.1, Access Token Request; RFC 7636; RFC 8707.
 */
export function redeemParameters(
  code: string,
  pending: PendingAuthorization,
  resource: string | undefined,
): Readonly<Record<string, string>> {
  return {
    grant_type: "authorization_code",
    code,
    redirect_uri: pending.redirectUri,
    code_verifier: pending.codeVerifier,
    ...(resource === undefined ? {} : { resource }),
  };
}
