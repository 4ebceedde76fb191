import { type Delivery, type DeliveryEvidence, RemoteConnectorError } from "../../errors.js";

/** The evidence of a call of which nothing was sent. */
export const NOTHING_SENT: DeliveryEvidence = {
  handedOver: false,
  headersSeen: false,
  messages: 0,
  elapsedMs: 0,
  attempts: 0,
};

/** Source: 2025-11-25, Transports, Sending Messages to the Server. */
export function streamEnded(evidence: DeliveryEvidence): RemoteConnectorError<"stream_ended"> {
  return new RemoteConnectorError("stream_ended", {
    message: "The stream ended without the response.",
    delivery: "unknown",
    details: { reason: "end of stream", evidence },
  });
}

/** The stream's end, when taking it up again came to nothing. `cause` is how the last attempt ended. */
export function resumingFailed(
  end: RemoteConnectorError,
  reason: string,
  evidence: DeliveryEvidence,
  cause: RemoteConnectorError | undefined,
): RemoteConnectorError {
  const details = { ...end.details, reason, evidence };
  return new RemoteConnectorError(end.code, {
    message: `The stream ended without the response, and was not taken up again: ${reason}.`,
    delivery: "unknown",
    details,
    cause: cause ?? end.cause,
  });
}

/** The total deadline: a later exchange had only what was left of it, but the caller knows the whole. */
export function totalTimeout(
  limitMs: number,
  option: string,
  delivery: Delivery,
  evidence: DeliveryEvidence,
): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The request passed its total deadline of ${String(limitMs)} ms (${option}).`,
    delivery,
    details: { phase: "total", option, limitMs, evidence },
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
