/** Proves with each request that its sender has a key. Source: RFC 9449. */
export interface DpopProver {
  /** The `DPoP` header of one request, never the same twice. With `accessToken` for one to a resource server. */
  proof(request: {
    readonly method: string;
    readonly url: string;
    readonly accessToken?: string | undefined;
  }): Promise<string>;
  /**
   * Takes the nonce of an answer's `DPoP-Nonce`, which counts for the origin of the URL. Whether there was a new one; when the request's
   * `proof` is given: whether a proof that is made now has another nonce than that one had, which others may have learnt meanwhile.
   */
  learn(url: string, headers: Readonly<Record<string, string | string[] | undefined>>, proof?: string): boolean;
  /** The private key, as a JWK, for the store. */
  readonly key: Readonly<Record<string, unknown>>;
}
