/**
 * Calls a handler of the caller's. Whatever it throws, or its promise rejects with, goes to `onFailure`: a fault in there
 * must neither end the reading of messages nor become an unhandled rejection. Its promise is not awaited.
 */
export function callHandler<A>(handler: (argument: A) => unknown, argument: A, onFailure: () => void): void {
  try {
    const outcome = handler(argument);
    if (isThenable(outcome)) outcome.then(undefined, onFailure);
  } catch {
    onFailure();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "then") === "function";
}
