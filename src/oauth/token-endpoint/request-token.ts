import { isRemoteConnectorError } from "../../errors.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { DpopProver } from "../dpop-prover.js";
import type { OAuthClient } from "../oauth-client.js";
import type { OAuthRequester } from "../requester.js";
import type { TokenSet } from "../token-set.js";
import type { AssertionPorts } from "./client-assertion.js";
import { postForm, tokenEndpointOf } from "./post-form.js";
import { type AnswerContext, type AnsweredToken, readTokenAnswer } from "./token-answer.js";
import type { TokenStep } from "./token-failure.js";

/** A request for a token. */
export interface TokenRequest extends AssertionPorts {
  readonly server: ServerMetadata;
  /** It belongs to this server. `undefined`: nothing says who it is, as with an assertion that says all. */
  readonly client: OAuthClient | undefined;
  /** What failures are told of. */
  readonly step: TokenStep;
  /** `grant_type` and all that goes with it, `resource` included. How the client authenticates is added. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What the token is to be bound to. */
  readonly dpop?: DpopProver | undefined;
}

/** What an identity provider issued to be shown elsewhere. Source: RFC 8693, Successful Response. */
export interface IssuedAssertion {
  readonly assertion: string;
  /** As the answer names it; `undefined`: it does not. */
  readonly issuedTokenType: string | undefined;
  /** Those that it is for; `undefined`: all that were asked for. */
  readonly scopes: readonly string[] | undefined;
  /** Unix time in milliseconds; `undefined`: nobody knows. */
  readonly expiresAt: number | undefined;
}

/**
 * Asks a token endpoint for a token, by any grant. Sent once, but for an answer that asks for a DPoP nonce: then once more, with the nonce
 * and a new proof. The token's time counts from when it was asked for.
 *
 * Rejects with `oauth_refused` when the server refuses or answers no JSON, `oauth_invalid` for a token that can't be used or metadata
 * without the endpoint, `invalid_options` for a signing key that can't sign, and as {@link OAuthRequester} does. No failure holds
 * a token, a secret or a word of the server's own. Source: OAuth 2.1, Token Endpoint; RFC 9449, DPoP Access Token Request.
 */
export async function requestToken(
  requester: OAuthRequester,
  request: TokenRequest,
  signal?: AbortSignal,
): Promise<TokenSet> {
  const wanted = request.dpop === undefined ? "bearer" : "bearer_or_dpop";
  const { issuedTokenType: _, ...tokens } = await ask(requester, request, wanted, signal);
  return tokens;
}

/** The same for what is no access token: its type may be `N_A` or any other. */
export async function requestAssertion(
  requester: OAuthRequester,
  request: TokenRequest,
  signal?: AbortSignal,
): Promise<IssuedAssertion> {
  const { accessToken, expiresAt, issuedTokenType, scopes } = await ask(requester, request, "any", signal);
  return { assertion: accessToken, issuedTokenType, scopes, expiresAt };
}

async function ask(
  requester: OAuthRequester,
  request: TokenRequest,
  wanted: AnswerContext["wanted"],
  signal: AbortSignal | undefined,
): Promise<AnsweredToken> {
  const { dpop, server, step } = request;
  const { issuer } = server;
  const url = tokenEndpointOf(server);
  for (let mayRepeat = dpop !== undefined; ; mayRepeat = false) {
    const askedAt = request.wallNow();
    const proof = await dpop?.proof({ method: "POST", url });
    const answer = await postForm(requester, { ...request, url, proof }, signal);
    const hasNewNonce = dpop?.learn(answer.url, answer.headers, proof) === true;
    try {
      return readTokenAnswer(answer, { step, issuer, wanted, askedAt });
    } catch (error) {
      if (!mayRepeat || !hasNewNonce || !asksForNonce(error)) throw error;
    }
  }
}

function asksForNonce(error: unknown): boolean {
  return isRemoteConnectorError(error, "oauth_refused") && error.details.errorCode === "use_dpop_nonce";
}
