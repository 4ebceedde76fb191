import { type Delivery, isRemoteConnectorError, recordDelivery, RemoteConnectorError } from "../../errors.js";
import type { UnmadeRequest } from "../local-server/index.js";

/**
 * Sends a request once it is known where to. What is asked on the way there is not the request itself: as long as it is not
 * known, every failure is `not_sent`, or what `unmade` says, whatever became of those questions; `deliveryOf` says so of an abort.
 */
export function sentAfter<Found, Answer>(
  finding: Promise<Found>,
  send: (found: Found) => Promise<Answer>,
  unmade: (error: unknown) => UnmadeRequest = notSent,
): Promise<Answer> {
  const sent = new Promise<Answer>((resolve, reject) => {
    finding.then(
      (found) => resolve(send(found)),
      (failure: unknown) => {
        const { error, delivery } = unmade(failure);
        if (isRemoteConnectorError(error)) return reject(withDelivery(error, delivery));
        recordDelivery(sent, error, delivery);
        return reject(error);
      },
    );
  });
  return sent;
}

function notSent(error: unknown): UnmadeRequest {
  return { error, delivery: "not_sent" };
}

function withDelivery(error: RemoteConnectorError, delivery: Delivery): RemoteConnectorError {
  if (error.delivery === delivery) return error;
  const { code, details, message } = error;
  return new RemoteConnectorError(code, { message, delivery, details, cause: error });
}
