const JWT_BEARER_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
export const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** What a token is asked for. */
export interface TokenAim {
  /** `undefined`: the parameter is left out. */
  readonly resource: string | undefined;
  /** Empty: the parameter is left out. */
  readonly scopes: readonly string[];
}

/** What an identity provider is asked. */
export interface ExchangeAim {
  /** The issuer of the authorization server that will be shown the answer. */
  readonly audience: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

type Parameters = Readonly<Record<string, string>>;

/** Pure. Source: OAuth 2.1, Client Credentials Grant; ext-auth, OAuth Client Credentials. */
export function clientCredentialsParameters(aim: TokenAim): Parameters {
  return { grant_type: "client_credentials", ...aimParameters(aim) };
}

/** Pure. Source: RFC 7523, Using JWTs as Authorization Grants. */
export function jwtBearerParameters(assertion: string, aim: TokenAim): Parameters {
  return { grant_type: JWT_BEARER_GRANT, assertion, ...aimParameters(aim) };
}

/** Pure. Source: ext-auth, Enterprise-Managed Authorization, Token Exchange; RFC 8693, Request. */
export function tokenExchangeParameters(idToken: string, aim: ExchangeAim): Parameters {
  return {
    grant_type: TOKEN_EXCHANGE_GRANT,
    requested_token_type: ID_JAG,
    audience: aim.audience,
    ...aimParameters(aim),
    subject_token: idToken,
    subject_token_type: ID_TOKEN,
  };
}

function aimParameters({ resource, scopes }: TokenAim): Parameters {
  return {
    ...(resource === undefined ? {} : { resource }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
  };
}
