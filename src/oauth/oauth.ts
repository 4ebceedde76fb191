import type { Authorizer } from "../transport/index.js";

/** Which vault entry: of what server, and of which of one's accounts there. */
export interface AccountOptions {
  /** Default `""`, the only one that most people have. */
  readonly account?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SignInOptions extends AccountOptions {
  /** Scopes to ask for beside those that the server names. */
  readonly scopes?: readonly string[] | undefined;
}

/** One account at one server, without its secrets. */
export interface SignedInAccount {
  readonly endpoint: string;
  readonly account: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Unix time in milliseconds; `undefined`: nobody knows. */
  readonly expiresAt: number | undefined;
  readonly canRefresh: boolean;
}

/** A sign-in whose answer comes by other ways than a callback receiver. */
export interface StartedSignIn {
  /** Where the person has to go. */
  readonly url: string;
  /** Ends it with the URL that the browser was sent back to, or its path and query. Rejects like {@link OAuth.signIn}. */
  finish(callbackUrl: string | URL): Promise<SignedInAccount>;
  /** Forgets it. Idempotent. */
  cancel(): void;
}

/**
 * Authorization for MCP over HTTP, for any number of servers: give it to a client as `authorize`, which is the account `""` of
 * whatever server the client is for; {@link account} is for another one.
 *
 * A request goes out with the token that is there, or without one. When the server refuses it, what has to be done is done once for all
 * requests that wait for it: a newer token is adopted, the token is refreshed, or a person is asked to sign in. A deadline that passes
 * meanwhile ends the waiting of its call, and not what it waited for: the next call finds the token.
 *
 * Requests fail with `sign_in_required`, `token_refused`, `oauth_refused`, `oauth_invalid`, `oauth_discovery_failed`,
 * `client_identity_required`, and as the transport's do. Source: 2026-07-28 and 2025-11-25, Authorization.
 */
export interface OAuth extends Required<Authorizer> {
  /**
   * The same for another account of the person: a vault entry of its own for each server. With `asks: false` nobody is ever asked to sign
   * in on behalf of its requests, which then fail with `sign_in_required`: for work in the background. Default true.
   */
  account(name: string, options?: { readonly asks?: boolean | undefined }): Required<Authorizer>;
  /** Signs in before anything is called; asks a person also when there is a token, unless the grant needs nobody. */
  signIn(endpoint: string | URL, options?: SignInOptions): Promise<SignedInAccount>;
  /** The same for programs that show URLs and receive callbacks by themselves, such as web servers: nothing is opened. */
  startSignIn(endpoint: string | URL, redirectUri: string, options?: SignInOptions): Promise<StartedSignIn>;
  /**
   * Ends a sign-in that is pending, with the URL that the browser was sent back to, or its path and query: one of {@link startSignIn}, or one whose
   * `authorizationUrl` a `sign_in_required` error told. Its `state` says which one. 64 are kept, each for `signInTimeoutMs` and to be ended
   * once; of more than that the oldest is forgotten, those of errors first. Errors that ask for the same have the same URL.
   *
   * Rejects like {@link signIn}, and with `oauth_invalid` (`callback`, `state`) when there is no such sign-in, or none any more.
   */
  finishSignIn(callbackUrl: string | URL): Promise<SignedInAccount>;
  /** Forgets the tokens of an account here, whatever the authorization server says of revoking them. Answers whether there were any. */
  signOut(endpoint: string | URL, options?: AccountOptions): Promise<boolean>;
  /** The accounts that have tokens for a server, by name in code units. */
  accounts(endpoint: string | URL): Promise<readonly SignedInAccount[]>;
  /** Ends what is under way with `cancelled`. The store is its owner's to close. Idempotent. */
  close(): Promise<void>;
}
