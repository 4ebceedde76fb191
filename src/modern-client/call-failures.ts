import { type DeliveryEvidence, RemoteConnectorError } from "../errors.js";

/** The evidence of a call of which nothing was sent. */
export const NOTHING_SENT: DeliveryEvidence = {
  handedOver: false,
  headersSeen: false,
  messages: 0,
  elapsedMs: 0,
  attempts: 0,
};

/** Source: 2026-07-28, Streamable HTTP, Receiving Messages. */
export function streamEnded(evidence: DeliveryEvidence): RemoteConnectorError<"stream_ended"> {
  return new RemoteConnectorError("stream_ended", {
    message: "The stream ended without the response.",
    delivery: "unknown",
    details: { reason: "end of stream", evidence },
  });
}

/** Something threw that never should. */
export function internalFault(cause: unknown, evidence: DeliveryEvidence): RemoteConnectorError<"internal_error"> {
  return new RemoteConnectorError("internal_error", {
    message: "A fault inside the client ended the call.",
    delivery: evidence.handedOver ? "unknown" : "not_sent",
    details: { reason: "unexpected throw", evidence },
    cause,
  });
}
