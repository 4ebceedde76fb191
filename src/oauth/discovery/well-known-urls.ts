/**
 * Where the metadata of a resource is when nobody says so, in order: below the well-known path as the endpoint's own path and query
 * have it, then at the origin's root; one URL for an endpoint at the root. Pure.
 *
 * Source: 2026-07-28, Protected Resource Metadata Discovery Requirements; RFC 9728, Protected Resource Metadata Request.
 */
export function resourceMetadataUrls(endpoint: URL): readonly string[] {
  const root = `${endpoint.origin}/.well-known/oauth-protected-resource`;
  const own = pathOf(endpoint) + endpoint.search;
  return own === "" ? [root] : [root + own, root];
}

/**
 * Where the metadata of an authorization server is, in order: three URLs for an issuer with a path, two for one without. One slash at
 * the end of the issuer is left out. Pure.
 *
 * Source: 2026-07-28, Authorization Server Metadata Discovery; RFC 8414, Authorization Server Metadata Request; OpenID Connect
 * Discovery 1.0, OpenID Provider Configuration Request.
 */
export function serverMetadataUrls(issuer: URL): readonly string[] {
  const { origin } = issuer;
  const path = pathOf(issuer).replace(/\/$/, "");
  const inserted = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

function pathOf({ pathname }: URL): string {
  return pathname === "/" ? "" : pathname;
}
