import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import type { OAuthRequester } from "../requester.js";
import { identityRequired } from "./plan-identity.js";
import { parseRegistration, type Registration, registrationBody } from "./registration.js";

/**
 * Registers a client at an authorization server. Sent once, and nothing is kept here.
 *
 * Rejects with `client_identity_required` for a server that registers nobody, `oauth_refused` (step `registration`), `oauth_invalid` for
 * an answer that can't be used, and as {@link OAuthRequester} does. Source: RFC 7591.
 */
export async function registerClient(
  requester: OAuthRequester,
  server: ServerMetadata,
  registration: Registration,
  wallNow: () => number,
  signal?: AbortSignal,
): Promise<OAuthClient> {
  const { issuer, registration_endpoint: url } = server;
  if (url === undefined) throw identityRequired({ issuer, reason: "none" });
  const body = registrationBody(registration, server);
  const answer = await requester.post({ url, contentType: "application/json", body: JSON.stringify(body) }, signal);
  const { redirectUris } = registration;
  return parseRegistration(answer, { server, body, redirectUris, wallNow: wallNow() });
}
