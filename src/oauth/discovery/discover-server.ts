import type { AuthorizationServer } from "../authorization-server.js";
import type { ProtectedResource } from "../protected-resource.js";
import type { OAuthRequester } from "../requester.js";
import { parseOAuthUrl } from "../requests/index.js";
import { discoveryFailed, invalidMetadata } from "./failures.js";
import { isAmbiguous } from "./matches-resource.js";
import { classifyMetadataAnswer } from "./metadata-answer.js";
import { defaultServer, readServer } from "./read-server.js";
import { serverMetadataUrls } from "./well-known-urls.js";

/**
 * Reads the metadata of one of the authorization servers that `resource` names, or of one that is configured, from the well-known places
 * in the specified order. What comes back holds what was read, or the default endpoints: those only where `resource` was not published,
 * the issuer is the one that stands for it, and every place answered 4xx.
 *
 * - A 4xx, or a page for people, leads to the next place; when there is no further one, to `oauth_discovery_failed`.
 * - A document that breaks a rule ends the search with `oauth_invalid`, above all one of another issuer: no further place is asked.
 *   Where `resource` was not published, the origin that stands for the issuer may be published with a slash at its end or without, since
 *   either leads to the same place; what counts from then on is what was published.
 * - 5xx and other answers end it with `oauth_discovery_failed`, failures of the requester as they are. An issuer that is no issuer's
 *   URL is `oauth_invalid`, of the resource's metadata.
 *
 * Source: 2026-07-28, Authorization Server Metadata Discovery; 2025-03-26, Server Metadata Discovery; RFC 8414.
 */
export async function discoverServer(
  requester: OAuthRequester,
  issuer: string,
  resource: ProtectedResource,
  signal?: AbortSignal,
): Promise<AuthorizationServer> {
  const base = parseIssuer(issuer, resource);
  // It was made of the endpoint by us. A configured issuer is not.
  const isMade = resource.source === undefined && resource.authorizationServers.includes(issuer);
  const issuers = isMade ? [base.origin, `${base.origin}/`] : [issuer];
  let areRefused = true;
  let last = { url: base.href, status: 0 };
  for (const url of serverMetadataUrls(base)) {
    const answer = await requester.get(url, signal);
    last = answer;
    const read = classifyMetadataAnswer(answer);
    switch (read.kind) {
      case "document":
        return { metadata: readServer(read.document, answer.url, issuers), source: "document" };
      case "absent":
        areRefused &&= read.refused;
        break;
      case "broken":
        throw invalidMetadata("server_metadata", answer.url, "(all of it)", "is no JSON object");
      case "failed":
        throw discoveryFailed(answer.url, answer.status, "the authorization server fails");
    }
  }
  if (isMade && areRefused) return defaultServer(issuer);
  throw discoveryFailed(last.url, last.status, "the authorization server publishes none");
}

/** Whether loopback may be meant is the requester's to know. Throws `oauth_invalid`. */
function parseIssuer(issuer: string, { source = "" }: ProtectedResource): URL {
  const invalid = (reason: string, cause?: unknown): Error =>
    invalidMetadata("resource_metadata", source, "authorization_servers", reason, cause);
  let url: URL;
  try {
    url = parseOAuthUrl(issuer, { loopback: true });
  } catch (cause) {
    throw invalid("names an issuer whose URL is refused", cause);
  }
  if (isAmbiguous(issuer)) throw invalid("names an issuer with characters that no URL has");
  // The URL alone does not tell an empty query.
  if (issuer.includes("?")) throw invalid("names an issuer with a query");
  return url;
}
