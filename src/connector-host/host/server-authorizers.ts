import type { OAuth } from "../../oauth/index.js";
import type { Authorize, Authorizer } from "../../transport/index.js";
import type { Registration } from "../registration/index.js";

/** What authorizes the requests to registered servers. */
export interface ServerAuthorizerOptions {
  readonly authorizeServer: ((registration: Registration) => Authorize | Authorizer | undefined) | undefined;
  readonly oauth: OAuth | undefined;
}

/**
 * Who authorizes the requests to a registered server: the host's own function, else OAuth, unless the registration has a header
 * `Authorization` or wants none of it. Nobody is asked to sign in for the requests of a host: it has no person before it.
 */
export function serverAuthorizer({
  authorizeServer,
  oauth,
}: ServerAuthorizerOptions): (registration: Registration) => Authorize | Authorizer | undefined {
  return (registration) => {
    const account = oauthAccount(registration);
    return (
      authorizeServer?.(registration) ?? (account === undefined ? undefined : oauth?.account(account, { asks: false }))
    );
  };
}

/** The account by which a registration is signed in; `undefined`: OAuth is not for it. Pure. */
export function oauthAccount({ settings: { headers, oauth } }: Registration): string | undefined {
  if (oauth === false) return undefined;
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return oauth?.account ?? "";
}
