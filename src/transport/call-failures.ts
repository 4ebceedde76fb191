import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";

/** The evidence of a call of which nothing was sent. */
export const NOTHING_SENT: DeliveryEvidence = {
  handedOver: false,
  headersSeen: false,
  messages: 0,
  elapsedMs: 0,
  attempts: 0,
};

/**
 * Source: 2025-11-25, Transports, Sending Messages to the Server; 2026-07-28, Streamable HTTP, Receiving Messages.
 */
export function streamEnded(evidence: DeliveryEvidence): RemoteConnectorError<"stream_ended"> {
  return new RemoteConnectorError("stream_ended", {
    message: "The stream ended without the response.",
    delivery: "unknown",
    details: { reason: "end of stream", evidence },
  });
}

/** Something threw that never should. */
export function internalFault(cause: unknown, evidence: DeliveryEvidence): RemoteConnectorError<"internal_error"> {
  return internalError(cause, evidence.handedOver ? "unknown" : "not_sent", evidence);
}

/**
 * Whatever was thrown, as an error that can end a call: a promise that never settles would be worse than any error.
 * `delivery` is that of what was no error of this package.
 */
export function failureOf(caught: unknown, delivery: Delivery = "not_sent"): RemoteConnectorError {
  return isRemoteConnectorError(caught) ? caught : internalError(caught, delivery);
}

function internalError(
  cause: unknown,
  delivery: Delivery,
  evidence?: DeliveryEvidence,
): RemoteConnectorError<"internal_error"> {
  const reason = "unexpected throw";
  return new RemoteConnectorError("internal_error", {
    message: "A fault inside the client ended the call.",
    delivery,
    details: evidence === undefined ? { reason } : { reason, evidence },
    cause,
  });
}
