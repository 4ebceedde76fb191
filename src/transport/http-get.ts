import { type Delivery, recordDelivery, RemoteConnectorError } from "../errors.js";
import type { AnswerHead } from "./answer-head.js";
import type { HttpCallOwner } from "./http-call.js";
import type { HttpEndpoint } from "./http-endpoint.js";
import { resolveDeadlines, type DeadlineOptions } from "./transport-options.js";

export interface HttpGetOptions extends DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /** The value of `Accept`. Default `application/json`. */
  readonly accept?: string | undefined;
}

/** A whole answer, of any status. A failed one's body may be cut at `maxErrorBodyBytes`. */
export interface HttpAnswer extends AnswerHead {
  readonly body: Uint8Array;
}

/**
 * Reads one resource from an endpoint, within its limits and deadlines. Redirects are answers, not followed.
 *
 * Rejects with `connect_failed`, `authorize_failed`, `invalid_header` (`not_sent`), `connection_broken`, `timeout`,
 * `limit_exceeded` (`unknown`), `cancelled`, or the signal's own reason.
 */
export function httpGet(endpoint: HttpEndpoint, options: HttpGetOptions = {}): Promise<HttpAnswer> {
  const { signal, accept = "application/json" } = options;
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  const limits = { ...resolveDeadlines(options, endpoint.config), signal };
  const pending: { promise?: Promise<HttpAnswer> } = {};
  const promise = new Promise<HttpAnswer>((resolve, reject) => {
    const owner: HttpCallOwner = {
      onBody: (head, body) => resolve({ ...head, body }),
      onFailure: reject,
      onAbort(reason, delivery: Delivery) {
        if (pending.promise !== undefined) recordDelivery(pending.promise, reason, delivery);
        reject(reason);
      },
      onEvent: notAsked,
      onStreamEnd: notAsked,
    };
    const headers = ["Accept", accept];
    const request = {
      method: "GET",
      operation: "GET",
      headers,
      body: null,
      acceptsStream: false,
      attempt: 1,
      limits,
    } as const;
    endpoint.begin(request, owner);
  });
  pending.promise = promise;
  return promise;
}

function notAsked(): never {
  throw new RemoteConnectorError("internal_error", {
    message: "A stream was delivered that nobody asked for.",
    delivery: "unknown",
    details: { reason: "unexpected stream" },
  });
}
