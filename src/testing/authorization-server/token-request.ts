import type { HeaderFields } from "../../serving/index.js";
import { splitScopes } from "./authorization-request.js";
import { authenticateClient, type AuthorizationClient } from "./client.js";
import type { GrantBook, IssuedPair } from "./grant-book.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";

/** What requests of clients are judged by. */
export interface TokenContext {
  readonly clients: ReadonlyMap<string, AuthorizationClient>;
  readonly grants: GrantBook;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** Answers a token request: `authorization_code` and `refresh_token`. Source: OAuth 2.1, Token Endpoint. */
export function answerTokenRequest(
  headers: HeaderFields,
  form: URLSearchParams,
  { clients, grants, nowMs }: TokenContext,
): JsonAnswer {
  const verdict = authenticateClient(headers, form, clients);
  if (verdict.kind === "refused") return oauthError("invalid_client", verdict.reason, 401);
  const { clientId } = verdict.client;
  const grantType = form.get("grant_type");
  if (grantType === "authorization_code") {
    const code = form.get("code");
    if (code === null) return oauthError("invalid_request", "code is missing");
    const proof = { clientId, redirectUri: form.get("redirect_uri"), codeVerifier: form.get("code_verifier") };
    return answerPair(grants.redeem(code, proof, nowMs), nowMs);
  }
  if (grantType === "refresh_token") {
    const token = form.get("refresh_token");
    if (token === null) return oauthError("invalid_request", "refresh_token is missing");
    const scopes = form.has("scope") ? splitScopes(form.get("scope")) : undefined;
    return answerPair(grants.refresh(token, clientId, scopes, nowMs), nowMs);
  }
  return oauthError("unsupported_grant_type", "only authorization_code and refresh_token are served");
}

/** Answers a revocation, which succeeds for tokens that nobody knows. Source: RFC 7009. */
export function answerRevocation(
  headers: HeaderFields,
  form: URLSearchParams,
  { clients, grants }: TokenContext,
): JsonAnswer {
  const verdict = authenticateClient(headers, form, clients);
  if (verdict.kind === "refused") return oauthError("invalid_client", verdict.reason, 401);
  const token = form.get("token");
  if (token === null) return oauthError("invalid_request", "token is missing");
  const issued = grants.tokens.find((known) => known.token === token);
  if (issued?.clientId === verdict.client.clientId) grants.revoke(token);
  return { status: 200, body: undefined };
}

function answerPair(pair: IssuedPair | string, nowMs: number): JsonAnswer {
  if (typeof pair === "string") return oauthError("invalid_grant", pair);
  const { access, refresh } = pair;
  const body = {
    access_token: access.token,
    token_type: "Bearer",
    ...(access.expiresAtMs === undefined ? {} : { expires_in: Math.floor((access.expiresAtMs - nowMs) / 1_000) }),
    ...(refresh === undefined ? {} : { refresh_token: refresh.token }),
    ...(access.scopes.length === 0 ? {} : { scope: access.scopes.join(" ") }),
  };
  return { status: 200, body };
}
