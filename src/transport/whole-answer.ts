import { type Delivery, RemoteConnectorError } from "../errors.js";
import { parseJson, StreamDecoder } from "../protocol/index.js";
import { type AnswerHead, deliveryByStatus, hintsOf, snippetOf } from "./answer-head.js";

/** An answer that was not read as a stream. */
export interface WholeAnswer {
  readonly head: AnswerHead;
  readonly body: Uint8Array;
  /** False when the connection broke, or a deadline passed, on its way. */
  readonly isWhole: boolean;
  /** The endpoint: what a relative redirect starts at. */
  readonly url: URL;
  /** How many redirects its request followed at most; the transport's default when left out. */
  readonly maxRedirects?: number | undefined;
}

/** A body as text, without a byte order mark. */
export function bodyText(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** The JSON in a body: of each event, where it holds events. `undefined` stands for what is no JSON. Total. */
export function jsonValuesIn({ head, body }: WholeAnswer): readonly unknown[] {
  if (head.mediaType !== "text/event-stream") return [parseJson(bodyText(body))];
  const values: unknown[] = [];
  const decoder = new StreamDecoder({
    maxEventBytes: Infinity,
    onEvent: ({ data }) => values.push(parseJson(data)),
  });
  decoder.push(body);
  decoder.end();
  return values;
}

/**
 * The error of an answer that has what was not wanted. `delivery` is by its status, if nothing else is known; an answer that
 * did not come whole is not known, whatever its status says.
 */
export function unexpectedAnswer(
  { head, body, isWhole }: WholeAnswer,
  reason: string,
  delivery: Delivery = deliveryByStatus(head.status),
): RemoteConnectorError<"unexpected_answer"> {
  const { status, mediaType, headers } = head;
  return new RemoteConnectorError("unexpected_answer", {
    message: `The answer has ${reason}.`,
    delivery: isWhole ? delivery : "unknown",
    details: { status, mediaType, snippet: snippetOf(body), reason, ...hintsOf(headers) },
  });
}
