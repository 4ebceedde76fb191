import { JWS_ALGORITHMS } from "../jws.js";
import type { AuthorizationServerConfig } from "./options.js";
import { grantTypes } from "./token-request.js";

/** The metadata document. Pure. Source: RFC 8414, Authorization Server Metadata. */
export function metadataOf(issuer: string, config: AuthorizationServerConfig): object {
  const document: Record<string, unknown> = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: grantTypes(config),
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: config.authenticationMethods,
    ...(config.authenticationMethods.includes("private_key_jwt")
      ? { token_endpoint_auth_signing_alg_values_supported: JWS_ALGORITHMS }
      : {}),
    ...(config.scopesSupported === undefined ? {} : { scopes_supported: config.scopesSupported }),
    ...(config.allowsRegistration ? { registration_endpoint: `${issuer}/register` } : {}),
    ...(config.findClientDocument === undefined ? {} : { client_id_metadata_document_supported: true }),
    ...(config.announcesIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
    ...(config.dpop === "ignored" ? {} : { dpop_signing_alg_values_supported: JWS_ALGORITHMS }),
    ...config.metadata,
  };
  return document;
}
