import type { JsonObject } from "../../protocol/index.js";
import { isLoopback } from "../../transport/index.js";
import type { AuthorizationServer, ServerMetadata } from "../authorization-server.js";
import { parseOAuthUrl } from "../requests/index.js";
import { invalidMetadata } from "./failures.js";
import { booleanMember, textMember, textsMember } from "./members.js";

/**
 * Reads an authorization server's metadata, which was found at `source`. `issuers` are the strings that may have led there: the
 * published issuer must be one of them, code unit by code unit. Each endpoint that is there must be a URL that may be asked: https, or on
 * loopback if the issuer itself is there. Other members count as absent when they are of another type than theirs, and so does an
 * endpoint; what is not known is passed over.
 *
 * Throws `oauth_invalid`. Pure. Source: RFC 8414, Authorization Server Metadata Validation; OpenID Connect Discovery 1.0, OpenID
 * Provider Configuration Validation.
 */
export function readServer(document: JsonObject, source: string, issuers: readonly string[]): ServerMetadata {
  const issuer = textMember(document, "issuer");
  if (issuer === undefined) throw invalidMetadata("server_metadata", source, "issuer", "is missing");
  if (!issuers.includes(issuer)) {
    throw invalidMetadata("server_metadata", source, "issuer", "is another than the one that led there");
  }
  const policy = { loopback: isLoopback(new URL(issuer).hostname) };
  const endpoint = (member: string): string | undefined => {
    const url = textMember(document, member);
    if (url === undefined) return undefined;
    try {
      parseOAuthUrl(url, policy);
      return url;
    } catch (cause) {
      throw invalidMetadata("server_metadata", source, member, "is a URL that is refused", cause);
    }
  };
  const texts = (member: string): readonly string[] | undefined => textsMember(document, member);
  return {
    issuer,
    authorization_endpoint: endpoint("authorization_endpoint"),
    token_endpoint: endpoint("token_endpoint"),
    registration_endpoint: endpoint("registration_endpoint"),
    revocation_endpoint: endpoint("revocation_endpoint"),
    scopes_supported: texts("scopes_supported"),
    grant_types_supported: texts("grant_types_supported"),
    code_challenge_methods_supported: texts("code_challenge_methods_supported"),
    token_endpoint_auth_methods_supported: texts("token_endpoint_auth_methods_supported"),
    token_endpoint_auth_signing_alg_values_supported: texts("token_endpoint_auth_signing_alg_values_supported"),
    dpop_signing_alg_values_supported: texts("dpop_signing_alg_values_supported"),
    client_id_metadata_document_supported: booleanMember(document, "client_id_metadata_document_supported"),
    authorization_response_iss_parameter_supported: booleanMember(
      document,
      "authorization_response_iss_parameter_supported",
    ),
  };
}

/** The endpoints of a server of 2025-03-26 that publishes none. Source: 2025-03-26, Fallbacks for Servers without Metadata Discovery. Pure. */
export function defaultServer(issuer: string): AuthorizationServer {
  const { origin } = new URL(issuer);
  const metadata = {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  return { metadata, source: "defaults" };
}
