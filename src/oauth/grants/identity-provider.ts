import { RemoteConnectorError } from "../../errors.js";
import { shownUrl } from "../../transport/index.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import type { OAuthRequester } from "../requester.js";
import { type IssuedAssertion, requestAssertion, type TokenRequest } from "../token-endpoint/index.js";
import { type ExchangeAim, ID_JAG, tokenExchangeParameters } from "./grant-parameters.js";

/** The identity provider's token endpoint, and the client there. */
export interface IdentityProvider {
  readonly tokenEndpoint: string;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly authMethod?: "client_secret_basic" | "client_secret_post" | undefined;
}

/**
 * Exchanges an ID token for an ID-JAG, in one request. Rejects with `oauth_refused` (`assertion`, with the identity provider's origin for
 * an issuer), `oauth_invalid` for an answer without an ID-JAG, `invalid_url`, or as the requester does.
 * Source: ext-auth, Enterprise-Managed Authorization, Token Exchange; RFC 8693.
 */
export async function exchangeIdToken(
  requester: OAuthRequester,
  provider: IdentityProvider,
  idToken: string,
  aim: ExchangeAim,
  ports: Pick<TokenRequest, "randomBytes" | "wallNow">,
  signal?: AbortSignal,
): Promise<IssuedAssertion> {
  const server = providerMetadata(provider.tokenEndpoint);
  const client = providerClient(server.issuer, provider);
  const parameters = tokenExchangeParameters(idToken, aim);
  const issued = await requestAssertion(requester, { ...ports, server, client, step: "assertion", parameters }, signal);
  if (issued.issuedTokenType === ID_JAG) return issued;
  throw new RemoteConnectorError("oauth_invalid", {
    message: `The identity provider ${server.issuer} did not answer with an ID-JAG.`,
    delivery: "answered",
    details: {
      subject: "token",
      url: shownUrl(new URL(provider.tokenEndpoint)),
      member: "issued_token_type",
      reason: `not ${ID_JAG}`,
    },
  });
}

/** All that is known of an identity provider. Its origin stands for its issuer in failures. */
function providerMetadata(tokenEndpoint: string): ServerMetadata {
  if (!URL.canParse(tokenEndpoint)) {
    throw new RemoteConnectorError("invalid_options", {
      message: "The identity provider's tokenEndpoint is not a URL.",
      details: { option: "grant.tokenEndpoint", reason: "not a URL" },
    });
  }
  return { issuer: new URL(tokenEndpoint).origin, token_endpoint: tokenEndpoint };
}

/** Its secret goes into the body, as the extension shows it, unless the options say otherwise. */
function providerClient(
  issuer: string,
  { authMethod = "client_secret_post", clientId, clientSecret }: IdentityProvider,
): OAuthClient | undefined {
  if (clientId === undefined) return undefined;
  return {
    kind: "pre_registered",
    issuer,
    clientId,
    clientSecret,
    secretExpiresAt: undefined,
    authMethod: clientSecret === undefined ? "none" : authMethod,
    signingKey: undefined,
    redirectUris: [],
  };
}
