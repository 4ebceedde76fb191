import type { Authorizer, AuthorizeRequest } from "../../transport/index.js";

/**
 * The authorizer of what is posted in a conversation over HTTP+SSE: it is told of the stream's server wherever a message goes, since the
 * place to post to is another one for every stream.
 */
export function streamAuthorizer(authorizer: Authorizer | undefined, streamUrl: URL): Authorizer | undefined {
  if (authorizer === undefined) return undefined;
  const { onAnswered, onRefused } = authorizer;
  const known = new WeakMap<AuthorizeRequest, AuthorizeRequest>();
  // The same object for the same request: others tell requests apart by it.
  const told = (request: AuthorizeRequest): AuthorizeRequest => {
    const before = known.get(request);
    if (before !== undefined) return before;
    const own = { ...request, endpoint: streamUrl.href };
    known.set(request, own);
    return own;
  };
  return {
    authorize: (request) => authorizer.authorize(told(request)),
    onRefused: onRefused && ((refusal) => onRefused.call(authorizer, { ...refusal, request: told(refusal.request) })),
    onAnswered: onAnswered && ((request, headers) => onAnswered.call(authorizer, told(request), headers)),
  };
}
