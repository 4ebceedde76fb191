import { isRemoteConnectorError } from "../errors.js";
import { refuseOption, refuseUnknownOptions } from "../options.js";
import type { AccountOptions, OAuth, SignedInAccount, SignInOptions } from "./oauth.js";
import type { OAuthConfig } from "./oauth-config.js";
import type { OAuthOptions } from "./oauth-options.js";
import type { Credential } from "./ports.js";
import { resolveOAuthOptions } from "./resolve-oauth-options.js";
import {
  AccountAuthorizer,
  accountOf,
  demandSignIn,
  finishSignIn,
  NO_CHALLENGE,
  normalEndpoint,
  parseGrant,
  SessionBook,
  signedInAccount,
  startSignIn,
  waitFor,
} from "./session/index.js";

/** Authorization by OAuth for any number of MCP servers. Nothing is read, asked or opened yet. Throws `invalid_options`. */
export function createOAuth(options: OAuthOptions): OAuth {
  const config = resolveOAuthOptions(options);
  const book = new SessionBook(config);
  const own = new AccountAuthorizer(book, "", true);
  return {
    authorize: own.authorize,
    onRefused: own.onRefused,
    onAnswered: own.onAnswered,
    account(name, accountOptions = {}) {
      refuseUnknownOptions(accountOptions, ["asks"]);
      if (typeof name !== "string") refuseOption("account", "must be a text");
      const { asks = true } = accountOptions;
      const { authorize, onAnswered, onRefused } = new AccountAuthorizer(book, name, asks);
      return { authorize, onAnswered, onRefused };
    },
    signIn: (endpoint, signInOptions = {}) => signIn(book, config, endpoint, signInOptions),
    async startSignIn(endpoint, redirectUri, signInOptions = {}) {
      const { account, scopes, signal } = resolveSignIn(signInOptions);
      if (config.grant !== undefined) refuseOption("grant", "needs no person to sign in");
      signal?.throwIfAborted();
      return startSignIn(book, book.get(endpoint, account), redirectUri, scopes, signal);
    },
    finishSignIn: (callbackUrl) => finishSignIn(book, callbackUrl),
    async signOut(endpoint, accountOptions = {}) {
      const { account, signal } = resolveAccount(accountOptions);
      signal?.throwIfAborted();
      const session = book.get(endpoint, account);
      return waitFor(
        session.during(() => session.signOut()),
        signal,
      );
    },
    async accounts(endpoint) {
      const href = normalEndpoint(endpoint);
      return (await config.store.credentials.list(href)).flatMap((credential) => shownAccount(credential, href) ?? []);
    },
    close: () => book.close(),
  };
}

async function signIn(
  book: SessionBook,
  config: OAuthConfig,
  endpoint: string | URL,
  options: SignInOptions,
): Promise<SignedInAccount> {
  const { account, scopes, signal } = resolveSignIn(options);
  const session = book.get(endpoint, account);
  const wish = { challenge: NO_CHALLENGE, scopes };
  signal?.throwIfAborted();
  return session.during(async () => {
    if (config.grant === undefined && config.openUrl === false) {
      throw await demandSignIn("no_token", wish, session, book.pending, signal);
    }
    const cause = { ...wish, refusedToken: undefined, isExplicit: true };
    const { grant } = await session.authorization.obtain(cause, signal);
    session.forgive();
    return signedInAccount(grant.record, account);
  });
}

function resolveSignIn({ scopes = [], ...rest }: SignInOptions): {
  readonly account: string;
  readonly scopes: readonly string[];
  readonly signal: AbortSignal | undefined;
} {
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === "string")) {
    refuseOption("scopes", "must be a list of scopes");
  }
  return { ...resolveAccount(rest), scopes };
}

function resolveAccount(options: AccountOptions): {
  readonly account: string;
  readonly signal: AbortSignal | undefined;
} {
  refuseUnknownOptions(options, ["account", "signal"]);
  const { account = "", signal } = options;
  if (typeof account !== "string") refuseOption("account", "must be a text");
  return { account, signal };
}

/** What is damaged, or has no tokens, is no account that is signed in. */
function shownAccount(credential: Credential, endpoint: string): SignedInAccount | undefined {
  const account = accountOf(credential);
  if (account === undefined) return undefined;
  try {
    const record = parseGrant(credential.text, endpoint);
    return record.tokens === undefined ? undefined : signedInAccount(record, account);
  } catch (error) {
    if (isRemoteConnectorError(error, "oauth_invalid")) return undefined;
    throw error;
  }
}
