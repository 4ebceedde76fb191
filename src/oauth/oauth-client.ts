/** How a client proves at a token endpoint who it is. Source: RFC 7591, Client Metadata; RFC 7523. */
export type ClientAuthMethod = "client_secret_basic" | "client_secret_post" | "none" | "private_key_jwt";

/** A private key that signs, as PKCS#8 in PEM or as a JWK. */
export interface SigningKey {
  readonly key: string | Readonly<Record<string, unknown>>;
  /** Such as `ES256`. Default: what the JWK says, or what fits the key. */
  readonly algorithm?: string | undefined;
  /** The key's id, which goes into the header. */
  readonly keyId?: string | undefined;
}

/** Who the client is at one authorization server. It is never shown to another. */
export interface OAuthClient {
  readonly kind: "pre_registered" | "metadata_document" | "dynamic";
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Unix time in milliseconds; `undefined`: never. */
  readonly secretExpiresAt: number | undefined;
  readonly authMethod: ClientAuthMethod;
  /** For `private_key_jwt`. Never stored. */
  readonly signingKey: SigningKey | undefined;
  /** Where a browser may be sent back to; empty for a client that sends none. */
  readonly redirectUris: readonly string[];
}
