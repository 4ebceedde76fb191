import { type Delivery, type DeliveryEvidence, RemoteConnectorError } from "../../errors.js";

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
