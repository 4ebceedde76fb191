import type { HeaderFields } from "../../serving/index.js";
import type { ExchangeVerdict, GrantRequest } from "./assertion.js";
import { splitScopes } from "./authorization-request.js";
import { authenticateClient, type ClientContext, type ClientVerdict } from "./client-authentication.js";
import { isPublicClient } from "./client.js";
import type { Consented, GrantBook, GrantProof, IssuedPair } from "./grant-book.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";
import type { AuthorizationServerConfig } from "./options.js";

/** What requests of clients are judged by. */
export interface TokenContext extends ClientContext {
  readonly grants: GrantBook;
  readonly config: Pick<AuthorizationServerConfig, "allowsClientCredentials" | "exchangeToken" | "judgeAssertion">;
  /** Of the key whose proof came with the request. */
  readonly thumbprint: string | undefined;
}

interface TokenRequest {
  readonly form: URLSearchParams;
  readonly client: ClientVerdict;
  readonly context: TokenContext;
}

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

/** The grants that are served. */
export function grantTypes({
  allowsClientCredentials,
  exchangeToken,
  judgeAssertion,
}: TokenContext["config"]): string[] {
  return [
    "authorization_code",
    "refresh_token",
    ...(allowsClientCredentials ? ["client_credentials"] : []),
    ...(judgeAssertion === undefined ? [] : [JWT_BEARER]),
    ...(exchangeToken === undefined ? [] : [TOKEN_EXCHANGE]),
  ];
}

/** Answers a token request. Source: OAuth 2.1, Token Endpoint; RFC 7523; RFC 8693. */
export async function answerTokenRequest(
  headers: HeaderFields,
  form: URLSearchParams,
  context: TokenContext,
): Promise<JsonAnswer> {
  const grantType = form.get("grant_type") ?? "";
  const client = authenticateClient(headers, form, context);
  // An assertion may say by itself who brings it.
  const needsClient = grantType !== JWT_BEARER && grantType !== TOKEN_EXCHANGE;
  if (client.kind === "refused") return oauthError("invalid_client", client.reason, 401);
  if (client.kind === "nobody" && needsClient) return oauthError("invalid_client", "no client is named", 401);
  if (!grantTypes(context.config).includes(grantType)) {
    return oauthError("unsupported_grant_type", "this grant is not served");
  }
  const request = { form, client, context };
  switch (grantType) {
    case "authorization_code":
      return redeemCode(request);
    case "refresh_token":
      return refresh(request);
    case "client_credentials":
      return grantToClient(request);
    case JWT_BEARER:
      return grantForAssertion(request);
    default:
      return answerExchange(await context.config.exchangeToken?.(grantRequest(request)));
  }
}

/** Answers a revocation, which succeeds for tokens that nobody knows. Source: RFC 7009. */
export function answerRevocation(headers: HeaderFields, form: URLSearchParams, context: TokenContext): JsonAnswer {
  const verdict = authenticateClient(headers, form, context);
  if (verdict.kind !== "known") return oauthError("invalid_client", "the client is not known", 401);
  const token = form.get("token");
  if (token === null) return oauthError("invalid_request", "token is missing");
  const issued = context.grants.tokens.find((known) => known.token === token);
  if (issued?.clientId === verdict.client.clientId) context.grants.revoke(token);
  return { status: 200, body: undefined };
}

function redeemCode(request: TokenRequest): JsonAnswer {
  const { context, form } = request;
  const code = form.get("code");
  if (code === null) return oauthError("invalid_request", "code is missing");
  const proof = {
    ...proofOf(request),
    redirectUri: form.get("redirect_uri"),
    codeVerifier: form.get("code_verifier"),
  };
  return answerPair(context.grants.redeem(code, proof, context.nowMs), context.nowMs);
}

function refresh(request: TokenRequest): JsonAnswer {
  const { context, form } = request;
  const token = form.get("refresh_token");
  if (token === null) return oauthError("invalid_request", "refresh_token is missing");
  const scopes = form.has("scope") ? splitScopes(form.get("scope")) : undefined;
  return answerPair(context.grants.refresh(token, proofOf(request), scopes, context.nowMs), context.nowMs);
}

function grantToClient(request: TokenRequest): JsonAnswer {
  const { client, context } = request;
  if (client.kind !== "known" || isPublicClient(client.client)) {
    return oauthError("unauthorized_client", "the client has nothing to prove itself by");
  }
  const consented = consentedBy(request, client.client.clientId, undefined);
  return answerPair(context.grants.grant(consented, context.thumbprint, context.nowMs), context.nowMs);
}

async function grantForAssertion(request: TokenRequest): Promise<JsonAnswer> {
  const { context, form } = request;
  const assertion = form.get("assertion");
  if (assertion === null) return oauthError("invalid_request", "assertion is missing");
  const verdict = await context.config.judgeAssertion?.(assertion, grantRequest(request));
  if (verdict === undefined || "error" in verdict) return oauthError(verdict?.error ?? "invalid_grant", "as judged");
  const consented = consentedBy(request, verdict.subject, verdict.scopes);
  return answerPair(context.grants.grant(consented, context.thumbprint, context.nowMs), context.nowMs);
}

function consentedBy(request: TokenRequest, subject: string, scopes: readonly string[] | undefined): Consented {
  const { form } = request;
  return {
    clientId: proofOf(request).clientId,
    subject,
    scopes: scopes ?? splitScopes(form.get("scope")),
    resources: form.getAll("resource"),
  };
}

/** `clientId` is empty where no client is named. */
function proofOf({ client, context: { thumbprint } }: TokenRequest): GrantProof {
  if (client.kind !== "known") return { clientId: "", thumbprint, bindsRefreshTokens: true };
  return { clientId: client.client.clientId, thumbprint, bindsRefreshTokens: isPublicClient(client.client) };
}

function grantRequest({ client, form }: TokenRequest): GrantRequest {
  const clientId = client.kind === "known" ? client.client.clientId : undefined;
  return { clientId, parameters: Object.fromEntries(form) };
}

function answerExchange(verdict: ExchangeVerdict | undefined): JsonAnswer {
  if (verdict === undefined || "error" in verdict) return oauthError(verdict?.error ?? "invalid_request", "as judged");
  const { expiresInSeconds, issuedTokenType, token, tokenType = "N_A" } = verdict;
  return {
    status: 200,
    body: {
      access_token: token,
      issued_token_type: issuedTokenType,
      token_type: tokenType,
      ...(expiresInSeconds === undefined ? {} : { expires_in: expiresInSeconds }),
    },
  };
}

function answerPair(pair: IssuedPair | string, nowMs: number): JsonAnswer {
  if (typeof pair === "string") return oauthError("invalid_grant", pair);
  const { access, refresh: renewal } = pair;
  const body = {
    access_token: access.token,
    token_type: access.thumbprint === undefined ? "Bearer" : "DPoP",
    ...(access.expiresAtMs === undefined ? {} : { expires_in: Math.floor((access.expiresAtMs - nowMs) / 1_000) }),
    ...(renewal === undefined ? {} : { refresh_token: renewal.token }),
    ...(access.scopes.length === 0 ? {} : { scope: access.scopes.join(" ") }),
  };
  return { status: 200, body };
}
