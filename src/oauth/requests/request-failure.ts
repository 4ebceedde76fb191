import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";

/** A failure of the transport, by the names that the options have here. What is no such failure comes back as it is. Pure. */
export function requestFailure(error: unknown, requestTimeoutMs: number): unknown {
  if (isRemoteConnectorError(error, "timeout")) {
    const { delivery, details } = error;
    return timeUp(requestTimeoutMs, { delivery, details, cause: error.cause });
  }
  if (isRemoteConnectorError(error, "limit_exceeded") && error.details.option.endsWith("BodyBytes")) {
    return new RemoteConnectorError("limit_exceeded", {
      message: "The answer is too large; maxAnswerBytes raises the limit.",
      delivery: error.delivery,
      details: { ...error.details, option: "maxAnswerBytes" },
      cause: error.cause,
    });
  }
  return error;
}

/** The deadline of a whole request passed; between two of its parts, unless `seen` says more. */
export function timeUp(
  limitMs: number,
  seen: Partial<Pick<RemoteConnectorError<"timeout">, "delivery" | "details" | "cause">> = {},
): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The request passed its deadline of ${String(limitMs)} ms (requestTimeoutMs).`,
    delivery: seen.delivery ?? "answered",
    details: { ...seen.details, phase: "total", option: "requestTimeoutMs", limitMs },
    cause: seen.cause,
  });
}
