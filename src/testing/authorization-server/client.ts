import type { PublicKey } from "../jws.js";

/** How a client proves at the token endpoint who it is. Source: RFC 7591, Client Metadata; RFC 7523. */
export type ClientAuthentication = "client_secret_basic" | "client_secret_post" | "none" | "private_key_jwt";

/** Every way there is. */
export const CLIENT_AUTHENTICATIONS: readonly ClientAuthentication[] = [
  "client_secret_basic",
  "client_secret_post",
  "none",
  "private_key_jwt",
];

/** A client that the authorization server knows. */
export interface AuthorizationClient {
  readonly clientId: string;
  /** A client without one, and without a key, is public, and authenticates by `none`. */
  readonly clientSecret?: string | undefined;
  /** For `private_key_jwt`: a JWK, or SPKI in PEM. */
  readonly publicKey?: PublicKey | undefined;
  /** Compared as they are; of one on loopback the port may differ. Source: RFC 8252, Loopback Interface Redirection. */
  readonly redirectUris: readonly string[];
  /** The one way that is accepted. Left out, every one is that what is known of the client can do. */
  readonly authentication?: ClientAuthentication | undefined;
}

/** Whether a client has nothing to prove itself by. */
export function isPublicClient({ clientSecret, publicKey }: AuthorizationClient): boolean {
  return clientSecret === undefined && publicKey === undefined;
}

/** Whether a client may be sent to this address. Pure. */
export function allowsRedirect(client: AuthorizationClient, redirectUri: string): boolean {
  return client.redirectUris.some((known) => known === redirectUri || sameOnLoopback(known, redirectUri));
}

/** Letter by letter but for the port. */
function sameOnLoopback(known: string, redirectUri: string): boolean {
  const portless = withoutPort(known);
  return portless !== undefined && portless === withoutPort(redirectUri);
}

/** `undefined` for an address that is not on loopback. */
function withoutPort(uri: string): string | undefined {
  const parts = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(\/.*)?$/.exec(uri);
  return parts === null ? undefined : `${parts[1] ?? ""}${parts[2] ?? ""}`;
}
