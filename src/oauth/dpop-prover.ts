/** Proves with each request that its sender has a key. Source: RFC 9449. */
export interface DpopProver {
  /** The `DPoP` header of one request, never the same twice. With `accessToken` for one to a resource server. */
  proof(request: {
    readonly method: string;
    readonly url: string;
    readonly accessToken?: string | undefined;
  }): Promise<string>;
  /** Takes the nonce of an answer's `DPoP-Nonce`, which counts for the origin of the URL. Whether there was a new one. */
  learn(url: string, headers: Readonly<Record<string, string | string[] | undefined>>): boolean;
  /** The private key, as a JWK, for the store. */
  readonly key: Readonly<Record<string, unknown>>;
}
