import type { AuthorizationServerConfig } from "./options.js";

/** The metadata document. Pure. Source: RFC 8414, Authorization Server Metadata. */
export function metadataOf(issuer: string, config: AuthorizationServerConfig): object {
  const document: Record<string, unknown> = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    ...(config.allowsRegistration ? { registration_endpoint: `${issuer}/register` } : {}),
    ...(config.announcesIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
    ...config.metadata,
  };
  return document;
}

/** Where the document is: the well-known part comes before the issuer's path. */
export function metadataPath(issuerPath: string): string {
  return `/.well-known/oauth-authorization-server${issuerPath}`;
}
