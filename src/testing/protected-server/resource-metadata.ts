import type { MetadataPlace, ProtectionConfig } from "./options.js";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The metadata document of a resource. Pure. Source: RFC 9728, Protected Resource Metadata. */
export function resourceMetadata(endpoint: string, protection: ProtectionConfig): object {
  const { authorizationServers, metadata, requiresDpop, scopesSupported } = protection;
  return {
    resource: resourceOf(endpoint, protection),
    authorization_servers: authorizationServers.map(({ issuer }) => issuer),
    bearer_methods_supported: ["header"],
    ...(scopesSupported === undefined ? {} : { scopes_supported: scopesSupported }),
    ...(requiresDpop ? { dpop_bound_access_tokens_required: true } : {}),
    ...metadata,
  };
}

/** What tokens are issued for. */
export function resourceOf(endpoint: string, { resource }: ProtectionConfig): string {
  return resource ?? endpoint;
}

/** Where a document is. */
export function placePath(place: MetadataPlace, endpointPath: string): string {
  if (place === "root") return WELL_KNOWN;
  return place === "path" ? `${WELL_KNOWN}${endpointPath === "/" ? "" : endpointPath}` : place;
}

/** What a challenge names as the metadata's URL; `undefined`: nothing. */
export function namedMetadata(endpoint: string, { metadataAt, namesMetadata }: ProtectionConfig): string | undefined {
  if (typeof namesMetadata === "string") return namesMetadata;
  const [place] = metadataAt;
  const { origin, pathname } = new URL(endpoint);
  return namesMetadata && place !== undefined ? `${origin}${placePath(place, pathname)}` : undefined;
}
