import type { AuthorizationServer } from "../authorization-server.js";
import { canonicalResource } from "../canonical-resource.js";
import type { DpopProver } from "../dpop-prover.js";
import type { OAuthClient } from "../oauth-client.js";
import type { ServiceGrant } from "../oauth-options.js";
import type { OAuthRequester } from "../requester.js";
import type { TokenSet } from "../token-set.js";
import { requestToken } from "../token-endpoint/index.js";
import { askApplication } from "./ask-application.js";
import { isMeantFor } from "./assertion-audience.js";
import { assertionElsewhere, chooseGrantClient } from "./grant-client.js";
import { clientCredentialsParameters, jwtBearerParameters } from "./grant-parameters.js";
import { exchangeIdToken } from "./identity-provider.js";

/** What a token without a person is asked for, where, and by whom. */
export interface ServiceContext {
  readonly server: AuthorizationServer;
  /** `undefined`: there is none, which only workload identity can do without. */
  readonly client: OAuthClient | undefined;
  /** What is sent as `resource`; `undefined`: nothing, but to an identity provider, which has to be told. */
  readonly resource: string | undefined;
  /** The MCP server's. */
  readonly endpoint: URL;
  readonly scopes: readonly string[];
  readonly dpop: DpopProver | undefined;
  /** Unix time in milliseconds. */
  readonly wallNow: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

/**
 * Gets a token by a grant that needs no person. The client is looked at first, then the application is asked for its own token, then
 * the servers are, each once. Nothing is made again and nothing else is tried after a failure, and no refresh token is taken.
 *
 * Rejects with `client_identity_required` (nothing was sent; `other_issuer` also for an assertion of a workload that is for another
 * authorization server), `authorize_failed` when the application gives no token of its own,
 * `oauth_refused` (`assertion` with the identity provider's origin, `token` with the authorization server's issuer), `oauth_invalid`, as
 * the requester does, or with the signal's reason. Source: ext-auth; RFC 7523; RFC 8693.
 */
export async function serviceToken(
  requester: OAuthRequester,
  grant: ServiceGrant,
  context: ServiceContext,
  signal?: AbortSignal,
): Promise<TokenSet> {
  const { dpop, endpoint, randomBytes, resource, scopes, server, wallNow } = context;
  const client = chooseGrantClient(grant.kind, server.metadata.issuer, context.client);
  const ask = async (parameters: Readonly<Record<string, string>>): Promise<TokenSet> => {
    const request = { server: server.metadata, client, step: "token", parameters, dpop, wallNow, randomBytes } as const;
    return { ...(await requestToken(requester, request, signal)), refreshToken: undefined };
  };
  if (grant.kind === "client_credentials") return ask(clientCredentialsParameters({ resource, scopes }));
  if (grant.kind === "workload_identity") {
    const { issuer } = server.metadata;
    if (grant.issuer !== undefined && grant.issuer !== issuer) throw assertionElsewhere(issuer, [grant.issuer]);
    const assertion = await askApplication(grant.assertion, signal);
    // Whoever has it can show it where it is for, and the MCP server alone says who is asked.
    if (grant.issuer === undefined && !isMeantFor(assertion, server.metadata)) throw assertionElsewhere(issuer);
    return ask(jwtBearerParameters(assertion, { resource, scopes }));
  }
  const idToken = await askApplication(grant.idToken, signal);
  const aim = { audience: server.metadata.issuer, resource: resource ?? canonicalResource(endpoint), scopes };
  const issued = await exchangeIdToken(requester, grant, idToken, aim, { randomBytes, wallNow }, signal);
  // More than the ID-JAG is for would be refused.
  const tokens = await ask(jwtBearerParameters(issued.assertion, { resource, scopes: issued.scopes ?? scopes }));
  return { ...tokens, scopes: tokens.scopes ?? issued.scopes };
}
