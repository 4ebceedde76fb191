import { RemoteConnectorError } from "../errors.js";
import type { HeaderMap } from "../transport/index.js";

/** One signing-in of one account. Frozen. The same account signed in again is another login. */
export interface Login {
  readonly accountId: string;
  /** Greater than that of every login before it in this process. */
  readonly generation: number;
}

/** Where the product keeps the credentials of its accounts. */
export interface AccountAuthorizer {
  /**
   * The headers for one request of this account, read anew each time. `undefined` when the account has no session, or when
   * the session at hand is of another account.
   */
  authorize(login: Login): HeaderMap | undefined | Promise<HeaderMap | undefined>;
}

/**
 * Knows which login is the current one, and hands out credentials to it only.
 *
 * Ending a login is synchronous: from that moment its signal is aborted and no request of it gets credentials any more,
 * whatever was waited for meanwhile.
 */
export class LoginGuard {
  readonly #authorizer: AccountAuthorizer;
  #generation = 0;
  #current: { readonly login: Login; readonly controller: AbortController } | undefined;

  constructor(authorizer: AccountAuthorizer) {
    this.#authorizer = authorizer;
  }

  get current(): Login | undefined {
    return this.#current?.login;
  }

  /** Ends the current login, if there is one, and begins a new one. */
  signIn(accountId: string): Login {
    this.signOut();
    this.#generation += 1;
    const login = Object.freeze({ accountId, generation: this.#generation });
    this.#current = { login, controller: new AbortController() };
    return login;
  }

  /** Ends the current login. Nothing happens when there is none. */
  signOut(): void {
    const ended = this.#current;
    this.#current = undefined;
    ended?.controller.abort(loginEnded());
  }

  isCurrent(login: Login): boolean {
    const current = this.#current?.login;
    return current?.generation === login.generation && current.accountId === login.accountId;
  }

  /** Aborted when the login ends, with `cancelled`; aborted already for one that has ended. */
  signalOf(login: Login): AbortSignal {
    const signal = this.#current?.controller.signal;
    return signal !== undefined && this.isCurrent(login) ? signal : AbortSignal.abort(loginEnded());
  }

  /**
   * The credentials of one login, as a function to call before each of its requests.
   *
   * Compares the login before and after the product's authorizer ran. Rejects with `cancelled` when it is no longer the
   * current one, with `account_not_ready` when there are no credentials (both `not_sent`), and with what the authorizer
   * rejected with: a request without its credentials is never made.
   */
  authorizerFor(login: Login): () => Promise<HeaderMap> {
    return async () => {
      if (!this.isCurrent(login)) throw loginEnded();
      const headers = await this.#authorizer.authorize(login);
      if (!this.isCurrent(login)) throw loginEnded();
      if (headers === undefined) throw noCredentials();
      return headers;
    };
  }
}

function loginEnded(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The login has ended: the account was signed out, or signed in again.",
    details: { reason: "login_ended" },
  });
}

function noCredentials(): RemoteConnectorError<"account_not_ready"> {
  return new RemoteConnectorError("account_not_ready", {
    message: "The account has no credentials to send.",
    details: {},
  });
}
