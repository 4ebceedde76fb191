import { RemoteConnectorError } from "../../errors.js";
import { refuseUnknownOptions } from "../../options.js";
import type { OAuth, SignedInAccount, StartedSignIn } from "../../oauth/index.js";
import type { ConnectorCatalog } from "../catalog/index.js";
import type { Registration } from "../registration/index.js";
import { unknownConnector } from "./host-errors.js";
import { oauthAccount } from "./server-authorizers.js";

/** How a person is signed in to a registered server. */
export interface ServerSignInOptions {
  /** Scopes to ask for beside those of the registration and of the server, such as those that a `sign_in_required` names. */
  readonly scopes?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ServerAccountsOptions {
  readonly catalog: ConnectorCatalog;
  readonly oauth: OAuth | undefined;
  /** Has convergence try a connector of the device now. */
  readonly wake: (key: string) => void;
  /** Ends what is published of a connector, at once. */
  readonly withdraw: (key: string) => void;
}

/** Where a registration is signed in. */
interface Place {
  readonly oauth: OAuth;
  readonly endpoint: string;
  readonly account: string;
  readonly scopes: readonly string[];
}

/**
 * Signs people in to registered servers that ask for OAuth. A registration has one account, which its settings name; registrations of
 * one server with other accounts are signed in by themselves.
 *
 * Each method rejects with `unknown_connector` for what is no registration, and with `invalid_argument` for one that OAuth is not for:
 * its host has no `oauth`, or its settings have an `Authorization` header or refuse it.
 */
export class ServerAccounts {
  readonly #options: ServerAccountsOptions;

  constructor(options: ServerAccountsOptions) {
    this.#options = options;
  }

  /**
   * Has a person sign in, in their browser; its server is then tried at once. Rejects as `OAuth.signIn` does, and with the signal's reason.
   */
  async signIn(slug: string, options: ServerSignInOptions = {}): Promise<SignedInAccount> {
    refuseUnknownOptions(options, ["scopes", "signal"]);
    const { oauth, endpoint, account, scopes } = this.#placeOf(slug);
    const asked = [...scopes, ...(options.scopes ?? [])];
    const signedIn = await oauth.signIn(endpoint, { account, scopes: asked, signal: options.signal });
    this.#options.wake(slug);
    return signedIn;
  }

  /** The same for whoever shows the URL and receives the callback by themselves. Rejects as `OAuth.startSignIn` does. */
  async startSignIn(slug: string, redirectUri: string, options: ServerSignInOptions = {}): Promise<StartedSignIn> {
    refuseUnknownOptions(options, ["scopes", "signal"]);
    const { oauth, endpoint, account, scopes } = this.#placeOf(slug);
    const asked = [...scopes, ...(options.scopes ?? [])];
    const { signal } = options;
    const started = await oauth.startSignIn(endpoint, redirectUri, { account, scopes: asked, signal });
    return {
      url: started.url,
      cancel: () => started.cancel(),
      finish: async (callbackUrl) => {
        const signedIn = await started.finish(callbackUrl);
        this.#options.wake(slug);
        return signedIn;
      },
    };
  }

  /**
   * Forgets the tokens of a registration. Its route is gone before anything is forgotten. Answers whether there were any; rejects as
   * `OAuth.signOut` does.
   */
  async signOut(slug: string): Promise<boolean> {
    const { oauth, endpoint, account } = this.#placeOf(slug);
    this.#options.withdraw(slug);
    const had = await oauth.signOut(endpoint, { account });
    this.#options.wake(slug);
    return had;
  }

  /** Who is signed in; `undefined`: nobody. */
  async signedIn(slug: string): Promise<SignedInAccount | undefined> {
    const { oauth, endpoint, account } = this.#placeOf(slug);
    return (await oauth.accounts(endpoint)).find((one) => one.account === account);
  }

  #placeOf(slug: string): Place {
    const registration = this.#find(slug);
    if (registration === undefined) throw unknownConnector(slug);
    const { oauth } = this.#options;
    const account = oauthAccount(registration);
    if (oauth === undefined || account === undefined) throw notForOAuth(slug);
    const { endpoint, oauth: own } = registration.settings;
    const scopes = own === undefined || own === false ? [] : own.scopes;
    return { oauth, endpoint, account, scopes };
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
