import type { AuthorizationServer } from "../authorization-server.js";
import { invalidMetadata } from "./failures.js";

/**
 * Checks that an authorization server can be used for the code flow: its document, if it was read, has both endpoints and lists PKCE by
 * S256. Default endpoints are fine: nothing says what they can do, and the challenge is sent all the same. For other grants nothing of
 * it counts.
 *
 * Throws `oauth_invalid`, whose `url` is the issuer. Pure.
 * Source: 2026-07-28, Security Considerations, Authorization Code Protection; RFC 8414, Authorization Server Metadata.
 */
export function checkCodeFlow({ metadata, source }: AuthorizationServer): void {
  if (source === "defaults") return;
  const { issuer, code_challenge_methods_supported: methods } = metadata;
  const invalid = (member: string, reason: string): Error => invalidMetadata("server_metadata", issuer, member, reason);
  for (const member of ["authorization_endpoint", "token_endpoint"] as const) {
    if (metadata[member] === undefined) throw invalid(member, "is missing");
  }
  if (methods === undefined) throw invalid("code_challenge_methods_supported", "is missing: no PKCE");
  if (!methods.includes("S256")) throw invalid("code_challenge_methods_supported", "does not list S256");
}
