/** What a server's challenge says, as far as authorization goes by it. Source: RFC 9728, WWW-Authenticate Response; RFC 6750. */
export interface AuthorizationChallenge {
  /** Whether a Bearer or a DPoP challenge was there at all. */
  readonly schemes: ReadonlySet<"bearer" | "dpop">;
  /** Where the resource's metadata may be, in the order in which they were found: to be tried until one can be used. */
  readonly resourceMetadata: readonly string[];
  /** As it came: scopes separated by spaces. `undefined`: none was named. */
  readonly scope: string | undefined;
  /** Such as `invalid_token`, `insufficient_scope`, `use_dpop_nonce`. */
  readonly error: string | undefined;
}

/** What is known of a protected resource. Source: RFC 9728, Protected Resource Metadata. */
export interface ProtectedResource {
  /** The identifier as published, character by character; `undefined` when no metadata was found. It belongs to the endpoint. */
  readonly resource: string | undefined;
  /** Where the metadata was; `undefined` when none was found. */
  readonly source: string | undefined;
  /** Issuers, as published and in order, at least one. Without metadata: the endpoint's origin alone, as 2025-03-26 has it. */
  readonly authorizationServers: readonly string[];
  /** `undefined`: not published. */
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether the resource takes no token that is not bound by DPoP. */
  readonly needsDpop: boolean;
}
