import type { ServerResponse } from "node:http";

/** Fires when whoever asked has gone, and once the answer was written. */
export function whenGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}
