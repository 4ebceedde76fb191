import type { OAuth } from "../../oauth/index.js";
import type { Authorize, Authorizer } from "../../transport/index.js";
import type { Registration } from "../registration/index.js";
import { WantedScopes } from "./wanted-scopes.js";

/** Gives what authorizes the requests to a registered server; `undefined`: nothing beside its headers does. */
export type AuthorizeServer = (registration: Registration) => Authorize | Authorizer | undefined;

export interface ServerAuthorizersOptions {
  readonly authorizeServer: AuthorizeServer | undefined;
  readonly oauth: OAuth | undefined;
}

/** Where a registration is signed in. */
export interface OAuthPlace {
  readonly oauth: OAuth;
  readonly endpoint: string;
  readonly account: string;
  /** Those of its settings. */
  readonly scopes: readonly string[];
}

/**
 * Who authorizes the requests to registered servers: the host's own function, else OAuth, unless a registration has a header
 * `Authorization` or wants none of it. Nobody is asked to sign in for the requests of a host: it has no person before it.
 */
export class ServerAuthorizers {
  /** What servers wanted of whoever signs in. */
  readonly wanted = new WantedScopes();
  readonly #options: ServerAuthorizersOptions;

  constructor(options: ServerAuthorizersOptions) {
    this.#options = options;
  }

  readonly authorizerOf: AuthorizeServer = (registration) => {
    const { authorizeServer, oauth } = this.#options;
    const own = authorizeServer?.(registration);
    const account = oauthAccount(registration);
    if (own !== undefined || oauth === undefined || account === undefined) return own;
    const { endpoint } = registration.settings;
    return this.wanted.watch(endpoint, account, oauth.account(account, { asks: false }));
  };

  /** `undefined`: OAuth is not for this registration. */
  placeOf(registration: Registration): OAuthPlace | undefined {
    const { authorizeServer, oauth } = this.#options;
    const account = oauthAccount(registration);
    if (oauth === undefined || account === undefined || authorizeServer?.(registration) !== undefined) return undefined;
    const { endpoint, oauth: settings } = registration.settings;
    const scopes = settings === undefined || settings === false ? [] : settings.scopes;
    return { oauth, endpoint, account, scopes };
  }
}

/** The account by which a registration is signed in; `undefined`: it is not signed in by OAuth. Pure. */
export function oauthAccount({ settings: { headers, oauth } }: Pick<Registration, "settings">): string | undefined {
  if (oauth === false) return undefined;
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return oauth?.account ?? "";
}
