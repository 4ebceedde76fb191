import type { ResponseHeaders } from "./exchange.js";
import type { HeaderMap } from "./headers.js";

/** What an authorizer is told of a request. It can't change where the request goes. */
export interface AuthorizeRequest {
  readonly url: string;
  /** Whose tokens it goes with, where that is not `url`: with HTTP+SSE, the URL of the stream that named the place to post to. */
  readonly endpoint?: string | undefined;
  /** The JSON-RPC method, or the HTTP method of a request without one. */
  readonly method: string;
  /** The HTTP method. A person may wait for the answer of a `POST`, and of what {@link isAwaited}. */
  readonly httpMethod: "POST" | "GET" | "DELETE";
  /** That a person may wait for the answer of this `GET` as well: it is the stream without which there is no HTTP+SSE conversation. */
  readonly isAwaited?: boolean | undefined;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  /**
   * The same object for all requests that one call of a client takes, its repetitions and rounds of input included, and for all
   * that connecting takes. Another one for whatever else is asked for.
   */
  readonly operation: object;
}

/** Gives the headers that authorize one request, now or later. Called once per request, as late as possible. */
export type Authorize = (request: AuthorizeRequest) => HeaderMap | undefined | Promise<HeaderMap | undefined>;

/** A request that the server refused for its authorization. */
export interface AuthorizationRefusal {
  readonly request: AuthorizeRequest;
  readonly status: 401 | 403;
  readonly headers: ResponseHeaders;
  /** The fields of `WWW-Authenticate`, in order, each as it came. */
  readonly challenges: readonly string[];
  /** What the authorizer had given for it. */
  readonly sent: HeaderMap | undefined;
  /** Ends when the request does, whatever ends it: nobody waits for the verdict any more. */
  readonly signal: AbortSignal;
}

/** An authorizer that hears what became of its requests. */
export interface Authorizer {
  readonly authorize: Authorize;
  /**
   * Asked when a request was refused: `true` makes it once more, with headers that are asked for again, `false` leaves the refusal as
   * the answer. It may be asked as often as it says `true`. What it throws is what the request fails with.
   *
   * The request's idle deadline stands still meanwhile; its total deadline goes on.
   */
  readonly onRefused?: ((refusal: AuthorizationRefusal) => boolean | Promise<boolean>) | undefined;
  /** Told of the head of every other answer. It must be quick. */
  readonly onAnswered?: ((request: AuthorizeRequest, headers: ResponseHeaders) => void) | undefined;
}
