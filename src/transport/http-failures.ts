import { type AnyRemoteConnectorError, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { type AnswerHead, hintsOf } from "./answer-head.js";
import type { DeadlinePhase } from "./lifetime.js";
import { isLasting, networkCause, networkReason } from "./network-failure.js";

/** No connection could be made. */
function connectFailure(origin: string, error: unknown): RemoteConnectorError<"connect_failed"> {
  const reason = networkReason(error);
  const message = `No connection to ${origin}: ${reason}.`;
  const cause = networkCause(error, reason);
  const details = { origin, reason, ...(isLasting(reason) ? { lasting: true as const } : {}) };
  return new RemoteConnectorError("connect_failed", { message, details, cause });
}

/** The connection broke on the way. */
function brokenFailure(origin: string, error: unknown): RemoteConnectorError<"connection_broken"> {
  const reason = networkReason(error);
  const message = `The connection to ${origin} broke: ${reason}.`;
  const cause = networkCause(error, reason);
  return new RemoteConnectorError("connection_broken", { message, details: { origin, reason }, cause });
}

/** What an exchange failed with. One that knows in our terms what happened has said it all. */
export function exchangeFailure(origin: string, error: unknown, isConnecting: boolean): AnyRemoteConnectorError {
  if (isRemoteConnectorError(error)) return error;
  return isConnecting ? connectFailure(origin, error) : brokenFailure(origin, error);
}

export function deadlineFailure(phase: DeadlinePhase, limitMs: number): RemoteConnectorError<"timeout"> {
  const option = `${phase}TimeoutMs`;
  const message = `The request passed its ${phase} deadline of ${String(limitMs)} ms (${option}).`;
  return new RemoteConnectorError("timeout", { message, details: { phase, option, limitMs } });
}

/** Whether an answer has a content coding that nobody undoes. */
export function isEncoded({ headers }: AnswerHead): boolean {
  const encoding = headers["content-encoding"];
  return encoding !== undefined && String(encoding).toLowerCase() !== "identity";
}

/** The failure of an answer that {@link isEncoded}. */
export function encodedFailure({ status, mediaType, headers }: AnswerHead): RemoteConnectorError<"unexpected_answer"> {
  const reason = "a content encoding that was not asked for";
  const details = { status, mediaType, snippet: "", reason, ...hintsOf(headers) };
  return new RemoteConnectorError("unexpected_answer", { message: `The answer has ${reason}.`, details });
}

/**
 * Asks a request's last check before it is written.
 *
 * Returns `not_admitted` for its refusal, and when it throws, which counts as one; `undefined` admits.
 */
export function refusalOf(admit: () => string | undefined): RemoteConnectorError<"not_admitted"> | undefined {
  try {
    const reason = admit();
    if (reason === undefined) return undefined;
    const message = `The request was not admitted: ${reason}.`;
    return new RemoteConnectorError("not_admitted", { message, details: { reason } });
  } catch (cause) {
    const message = "The check before sending threw.";
    return new RemoteConnectorError("not_admitted", { message, details: { reason: "the check threw" }, cause });
  }
}
