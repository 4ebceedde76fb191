import { type Delivery, RemoteConnectorError } from "../../errors.js";
import {
  classifyMessage,
  peerError,
  type PeerErrorContext,
  type RequestId,
  StreamDecoder,
} from "../../protocol/index.js";
import {
  type AnswerHead,
  deliveryByStatus,
  hintsOf,
  isSuccess,
  redirectRefused,
  snippetOf,
} from "../../transport/index.js";

/** An answer that is no stream. */
export interface WholeAnswer {
  readonly head: AnswerHead;
  readonly body: Uint8Array;
  /** False when the connection broke, or a deadline passed, on its way. */
  readonly isWhole: boolean;
  /** The endpoint: what a relative redirect starts at. */
  readonly url: URL;
}

/** What an answer that is no stream means for the request that waits for it. */
export type HttpAnswerVerdict =
  /** JSON, which may be the response. */
  | { readonly kind: "json"; readonly value: unknown; readonly context: PeerErrorContext | undefined }
  | { readonly kind: "failed"; readonly error: RemoteConnectorError };

/**
 * Judges an answer that is no stream. Pure and total.
 *
 * A JSON-RPC error for the pending request reaches the caller whatever the status and the media type; anything else counts
 * only with a 2xx and `application/json`. Source: 2025-11-25, Transports, Sending Messages to the Server.
 */
export function classifyHttpAnswer(answer: WholeAnswer, pending: number): HttpAnswerVerdict {
  const { head, body, isWhole } = answer;
  if (isSuccess(head.status)) {
    if (head.mediaType !== "application/json") return unexpected(answer, "neither JSON nor an event stream");
    const value = parseJson(textOf(body));
    return value === undefined
      ? unexpected(answer, "a body that is no JSON")
      : { kind: "json", value, context: undefined };
  }
  const reason = `the status ${String(head.status)} without a JSON-RPC error`;
  const response = isWhole ? responseIn(answer, pending) : undefined;
  if (response?.kind === "error") return { kind: "json", value: response.value, context: contextOf(head) };
  if (response?.kind === "result") return unexpected(answer, reason, "answered");
  if (head.status >= 300 && head.status < 400) return { kind: "failed", error: redirectRefused(head, answer.url) };
  return unexpected(answer, reason);
}

/** The error of an answer of which nothing but success was wanted, which it is not. Pure and total. */
export function refusalOf(
  answer: WholeAnswer,
  reason = `the status ${String(answer.head.status)}`,
): RemoteConnectorError {
  const { head, body } = answer;
  const message = answer.isWhole ? classifyMessage(parseJson(textOf(body))) : undefined;
  if (message?.kind === "error") return peerError(message.error, contextOf(head));
  if (head.status >= 300 && head.status < 400) return redirectRefused(head, answer.url);
  return unexpectedAnswer(answer, reason, deliveryByStatus(head.status));
}

/** Parses JSON text; `undefined`, which no JSON text means, when it is none. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** A body as text, without a byte order mark. */
export function textOf(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

interface Response {
  readonly kind: "result" | "error";
  readonly value: unknown;
}

/** A failed answer's JSON-RPC response, in JSON or in an event, when it is meant for the pending request. */
function responseIn({ head, body }: WholeAnswer, pending: number): Response | undefined {
  const values = head.mediaType === "text/event-stream" ? eventsOf(body) : [parseJson(textOf(body))];
  for (const value of values) {
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

function eventsOf(body: Uint8Array): unknown[] {
  const values: unknown[] = [];
  const decoder = new StreamDecoder({
    maxEventBytes: Infinity,
    onEvent: ({ data }) => values.push(parseJson(data)),
  });
  decoder.push(body);
  decoder.end();
  return values;
}

function contextOf(head: AnswerHead): PeerErrorContext {
  return { httpStatus: head.status, ...hintsOf(head.headers) };
}

function unexpected(answer: WholeAnswer, reason: string, delivery?: Delivery): HttpAnswerVerdict {
  const error = unexpectedAnswer(answer, reason, delivery ?? deliveryByStatus(answer.head.status));
  return { kind: "failed", error };
}

/** An answer that did not come whole is not known, whatever its status says. */
function unexpectedAnswer(
  { head, body, isWhole }: WholeAnswer,
  reason: string,
  delivery: Delivery,
): RemoteConnectorError {
  const { status, mediaType, headers } = head;
  return new RemoteConnectorError("unexpected_answer", {
    message: `The answer has ${reason}.`,
    delivery: isWhole ? delivery : "unknown",
    details: { status, mediaType, snippet: snippetOf(body), reason, ...hintsOf(headers) },
  });
}
