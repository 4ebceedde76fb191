import { RemoteConnectorError } from "../../errors.js";
import { refuseUnknownOptions } from "../../options.js";
import type { SignedInAccount, StartedSignIn } from "../../oauth/index.js";
import type { ConnectorCatalog } from "../catalog/index.js";
import type { Registration } from "../registration/index.js";
import { unknownConnector } from "./host-errors.js";
import type { OAuthPlace, ServerAuthorizers } from "./server-authorizers.js";

/** How a person is signed in to a registered server. */
export interface ServerSignInOptions {
  /** Scopes to ask for beside those of the registration, and those that the server wanted last. */
  readonly scopes?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ServerAccountsOptions {
  readonly catalog: ConnectorCatalog;
  readonly authorizers: Pick<ServerAuthorizers, "placeOf" | "wanted">;
  /** Has convergence try connectors of the device now, whatever pause they are in. */
  readonly probe: (keys: readonly string[]) => void;
  /** Ends what is published of a connector, at once. */
  readonly withdraw: (key: string) => void;
  /** Has nothing become of what is being opened for a connector, or was published meanwhile. */
  readonly discard: (key: string) => Promise<void>;
  /** Fires when the host closes. */
  readonly signal: AbortSignal;
}

/**
 * Signs people in to registered servers that ask for OAuth. A registration has one account, which its settings name; registrations of
 * one server with other accounts are signed in by themselves, and those with the same one together.
 *
 * Each method rejects with `unknown_connector` for what is no registration, and with `invalid_argument` for one that OAuth is not for:
 * its host has no `oauth`, or authorizes it otherwise, or its settings have an `Authorization` header or refuse it.
 */
export class ServerAccounts {
  readonly #options: ServerAccountsOptions;

  constructor(options: ServerAccountsOptions) {
    this.#options = options;
  }

  /**
   * Has a person sign in, in their browser; its server is then tried at once. Rejects as `OAuth.signIn` does, with the signal's reason, and
   * with `cancelled` when the host closes.
   */
  async signIn(slug: string, options: ServerSignInOptions = {}): Promise<SignedInAccount> {
    const { place, scopes } = this.#begin(slug, options);
    const { account, endpoint, oauth } = place;
    const signal = this.#withEnd(options.signal);
    const signedIn = await oauth.signIn(endpoint, { account, scopes, signal });
    this.#signedIn(place);
    return signedIn;
  }

  /** The same for whoever shows the URL and receives the callback by themselves. Rejects as `OAuth.startSignIn` does. */
  async startSignIn(slug: string, redirectUri: string, options: ServerSignInOptions = {}): Promise<StartedSignIn> {
    const { place, scopes } = this.#begin(slug, options);
    const { account, endpoint, oauth } = place;
    const signal = this.#withEnd(options.signal);
    const { url, ...started } = await oauth.startSignIn(endpoint, redirectUri, { account, scopes, signal });
    return {
      url,
      cancel: () => started.cancel(),
      finish: async (callbackUrl) => {
        const signedIn = await started.finish(callbackUrl);
        this.#signedIn(place);
        return signedIn;
      },
    };
  }

  /**
   * Forgets the tokens of a registration. Its route is gone before anything is forgotten, and comes back with a sign-in. Answers whether
   * there were any; rejects as `OAuth.signOut` does: they may be there still, and the route comes back with them.
   */
  async signOut(slug: string): Promise<boolean> {
    const place = this.#placeOf(slug);
    const { account, endpoint, oauth } = place;
    const { discard, probe, withdraw } = this.#options;
    for (const key of this.#keysAt(place)) withdraw(key);
    const had = await oauth.signOut(endpoint, { account });
    this.#options.authorizers.wanted.forget(endpoint, account);
    const keys = this.#keysAt(place);
    // What was being opened had the tokens.
    await Promise.all(keys.map((key) => discard(key)));
    probe(keys);
    return had;
  }

  /** Who is signed in; `undefined`: nobody. Rejects as `OAuth.accounts` does. */
  async signedIn(slug: string): Promise<SignedInAccount | undefined> {
    const { oauth, endpoint, account } = this.#placeOf(slug);
    return (await oauth.accounts(endpoint)).find((one) => one.account === account);
  }

  /** The same of any connector, as far as it can be known now. Never rejects. */
  async find(key: string): Promise<SignedInAccount | undefined> {
    try {
      return await this.signedIn(key);
    } catch {
      return undefined;
    }
  }

  #begin(slug: string, options: ServerSignInOptions) {
    refuseUnknownOptions(options, ["scopes", "signal"]);
    this.#options.signal.throwIfAborted();
    const place = this.#placeOf(slug);
    const wanted = this.#options.authorizers.wanted.of(place.endpoint, place.account);
    return { place, scopes: [...new Set([...place.scopes, ...wanted, ...(options.scopes ?? [])])] };
  }

  #withEnd(signal: AbortSignal | undefined): AbortSignal {
    const { signal: ended } = this.#options;
    return signal === undefined ? ended : AbortSignal.any([ended, signal]);
  }

  #signedIn(place: OAuthPlace): void {
    this.#options.authorizers.wanted.forget(place.endpoint, place.account);
    this.#options.probe(this.#keysAt(place));
  }

  #placeOf(slug: string): OAuthPlace {
    const registration = this.#find(slug);
    if (registration === undefined) throw unknownConnector(slug);
    const place = this.#options.authorizers.placeOf(registration);
    if (place === undefined) throw notForOAuth(slug);
    return place;
  }

  /** The registrations that have these tokens. */
  #keysAt({ account, endpoint }: OAuthPlace): readonly string[] {
    const { authorizers, catalog } = this.#options;
    return catalog.keysIn("device").filter((key) => {
      const registration = this.#find(key);
      if (registration?.settings.endpoint !== endpoint) return false;
      return authorizers.placeOf(registration)?.account === account;
    });
  }

  #find(slug: string): Registration | undefined {
    const entry = this.#options.catalog.get(slug);
    return entry?.kind !== "release" && entry?.connector.kind === "registration"
      ? entry.connector.registration
      : undefined;
  }
}

function notForOAuth(slug: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `The server ${slug} is not signed in to by OAuth here.`,
    details: { argument: "slug", reason: "not signed in to by OAuth" },
  });
}
