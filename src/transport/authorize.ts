import type { HeaderMap } from "./headers.js";

/** What an authorizer is told of a request. It can't change where the request goes. */
export interface AuthorizeRequest {
  readonly url: string;
  /** The JSON-RPC method, or the HTTP method of a request without one. */
  readonly method: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
}

/** Gives the headers that authorize one request, now or later. Called once per request, as late as possible. */
export type Authorize = (request: AuthorizeRequest) => HeaderMap | undefined | Promise<HeaderMap | undefined>;
