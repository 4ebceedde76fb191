import { allowsRedirect, type AuthorizationClient } from "./client.js";
import type { CodeRequest } from "./grant-book.js";

/** A person at the authorization endpoint, who is asked for consent. */
export interface Visit extends Omit<CodeRequest, "subject"> {
  readonly state: string | undefined;
  /** Every parameter of the request, the last of each name. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What an authorization request comes to before anybody is asked. */
export type AuthorizationVerdict =
  | { readonly kind: "ask"; readonly visit: Visit }
  /** Sent back to the client. */
  | { readonly kind: "error"; readonly redirectUri: string; readonly state: string | undefined; readonly error: string }
  /** Shown to the person: where the client would be told can't be trusted. */
  | { readonly kind: "page"; readonly reason: string };

/** Reads an authorization request: the code flow with PKCE by S256 and nothing else. Pure. Source: OAuth 2.1. */
export function readAuthorization(
  query: URLSearchParams,
  clients: ReadonlyMap<string, AuthorizationClient>,
): AuthorizationVerdict {
  const client = clients.get(query.get("client_id") ?? "");
  if (client === undefined) return { kind: "page", reason: "the client is unknown" };
  const redirectUri = query.get("redirect_uri");
  if (redirectUri === null || !allowsRedirect(client, redirectUri)) {
    return { kind: "page", reason: "redirect_uri is not one of the client's" };
  }
  const state = query.get("state") ?? undefined;
  if (query.get("response_type") !== "code") {
    return { kind: "error", redirectUri, state, error: "unsupported_response_type" };
  }
  const codeChallenge = query.get("code_challenge");
  if (codeChallenge === null || query.get("code_challenge_method") !== "S256") {
    return { kind: "error", redirectUri, state, error: "invalid_request" };
  }
  const thumbprint = query.get("dpop_jkt") ?? undefined;
  const visit: Visit = {
    clientId: client.clientId,
    redirectUri,
    state,
    codeChallenge,
    thumbprint,
    scopes: splitScopes(query.get("scope")),
    resources: query.getAll("resource"),
    parameters: Object.fromEntries(query),
  };
  return { kind: "ask", visit };
}

/** The scopes of a parameter, which separates them by spaces. */
export function splitScopes(scope: string | null): readonly string[] {
  return (scope ?? "").split(" ").filter((part) => part !== "");
}

/** The address that carries an answer to the client. Members that are `undefined` are left out. */
export function answerUri(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const uri = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) uri.searchParams.append(name, value);
  return uri.href;
}
