/** The metadata of an authorization server, as far as it is used; read by us. Source: RFC 8414, RFC 9207, OpenID Connect Discovery. */
export interface ServerMetadata {
  readonly issuer: string;
  readonly authorization_endpoint?: string | undefined;
  readonly token_endpoint?: string | undefined;
  readonly registration_endpoint?: string | undefined;
  readonly revocation_endpoint?: string | undefined;
  readonly scopes_supported?: readonly string[] | undefined;
  readonly grant_types_supported?: readonly string[] | undefined;
  readonly code_challenge_methods_supported?: readonly string[] | undefined;
  readonly token_endpoint_auth_methods_supported?: readonly string[] | undefined;
  readonly token_endpoint_auth_signing_alg_values_supported?: readonly string[] | undefined;
  readonly dpop_signing_alg_values_supported?: readonly string[] | undefined;
  readonly client_id_metadata_document_supported?: boolean | undefined;
  readonly authorization_response_iss_parameter_supported?: boolean | undefined;
}

/** An authorization server that discovery led to. */
export interface AuthorizationServer {
  readonly metadata: ServerMetadata;
  /** `document`: it was read. `defaults`: there is none, and the endpoints are those of revision 2025-03-26. */
  readonly source: "document" | "defaults";
}
