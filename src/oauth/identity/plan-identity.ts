import { type ErrorDetails, RemoteConnectorError } from "../../errors.js";
import { chooseAuthMethod } from "../auth-method.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import type { IdentityConfig, PreRegisteredConfig } from "./identity-config.js";

/** What is known when it has to be decided who the client is. */
export interface IdentityFacts {
  readonly server: ServerMetadata;
  readonly identity: IdentityConfig;
  /** Where the pre-registered client without an issuer belongs to by now; `undefined`: nowhere yet. */
  readonly boundIssuer: string | undefined;
  /** The dynamic registration that is kept for this issuer. */
  readonly stored: OAuthClient | undefined;
  /** Where browsers come back to, for a client that has no redirect URIs of its own. */
  readonly redirectUris: readonly string[];
  /** Where the browser comes back to this time, when that is settled: a registration without it is not used. */
  readonly redirectUri?: string | undefined;
  /** Unix time in milliseconds. */
  readonly wallNow: number;
}

/**
 * `use`: this client; with `binds`, it belongs to this issuer from now on, which has to be remembered before it is shown to anyone.
 * `register`: a new one.
 */
export type IdentityPlan =
  | { readonly kind: "use"; readonly client: OAuthClient; readonly binds: boolean }
  | { readonly kind: "register" };

/**
 * Decides who the client is at an authorization server: the one that was registered by hand, the metadata document, the registration that is
 * kept, a new one. Where there are clients that were registered by hand, nothing else is tried. Pure.
 *
 * Throws `client_identity_required`. Source: 2026-07-28, Client Registration, and Authorization Server Binding.
 */
export function planIdentity(facts: IdentityFacts): IdentityPlan {
  const { identity, redirectUri, redirectUris, server, stored, wallNow } = facts;
  const { issuer } = server;
  const { metadataDocument, preRegistered, registers } = identity;
  if (preRegistered.length > 0) return planPreRegistered(facts);
  if (metadataDocument !== undefined && server.client_id_metadata_document_supported === true) {
    return { kind: "use", client: documentClient(issuer, metadataDocument, redirectUris), binds: false };
  }
  // What was registered elsewhere is not shown here, whoever handed it in.
  const isKept = stored?.issuer === issuer && (redirectUri === undefined || stored.redirectUris.includes(redirectUri));
  const isExpired = isKept && stored.secretExpiresAt !== undefined && stored.secretExpiresAt <= wallNow;
  if (isKept && !isExpired) return { kind: "use", client: stored, binds: false };
  if (registers && server.registration_endpoint !== undefined) return { kind: "register" };
  throw identityRequired({ issuer, reason: isExpired ? "expired" : "none" });
}

function planPreRegistered({ boundIssuer, identity, redirectUris, server }: IdentityFacts): IdentityPlan {
  const { issuer } = server;
  const { preRegistered } = identity;
  const named = preRegistered.find((each) => each.issuer === issuer);
  const loose = preRegistered.find((each) => each.issuer === undefined);
  const isFree = boundIssuer === undefined || boundIssuer === issuer;
  const chosen = named ?? (isFree ? loose : undefined);
  if (chosen !== undefined) {
    const client = preRegisteredClient(chosen, server, redirectUris);
    return { kind: "use", client, binds: named === undefined && boundIssuer === undefined };
  }
  const configuredFor = preRegistered.flatMap((each) => each.issuer ?? boundIssuer ?? []);
  throw identityRequired({ issuer, reason: "other_issuer", configuredFor });
}

function preRegisteredClient(
  { authMethod, clientId, clientSecret, redirectUris, signingKey }: PreRegisteredConfig,
  { issuer, token_endpoint_auth_methods_supported: supported }: ServerMetadata,
  others: readonly string[],
): OAuthClient {
  const hasSecret = clientSecret !== undefined;
  const hasKey = signingKey !== undefined;
  return {
    kind: "pre_registered",
    issuer,
    clientId,
    clientSecret,
    secretExpiresAt: undefined,
    authMethod: chooseAuthMethod({ registered: authMethod, supported, hasSecret, hasKey }),
    signingKey,
    redirectUris: redirectUris ?? others,
  };
}

function documentClient(issuer: string, clientId: string, redirectUris: readonly string[]): OAuthClient {
  return {
    kind: "metadata_document",
    issuer,
    clientId,
    clientSecret: undefined,
    secretExpiresAt: undefined,
    authMethod: "none",
    signingKey: undefined,
    redirectUris,
  };
}

const REASONS = {
  other_issuer: "the clients that are configured belong to others",
  none: "there is no way to get one",
  expired: "the secret of the one that is kept has expired",
} as const satisfies Record<ErrorDetails["client_identity_required"]["reason"], string>;

/** There is no client for an authorization server. */
export function identityRequired(
  details: ErrorDetails["client_identity_required"],
): RemoteConnectorError<"client_identity_required"> {
  const { configuredFor, issuer, reason } = details;
  const named = configuredFor === undefined ? "" : ` (${configuredFor.join(", ")})`;
  return new RemoteConnectorError("client_identity_required", {
    message: `There is no client for the authorization server ${issuer}: ${REASONS[reason]}${named}.`,
    details,
  });
}
