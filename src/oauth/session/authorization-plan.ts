import type { AuthorizationServer, ServerMetadata } from "../authorization-server.js";
import { selectScopes } from "../code-flow/index.js";
import type { DpopProver } from "../dpop-prover.js";
import { chooseDpopAlgorithm, createDpopProver } from "../dpop/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { OAuthClient } from "../oauth-client.js";
import type { AuthorizationChallenge } from "../protected-resource.js";
import type { TokenSet } from "../token-set.js";
import { type Discovered, resourceToSend } from "./endpoint-discovery.js";
import type { SessionParts } from "./session-parts.js";

/** What a new authorization is wanted for. */
export interface AuthorizationWish {
  /** What the server said; of a sign-in that nothing asked for, a challenge that says nothing. */
  readonly challenge: AuthorizationChallenge;
  /** Scopes to ask for beside those of the server and the options. */
  readonly scopes: readonly string[];
}

/** A challenge that says nothing. */
export const NO_CHALLENGE: AuthorizationChallenge = {
  schemes: new Set(),
  resourceMetadata: [],
  scope: undefined,
  error: undefined,
};

/** What an authorization is going to ask for, and where. */
export interface AuthorizationPlan {
  readonly server: AuthorizationServer;
  /** What is sent as `resource`. */
  readonly resource: string | undefined;
  readonly scopes: readonly string[];
  /** Whether the tokens are to be bound to a key. */
  readonly bindsTokens: boolean;
  /** What is stored now, of this same issuer. */
  readonly before: GrantRecord | undefined;
}

/** The plan by what discovery found. Scopes that were asked for before are asked for again, if it was at the same issuer. Pure. */
export function planAuthorization(
  { resource, server }: Discovered,
  { challenge, scopes }: AuthorizationWish,
  stored: GrantRecord | undefined,
  parts: Pick<SessionParts, "config" | "discovery">,
): AuthorizationPlan {
  const { config, discovery } = parts;
  const before = stored?.issuer === server.metadata.issuer ? stored : undefined;
  const algorithms = server.metadata.dpop_signing_alg_values_supported;
  const takesDpop = algorithms !== undefined && chooseDpopAlgorithm(algorithms) !== undefined;
  const wantsDpop = resource.needsDpop || (challenge.schemes.has("dpop") && !challenge.schemes.has("bearer"));
  return {
    server,
    resource: resourceToSend(discovery.endpoint, resource, config.sendsResource),
    scopes: selectScopes({
      challenged: challenge.scope,
      resource,
      server: config.grant === undefined ? server.metadata : withoutScopes(server.metadata),
      requestedBefore: before?.requestedScopes ?? [],
      extra: [...config.scopes, ...scopes],
    }),
    bindsTokens: wantsDpop || (config.dpop && takesDpop),
    before,
  };
}

/** A grant without a person takes no refresh token: nothing is added to its scopes that stands for one. */
function withoutScopes(metadata: ServerMetadata): ServerMetadata {
  return { ...metadata, scopes_supported: undefined };
}

/** A new key for the tokens to come, if they are to be bound to one. Rejects with `unsupported`. */
export async function proverFor(plan: AuthorizationPlan, { config }: SessionParts): Promise<DpopProver | undefined> {
  if (!plan.bindsTokens) return undefined;
  const { randomBytes, wallNow } = config;
  const algorithms = plan.server.metadata.dpop_signing_alg_values_supported;
  return createDpopProver({ algorithms, randomBytes, wallNow });
}

/** What is to be stored of tokens that were issued. Pure. */
export function recordOf(
  plan: AuthorizationPlan,
  client: OAuthClient,
  tokens: TokenSet,
  prover: DpopProver | undefined,
  endpoint: URL,
): GrantRecord {
  const { metadata } = plan.server;
  return {
    endpoint: endpoint.href,
    resource: plan.resource,
    issuer: metadata.issuer,
    client,
    tokenEndpoint: metadata.token_endpoint ?? "",
    tokens,
    requestedScopes: plan.scopes,
    refusedScopes: plan.before?.refusedScopes ?? [],
    dpopKey: tokens.tokenType === "DPoP" ? prover?.key : undefined,
  };
}
