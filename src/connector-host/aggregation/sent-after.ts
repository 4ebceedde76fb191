import { isRemoteConnectorError, recordDelivery, RemoteConnectorError } from "../../errors.js";

/**
 * Sends a request once it is known where to. What is asked on the way there is not the request itself: as long as it is not
 * known, every failure is `not_sent`, whatever became of those questions; `deliveryOf` says so of an abort.
 */
export function sentAfter<Found, Answer>(
  finding: Promise<Found>,
  send: (found: Found) => Promise<Answer>,
): Promise<Answer> {
  const sent = new Promise<Answer>((resolve, reject) => {
    finding.then(
      (found) => resolve(send(found)),
      (error: unknown) => {
        if (isRemoteConnectorError(error)) return reject(notSent(error));
        recordDelivery(sent, error, "not_sent");
        return reject(error);
      },
    );
  });
  return sent;
}

function notSent(error: RemoteConnectorError): RemoteConnectorError {
  if (error.delivery === "not_sent") return error;
  const { code, details, message } = error;
  return new RemoteConnectorError(code, { message, delivery: "not_sent", details, cause: error });
}
