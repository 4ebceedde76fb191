/** What is known of a request that a grant's function judges. */
export interface GrantRequest {
  /** `undefined` where no client is named. */
  readonly clientId: string | undefined;
  /** Of the form; the last of each name. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A refusal in OAuth's words, such as `invalid_grant`. */
export interface GrantRefusal {
  readonly error: string;
}

/** Whom an assertion stands for, and what they may do: what the request asks for, when `scopes` are left out. Source: RFC 7523. */
export type AssertionVerdict =
  | { readonly subject: string; readonly scopes?: readonly string[] | undefined }
  | GrantRefusal;

export type JudgeAssertion = (assertion: string, request: GrantRequest) => AssertionVerdict | Promise<AssertionVerdict>;

/** What a token is exchanged for. Source: RFC 8693, Response. */
export type ExchangeVerdict =
  | {
      readonly token: string;
      /** Such as `urn:ietf:params:oauth:token-type:id-jag`. */
      readonly issuedTokenType: string;
      /** `N_A` when left out: it is no access token. */
      readonly tokenType?: string | undefined;
      readonly expiresInSeconds?: number | undefined;
    }
  | GrantRefusal;

export type ExchangeToken = (request: GrantRequest) => ExchangeVerdict | Promise<ExchangeVerdict>;
