import { deliveryOf, recordDelivery } from "../../errors.js";
import type { DetailedResult, JsonObject } from "../../protocol/index.js";
import type { CallLeaseRequest } from "../factories/index.js";
import type { ForwardedRequest } from "../local-server/index.js";
import type { MakeRequest } from "./route-caller.js";

/**
 * Makes the request over a connection of its own, of those that the client leases; over the client itself when it leases none. As long
 * as there is no connection for it, nothing is sent.
 */
export function overLease<T extends JsonObject>(
  make: MakeRequest<T>,
  wanted: Omit<CallLeaseRequest, "signal">,
): MakeRequest<T> {
  return (client, options) => {
    const { leases } = client;
    if (leases === undefined) return make(client, options);
    const { signal = NEVER } = options;
    let answer: Promise<DetailedResult<T>> | undefined;
    const made = leases.acquire({ ...wanted, signal }).then(async (lease) => {
      try {
        signal.throwIfAborted();
        answer = make(lease.client, options);
        return await answer;
      } finally {
        lease.release();
      }
    });
    // Whoever waits for what is returned finds how far the request got, also where one reason ends many.
    made.catch((reason: unknown) => {
      const delivery = answer === undefined ? "not_sent" : deliveryOf(answer);
      if (delivery !== undefined) recordDelivery(made, reason, delivery);
    });
    return made;
  };
}

/** The request, with a signal of the platform alone: a leased connection takes no other. */
export function withRealSignal(request: ForwardedRequest): ForwardedRequest {
  const { abort, deadline, logLevel, meta, onNotification, onProgress, signal } = request;
  return { abort, deadline, logLevel, meta, onNotification, onProgress, signal };
}

const NEVER = new AbortController().signal;
