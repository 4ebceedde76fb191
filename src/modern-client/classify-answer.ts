import { RemoteConnectorError } from "../errors.js";
import {
  classifyMessage,
  invalidAnswer,
  isJsonObject,
  type JsonObject,
  type JsonRpcError,
  type Message,
  peerError,
  type PeerErrorContext,
  type RequestId,
  StreamDecoder,
} from "../protocol/index.js";
import { type AnswerHead, deliveryByStatus, hintsOf, isSuccess, snippetOf } from "../transport/index.js";

/** What an answer means for the request that waits for it. */
export type AnswerVerdict =
  | { readonly kind: "result"; readonly result: JsonObject; readonly idAsString: boolean }
  | { readonly kind: "failed"; readonly error: RemoteConnectorError; readonly idAsString?: boolean | undefined };

/** Whether a response's id is the pending one: by type and value, or as the string that some servers make of a number. */
export type IdMatch = "same" | "as_string" | "absent" | "other";

/** Compares a response's id with the only pending one. `0` and `""` are ordinary ids. */
export function matchId(id: RequestId | undefined, pending: number): IdMatch {
  if (id === pending) return "same";
  if (id === undefined) return "absent";
  return id === String(pending) ? "as_string" : "other";
}

/** The methods whose result may ask for input first. Source: 2026-07-28, Multi Round-Trip Requests. */
const MAY_ASK_FOR_INPUT: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"]);

/**
 * Judges a whole answer that is no stream. Pure and total.
 *
 * A JSON-RPC error reaches the caller whatever the status and media type; a result only with a 2xx and
 * `application/json`. Source: 2026-07-28, Streamable HTTP, Sending Messages; Overview, Responses.
 */
export function classifyAnswer(head: AnswerHead, body: Uint8Array, method: string, pending: number): AnswerVerdict {
  if (isSuccess(head.status)) {
    if (head.mediaType !== "application/json") return unexpected(head, body, "neither JSON nor an event stream");
    const value = parseJson(textOf(body));
    if (value === undefined) return unexpected(head, body, "a body that is no JSON");
    return classifyResponse(classifyMessage(value), method, pending, head);
  }
  const error = errorIn(head, body, pending);
  if (error !== undefined) return { kind: "failed", error: peerError(error, contextOf(head)) };
  if (head.status < 400) return redirected(head);
  return unexpected(head, body, `the status ${String(head.status)} without a JSON-RPC error`);
}

/** Judges a JSON-RPC message that must be the response. */
export function classifyResponse(message: Message, method: string, pending: number, head?: AnswerHead): AnswerVerdict {
  if (message.kind === "invalid") return invalid(message.reason);
  if (message.kind === "request" || message.kind === "notification") return invalid(`a ${message.kind}`);
  const match = matchId(message.id, pending);
  if (match === "other") return invalid("a response with another id");
  const idAsString = match === "as_string";
  if (message.kind === "error") return { kind: "failed", error: peerError(message.error, contextOf(head)), idAsString };
  const error = faultOfResult(message.result, method);
  return error === undefined ? { kind: "result", result: message.result, idAsString } : { kind: "failed", error };
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

function faultOfResult(result: JsonObject, method: string): RemoteConnectorError | undefined {
  const type = result["resultType"];
  if (type === undefined || type === "complete") return undefined;
  if (type !== "input_required" || !MAY_ASK_FOR_INPUT.has(method)) {
    return invalidAnswer(`a result of the unknown type ${JSON.stringify(type)?.slice(0, 64)}`);
  }
  const requests = result["inputRequests"];
  const [key, request] = (isJsonObject(requests) ? Object.entries(requests)[0] : undefined) ?? ["", undefined];
  const asked = isJsonObject(request) ? request["method"] : undefined;
  const capability = typeof asked === "string" ? (asked.split("/")[0] ?? "") : "";
  return new RemoteConnectorError("input_required", {
    message: `The server asks for input that nothing here answers: ${capability === "" ? "of no kind" : capability}.`,
    delivery: "answered",
    details: { capability, key },
  });
}

/** A failed answer's JSON-RPC error, in JSON or in an event, when it is meant for the pending request. */
function errorIn(head: AnswerHead, body: Uint8Array, pending: number): JsonRpcError | undefined {
  const values = head.mediaType === "text/event-stream" ? eventsOf(body) : [parseJson(textOf(body))];
  for (const value of values) {
    const message = classifyMessage(value);
    if (message.kind === "error" && matchId(message.id, pending) !== "other") return message.error;
  }
  return undefined;
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

function contextOf(head: AnswerHead | undefined): PeerErrorContext {
  return head === undefined ? {} : { httpStatus: head.status, ...hintsOf(head.headers) };
}

function redirected(head: AnswerHead): AnswerVerdict {
  const value = head.headers["location"];
  const location = (Array.isArray(value) ? value[0] : value) ?? "";
  const shown = location.split(/[?#]/, 1)[0] ?? "";
  const error = new RemoteConnectorError("redirect_refused", {
    message: `The server redirects with ${String(head.status)}, which is not followed.`,
    delivery: "answered",
    details: {
      status: head.status,
      location: shown.replace(/\/\/[^/@]*@/, "//"),
      reason: "redirects are not followed",
    },
  });
  return { kind: "failed", error };
}

function unexpected(head: AnswerHead, body: Uint8Array, reason: string): AnswerVerdict {
  const { status, mediaType } = head;
  const error = new RemoteConnectorError("unexpected_answer", {
    message: `The answer has ${reason}.`,
    delivery: deliveryByStatus(status),
    details: { status, mediaType, snippet: snippetOf(body), reason, ...hintsOf(head.headers) },
  });
  return { kind: "failed", error };
}

function invalid(reason: string): AnswerVerdict {
  return { kind: "failed", error: invalidAnswer(reason) };
}

function textOf(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
