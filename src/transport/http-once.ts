import { RemoteConnectorError } from "../errors.js";
import type { AnswerHead } from "./answer-head.js";
import type { HttpCallOwner, HttpCallRequest } from "./http-call-ports.js";
import type { HttpEndpoint } from "./http-endpoint.js";
import { addContentType, addHeaders, type HeaderMap } from "./headers.js";
import { Settlement } from "./settlement.js";
import { resolveDeadlines, type DeadlineOptions } from "./transport-options.js";

/** How one request is made. */
export interface HttpOnceOptions extends DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /** The value of `Accept`. Default `application/json`. */
  readonly accept?: string | undefined;
  /** Further headers of this request. Those that the endpoint's authorizer gives take their place. */
  readonly headers?: HeaderMap | undefined;
}

/** How one request with a body is made. */
export interface HttpSendOptions extends HttpOnceOptions {
  /** The value of `Content-Type`, for a body. Default `application/json`. */
  readonly contentType?: string | undefined;
}

/** A whole answer, of any status. A failed one's body may be cut at `maxErrorBodyBytes`. */
export interface HttpAnswer extends AnswerHead {
  readonly body: Uint8Array;
}

/**
 * Reads one resource from an endpoint, within its limits and deadlines. Redirects are answers, not followed.
 *
 * Rejects with `connect_failed`, `authorize_failed` or the authorizer's own error, `invalid_header` (`not_sent`),
 * `connection_broken`, `limit_exceeded` (`unknown`), `timeout`, `cancelled` (both as far as it had gone), or the signal's own
 * reason.
 */
export function httpGet(endpoint: HttpEndpoint, options: HttpOnceOptions = {}): Promise<HttpAnswer> {
  return exchangeOnce(endpoint, "GET", null, options);
}

/**
 * Sends one request that may change something, and reads its whole answer. `body` is JSON in UTF-8 unless `contentType` says
 * otherwise, or `null` for none; it is read until the promise settles. It is sent once: who may repeat it knows what it does.
 * Redirects are answers, not followed.
 *
 * Rejects like {@link httpGet}. After `unknown` the peer may have acted.
 */
export function httpSend(
  endpoint: HttpEndpoint,
  method: "POST" | "DELETE",
  body: Uint8Array<ArrayBuffer> | null,
  options: HttpSendOptions = {},
): Promise<HttpAnswer> {
  return exchangeOnce(endpoint, method, body, options);
}

function exchangeOnce(
  endpoint: HttpEndpoint,
  method: HttpCallRequest["method"],
  body: HttpCallRequest["body"],
  options: HttpSendOptions,
): Promise<HttpAnswer> {
  const { signal, accept = JSON_TYPE, contentType = JSON_TYPE } = options;
  const limits = { ...resolveDeadlines(options, endpoint.config), signal };
  const settlement = new Settlement<HttpAnswer>();
  const owner: HttpCallOwner = {
    onBody: (head, answer) => settlement.resolve({ ...head, body: answer }),
    onFailure: (error) => settlement.fail(error),
    onAbort: (reason, delivery) => settlement.abort(reason, delivery),
    onEvent: notAsked,
    onStreamEnd: notAsked,
  };
  const headers = ["Accept", accept];
  try {
    if (body !== null) addContentType(headers, contentType);
    if (options.headers !== undefined) addHeaders(headers, options.headers);
  } catch (error) {
    settlement.fail(error);
    return settlement.promise;
  }
  const request = {
    method,
    operation: method,
    headers,
    body,
    acceptsStream: false,
    maxRedirects: 0,
    attempt: 1,
    limits,
  } as const;
  endpoint.begin(request, owner);
  return settlement.promise;
}

const JSON_TYPE = "application/json";

function notAsked(): never {
  throw new RemoteConnectorError("internal_error", {
    message: "A stream was delivered that nobody asked for.",
    delivery: "unknown",
    details: { reason: "unexpected stream" },
  });
}
