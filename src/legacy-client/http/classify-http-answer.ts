import type { Delivery, RemoteConnectorError } from "../../errors.js";
import { classifyMessage, parseJson, peerError, type PeerErrorContext, type RequestId } from "../../protocol/index.js";
import {
  type AnswerHead,
  bodyText,
  hintsOf,
  isSuccess,
  jsonValuesIn,
  redirectRefused,
  unexpectedAnswer,
  type WholeAnswer,
} from "../../transport/index.js";

/** What an answer that is no stream means for the request that waits for it. */
export type HttpAnswerVerdict =
  /** JSON, which may be the response. */
  | { readonly kind: "json"; readonly value: unknown; readonly context: PeerErrorContext | undefined }
  /** It was taken, and nothing more is said here: the response may come on another stream. If it can't, the error holds. */
  | { readonly kind: "taken"; readonly error: RemoteConnectorError }
  | { readonly kind: "failed"; readonly error: RemoteConnectorError };

/** {@link HttpAnswerVerdict} of what is no message. */
export type NoResponse = Exclude<HttpAnswerVerdict, { readonly kind: "json" }>;

/**
 * Judges an answer that is no stream. Pure and total.
 *
 * A JSON-RPC error for the pending request reaches the caller whatever the status and the media type; anything else counts
 * only with a 2xx and `application/json`. Source: 2025-11-25, Transports, Sending Messages to the Server.
 */
export function classifyHttpAnswer(answer: WholeAnswer, pending: number): HttpAnswerVerdict {
  const { head, body, isWhole } = answer;
  if (isSuccess(head.status)) {
    const isJson = head.mediaType === "application/json";
    if (isWhole && (body.length === 0 || (head.status === 202 && !isJson))) {
      const error = unexpectedAnswer(answer, `the status ${String(head.status)} and no response`, "unknown");
      return { kind: "taken", error };
    }
    if (!isJson) return unexpected(answer, "neither JSON nor an event stream");
    const value = parseJson(bodyText(body));
    return value === undefined
      ? unexpected(answer, "a body that is no JSON")
      : { kind: "json", value, context: undefined };
  }
  const reason = `the status ${String(head.status)} without a JSON-RPC error`;
  const response = isWhole ? responseIn(answer, pending) : undefined;
  if (response?.kind === "error") return { kind: "json", value: response.value, context: conbodyText(head) };
  if (response?.kind === "result") return unexpected(answer, reason, "answered");
  if (head.status >= 300 && head.status < 400)
    return { kind: "failed", error: redirectRefused(head, answer.url, answer.maxRedirects) };
  return unexpected(answer, reason);
}

/** The error of an answer of which nothing but success was wanted, which it is not. Pure and total. */
export function refusalOf(
  answer: WholeAnswer,
  reason = `the status ${String(answer.head.status)}`,
): RemoteConnectorError {
  const { head, body } = answer;
  const message = answer.isWhole ? classifyMessage(parseJson(bodyText(body))) : undefined;
  if (message?.kind === "error") return peerError(message.error, conbodyText(head));
  if (head.status >= 300 && head.status < 400) return redirectRefused(head, answer.url, answer.maxRedirects);
  return unexpectedAnswer(answer, reason);
}

interface Response {
  readonly kind: "result" | "error";
  readonly value: unknown;
}

/** A failed answer's JSON-RPC response, in JSON or in an event, when it is meant for the pending request. */
function responseIn(answer: WholeAnswer, pending: number): Response | undefined {
  for (const value of jsonValuesIn(answer)) {
    const message = classifyMessage(value);
    const isResponse = message.kind === "error" || message.kind === "result";
    if (isResponse && isMeantFor(message.id, pending)) return { kind: message.kind, value };
  }
  return undefined;
}

/** Without an id it can only be meant for the one request that was posted. */
function isMeantFor(id: RequestId | undefined, pending: number): boolean {
  return id === undefined || id === pending || id === String(pending);
}

function conbodyText(head: AnswerHead): PeerErrorContext {
  return { httpStatus: head.status, ...hintsOf(head.headers) };
}

function unexpected(answer: WholeAnswer, reason: string, delivery?: Delivery): HttpAnswerVerdict {
  return { kind: "failed", error: unexpectedAnswer(answer, reason, delivery) };
}
