import type { AuthorizationRefusal, Authorizer, AuthorizeRequest, ResponseHeaders } from "../../transport/index.js";
import type { AccountSession } from "./account-session.js";
import { Operations } from "./operations.js";
import { handleRefusal } from "./refusal-handler.js";
import type { SessionBook } from "./session-book.js";

/**
 * The authorizer of one account, for whatever endpoint a request goes to. A request with a token that is there and need not be replaced
 * is answered at once; `asks`: whether a person may be asked because of a request.
 */
export class AccountAuthorizer implements Required<Authorizer> {
  readonly authorize: Required<Authorizer>["authorize"];
  readonly onRefused: Required<Authorizer>["onRefused"];
  readonly onAnswered: Required<Authorizer>["onAnswered"];
  readonly #book: SessionBook;
  readonly #account: string;
  readonly #operations = new Operations();
  /** Most authorizers are for one endpoint. */
  #last: { readonly url: string; readonly session: AccountSession } | undefined;

  constructor(book: SessionBook, account: string, asks: boolean) {
    this.#book = book;
    this.#account = account;
    this.authorize = (request: AuthorizeRequest): ReturnType<Required<Authorizer>["authorize"]> =>
      this.#sessionFor(request).headers(request);
    this.onRefused = (refusal: AuthorizationRefusal): Promise<boolean> => {
      const session = this.#sessionFor(refusal.request);
      return session.during(() => handleRefusal(refusal, session, this.#operations, asks, book.pending));
    };
    this.onAnswered = (request: AuthorizeRequest, headers: ResponseHeaders): void => {
      this.#operations.settle(request.operation);
      if (headers["dpop-nonce"] !== undefined) this.#sessionFor(request).learn(request.url, headers);
    };
  }

  #sessionFor({ endpoint, url: own }: AuthorizeRequest): AccountSession {
    const url = endpoint ?? own;
    const last = this.#last;
    if (last?.url === url && !last.session.parts.closed.aborted) return last.session;
    const session = this.#book.get(url, this.#account);
    this.#last = { url, session };
    return session;
  }
}
