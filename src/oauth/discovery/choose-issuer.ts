import type { ProtectedResource } from "../protected-resource.js";
import { invalidMetadata } from "./failures.js";

/** Issuers that something is there for. They are compared code unit by code unit. */
export interface IssuerPreferences {
  /** Those that gave tokens which are stored. */
  readonly withTokens: readonly string[];
  /** Those that a client was registered at by hand. */
  readonly preRegistered: readonly string[];
}

/**
 * The authorization server to go to, of those that a resource names: the first that gave tokens, else the first where a client was
 * registered by hand, else the first. Throws `oauth_invalid` when there is none at all. Pure.
 *
 * Source: 2026-07-28, Authorization Server Location; RFC 9728, Authorization Servers.
 */
export function chooseIssuer(resource: ProtectedResource, preferences: IssuerPreferences): string {
  const { authorizationServers: issuers, source = "" } = resource;
  const { withTokens, preRegistered } = preferences;
  const chosen =
    issuers.find((issuer) => withTokens.includes(issuer)) ??
    issuers.find((issuer) => preRegistered.includes(issuer)) ??
    issuers[0];
  if (chosen !== undefined) return chosen;
  throw invalidMetadata("resource_metadata", source, "authorization_servers", "names none");
}
