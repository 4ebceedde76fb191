import { RemoteConnectorError } from "../../errors.js";
import { parseEndpoint } from "../../transport/index.js";
import type { AuthorizationServer } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";

/** What an authorization request is made of. */
export interface AuthorizationPreparation {
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  readonly redirectUri: string;
  /** Empty: the parameter is left out. */
  readonly scopes: readonly string[];
  /** Sent character by character; `undefined`: left out. */
  readonly resource: string | undefined;
  /** So many bytes that nobody can guess. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/** A person's way to the authorization server, and what has to be known when the browser comes back. It holds secrets. */
export interface PendingAuthorization {
  /** Where the person has to go. */
  readonly url: string;
  readonly state: string;
  readonly codeVerifier: string;
  /** Of the metadata that was validated, recorded before anybody is sent anywhere. */
  readonly issuer: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Whether an answer without `iss` is refused. */
  readonly expectsIssuer: boolean;
}

/** 256 bits, which is 43 characters: the least that a verifier may have. */
const SECRET_BYTES = 32;

/**
 * Prepares an authorization request: the code flow with PKCE by S256 and a `state`, both new each time. The query that the
 * authorization endpoint has already is kept as it is, but for parameters that are set here, so that none appears twice. A request
 * for `offline_access` asks for consent, without which OpenID providers ignore that scope.
 *
 * Rejects with `oauth_invalid` (`server_metadata`) for a server without an authorization endpoint, or one whose metadata don't list
 * S256; with `invalid_url` for an endpoint that is neither https nor on loopback.
 *
 * Source: 2026-07-28, Authorization, Authorization Response Validation, Resource Parameter Implementation, Authorization Code
 * Protection; RFC 6749, Authorization Endpoint; OpenID Connect Core, Offline Access.
 */
export async function prepareAuthorization(preparation: AuthorizationPreparation): Promise<PendingAuthorization> {
  const { client, randomBytes, redirectUri, resource, scopes, server } = preparation;
  const { issuer, authorization_response_iss_parameter_supported: announcesIssuer } = server.metadata;
  const endpoint = authorizationEndpoint(server);
  const secret = (): string => Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url");
  const [state, codeVerifier] = [secret(), secret()];
  const { calculatePKCECodeChallenge } = await import("oauth4webapi");
  const parameters = new Map([
    ["response_type", "code"],
    ["client_id", client.clientId],
    ["redirect_uri", redirectUri],
    ["state", state],
    ["code_challenge", await calculatePKCECodeChallenge(codeVerifier)],
    ["code_challenge_method", "S256"],
  ]);
  if (scopes.length > 0) parameters.set("scope", scopes.join(" "));
  if (scopes.includes("offline_access")) parameters.set("prompt", "consent");
  if (resource !== undefined) parameters.set("resource", resource);
  const url = withParameters(endpoint, parameters);
  return { url, state, codeVerifier, issuer, redirectUri, scopes, expectsIssuer: announcesIssuer === true };
}

function authorizationEndpoint({ metadata, source }: AuthorizationServer): URL {
  const { authorization_endpoint: endpoint, code_challenge_methods_supported: methods } = metadata;
  if (endpoint === undefined) return refuse(metadata.issuer, "authorization_endpoint", "missing");
  if (source === "document" && methods?.includes("S256") !== true) {
    return refuse(metadata.issuer, "code_challenge_methods_supported", "does not list S256");
  }
  return parseEndpoint(endpoint, { allowInsecureHttp: false });
}

/** The endpoint's own query stays as it was written: only parameters of the same name are taken out of it. */
function withParameters(endpoint: URL, parameters: ReadonlyMap<string, string>): string {
  const kept = endpoint.search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "" && ![...new URLSearchParams(pair).keys()].some((name) => parameters.has(name)));
  // `%20` is a space to every reader of queries, `+` only to those of forms.
  const added = new URLSearchParams([...parameters]).toString().replaceAll("+", "%20");
  const url = new URL(endpoint);
  url.search = [...kept, added].join("&");
  return url.href;
}

function refuse(issuer: string, member: string, reason: string): never {
  throw new RemoteConnectorError("oauth_invalid", {
    message: `The authorization server ${issuer} can't be used: ${member} ${reason}.`,
    details: { subject: "server_metadata", url: issuer, member, reason },
    delivery: "answered",
  });
}
