import type { OAuthClient } from "./oauth-client.js";
import type { TokenSet } from "./token-set.js";

/**
 * What is kept of one account at one server: the text of the credential (endpoint, `tokens@account`). A token is sent nowhere but to
 * this endpoint, and a refresh token nowhere but to this issuer.
 */
export interface GrantRecord {
  /** The endpoint's own URL in its normal form, without a fragment. */
  readonly endpoint: string;
  /** What was sent as `resource`; `undefined`: nothing. */
  readonly resource: string | undefined;
  readonly issuer: string;
  /** The client that the tokens were issued to. */
  readonly client: OAuthClient;
  readonly tokenEndpoint: string;
  /** `undefined` after a refresh token was refused: the scopes are remembered, and the client. */
  readonly tokens: TokenSet | undefined;
  /** All scopes that were asked for so far. */
  readonly requestedScopes: readonly string[];
  /** Scopes that the server went on asking for although they had been authorized: nobody is asked for them again. */
  readonly refusedScopes: readonly string[];
  /** The private key that the tokens are bound to, as a JWK; `undefined`: they are not. */
  readonly dpopKey: Readonly<Record<string, unknown>> | undefined;
}
