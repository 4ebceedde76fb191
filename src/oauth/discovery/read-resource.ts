import type { JsonObject } from "../../protocol/index.js";
import type { ProtectedResource } from "../protected-resource.js";
import { invalidMetadata } from "./failures.js";
import { matchesResource } from "./matches-resource.js";
import { booleanMember, textMember, textsMember } from "./members.js";

/**
 * Reads a resource's metadata, which was found at `source`. `resource` and `authorization_servers` must be there, be right and not be
 * empty; other members count as absent when they are of another type than theirs, and what is not known is passed over.
 *
 * Throws `oauth_invalid`. Pure. Source: RFC 9728, Protected Resource Metadata; 2026-07-28, Authorization Server Location.
 */
export function readResource(document: JsonObject, source: string, endpoint: URL): ProtectedResource {
  const resource = textMember(document, "resource");
  if (resource === undefined) throw invalid(source, "resource", "is missing");
  if (!matchesResource(resource, endpoint)) {
    throw invalid(source, "resource", "names neither the MCP endpoint nor a parent of it");
  }
  const authorizationServers = (textsMember(document, "authorization_servers") ?? []).filter((each) => each !== "");
  if (authorizationServers.length === 0) throw invalid(source, "authorization_servers", "names none");
  return {
    resource,
    source,
    authorizationServers,
    scopesSupported: textsMember(document, "scopes_supported"),
    needsDpop: booleanMember(document, "dpop_bound_access_tokens_required") ?? false,
  };
}

/** What counts as known of a server of 2025-03-26, which publishes nothing: it is its own authorization server. Pure. */
export function unpublishedResource(endpoint: URL): ProtectedResource {
  return {
    resource: undefined,
    source: undefined,
    authorizationServers: [endpoint.origin],
    scopesSupported: undefined,
    needsDpop: false,
  };
}

function invalid(source: string, member: string, reason: string): Error {
  return invalidMetadata("resource_metadata", source, member, reason);
}
