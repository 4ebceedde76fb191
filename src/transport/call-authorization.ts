import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import type { Authorize, Authorizer, AuthorizeRequest } from "./authorize.js";
import type { HeaderMap } from "./headers.js";

/** Who waits for an authorizer. Exactly one of the two is called, once, and must not throw. */
export interface AuthorizationOwner {
  /** Headers that are not checked yet. */
  onAuthorized(headers: HeaderMap | undefined): void;
  /** `authorize_failed`, or the authorizer's own error of this package. */
  onUnauthorized(error: RemoteConnectorError): void;
}

/**
 * Asks an authorizer. The owner is told at once when the answer is there at once: a promise costs a request its turn.
 *
 * The authorizer can't change where the request goes, so there is no URL to check again afterwards.
 */
export function askAuthorizer(authorizer: Authorizer, request: AuthorizeRequest, owner: AuthorizationOwner): void {
  let given: HeaderMap | undefined;
  let later: Promise<HeaderMap | undefined> | undefined;
  try {
    const answer: ReturnType<Authorize> = authorizer.authorize(request);
    // Not every thenable settles once.
    if (isThenable(answer)) later = Promise.resolve(answer);
    else given = answer;
  } catch (error) {
    owner.onUnauthorized(authorizerFailure(error));
    return;
  }
  if (later === undefined) {
    tell(given, owner);
    return;
  }
  later.then(
    (headers) => tell(headers, owner),
    (error: unknown) => owner.onUnauthorized(authorizerFailure(error)),
  );
}

function tell(headers: HeaderMap | undefined, owner: AuthorizationOwner): void {
  if (headers === undefined || (typeof headers === "object" && headers !== null)) owner.onAuthorized(headers);
  else owner.onUnauthorized(refusal("The authorizer gave no headers.", "not an object of headers"));
}

/** What a request fails with whose authorizer threw `error`: that, if it is of this package, else `authorize_failed`. */
export function authorizerFailure(error: unknown): RemoteConnectorError {
  if (isRemoteConnectorError(error)) return error;
  return refusal("The authorizer failed.", "the authorizer threw", error);
}

function refusal(message: string, reason: string, cause?: unknown): RemoteConnectorError<"authorize_failed"> {
  return new RemoteConnectorError("authorize_failed", { message, details: { reason }, cause });
}

export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
