import { type Authorize, type Authorizer, type AuthorizeRequest, resolveAuthorizer } from "../transport/index.js";

/**
 * One search for a server's era, as those see it who authorize its requests: whatever is begun until its end, by whichever client, is
 * one operation. What the client that was found does afterwards is none of it.
 */
export class OpeningOperation {
  readonly #operation = {};
  /** What an authorizer is told in the place of what a client tells: the same whenever the same is told. */
  readonly #told = new WeakMap<AuthorizeRequest, AuthorizeRequest>();
  #isOver = false;

  end(): void {
    this.#isOver = true;
  }

  /** The authorizer for a client that is opened in this search. Throws `invalid_options` for what is none. */
  authorizerOf(given: Authorize | Authorizer | undefined): Authorizer | undefined {
    const authorizer = resolveAuthorizer(given);
    if (authorizer === undefined) return undefined;
    const { onRefused, onAnswered } = authorizer;
    return {
      authorize: (request) => authorizer.authorize(this.#requestTold(request)),
      onRefused:
        onRefused &&
        ((refusal) => onRefused.call(authorizer, { ...refusal, request: this.#requestTold(refusal.request) })),
      onAnswered:
        onAnswered && ((request, headers) => onAnswered.call(authorizer, this.#requestTold(request), headers)),
    };
  }

  #requestTold(request: AuthorizeRequest): AuthorizeRequest {
    const known = this.#told.get(request);
    if (known !== undefined || this.#isOver) return known ?? request;
    const told = { ...request, operation: this.#operation };
    this.#told.set(request, told);
    return told;
  }
}
