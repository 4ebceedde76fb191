/** An answer in JSON. `body` is `undefined` for one without a body; a text is sent as it is, JSON or not. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An error as OAuth writes it. Source: RFC 6749, Error Response. */
export function oauthError(error: string, description: string, status = 400): JsonAnswer {
  const headers = status === 401 ? { "WWW-Authenticate": 'Basic realm="tokens"' } : {};
  return { status, body: { error, error_description: description }, headers };
}
