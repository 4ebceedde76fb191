/** What a token endpoint gave. Source: OAuth 2.1, Token Response. */
export interface TokenSet {
  readonly accessToken: string;
  readonly tokenType: "Bearer" | "DPoP";
  /** Unix time in milliseconds; `undefined`: nobody knows. */
  readonly expiresAt: number | undefined;
  readonly refreshToken: string | undefined;
  /** As the answer names them; `undefined`: those that were asked for. */
  readonly scopes: readonly string[] | undefined;
}
