/** A whole answer. Header names are lower-case. */
export interface OAuthAnswer {
  /** Where it came from in the end. */
  readonly url: string;
  readonly status: number;
  /** Without parameters, lower-case; `""` when there is none. */
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/** A request that may change something. */
export interface OAuthPost {
  readonly url: string;
  readonly contentType: "application/json" | "application/x-www-form-urlencoded";
  /** In UTF-8. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The one way out of this folder: every request goes by `transport`, under its address guard, with a deadline and a limit on the
 * answer, and without the headers that are configured for the MCP server.
 *
 * Both reject with `invalid_url`, `connect_failed` (a refused address is one, `lasting`), `connection_broken`, `timeout`,
 * `limit_exceeded`, `redirect_refused`, `cancelled`, or the signal's own reason. An answer of any other status is no failure here.
 */
export interface OAuthRequester {
  /** Reads a document: 3 redirects are followed, each on the same origin or to https of the same host. */
  get(url: string, signal?: AbortSignal): Promise<OAuthAnswer>;
  /** Sends once. A redirect is refused. */
  post(post: OAuthPost, signal?: AbortSignal): Promise<OAuthAnswer>;
}
