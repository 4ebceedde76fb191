import type { Delivery, RemoteConnectorError } from "../errors.js";
import {
  type Answer,
  classifyMessage,
  invalidAnswer,
  type JsonObject,
  type Message,
  parseJson,
  peerError,
  plainText,
  type PeerErrorContext,
  type RequestId,
} from "../protocol/index.js";
import {
  type AnswerHead,
  bodyText,
  hintsOf,
  isSuccess,
  jsonValuesIn,
  redirectRefused,
  unexpectedAnswer,
  type WholeAnswer,
} from "../transport/index.js";

/** What an answer means for the request that waits for it. */
export type AnswerVerdict =
  | { readonly kind: "result"; readonly result: JsonObject; readonly idAsString: boolean }
  /** The server wants input first. */
  | { readonly kind: "asks"; readonly result: JsonObject; readonly idAsString: boolean }
  /** The server gives the result later. Only a call that takes tasks may take it. */
  | { readonly kind: "task"; readonly result: JsonObject; readonly idAsString: boolean }
  | { readonly kind: "failed"; readonly error: RemoteConnectorError; readonly idAsString?: boolean | undefined };

type ResponseMessage = Extract<Message, { readonly kind: "result" | "error" }>;

/** Whether a response's id is the pending one: by type and value, or as the string that some servers make of a number. */
export type IdMatch = "same" | "as_string" | "absent" | "other";

/** Compares a response's id with the only pending one; a notification has none. `0` and `""` are ordinary ids. */
export function matchId(id: RequestId | undefined, pending: number | undefined): IdMatch {
  if (id === undefined) return "absent";
  if (id === pending) return "same";
  if (pending === undefined) return "other";
  return id === String(pending) ? "as_string" : "other";
}

/** The methods whose result may ask for input first. Source: 2026-07-28, Multi Round-Trip Requests. */
const MAY_ASK_FOR_INPUT: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"]);

/** The methods whose result may be a task: where one is made, and where servers say so by mistake. Source: ext-tasks. */
const MAY_BE_TASK: ReadonlySet<string> = new Set(["tools/call", "tasks/get"]);

/**
 * Judges a whole answer that is no stream. Pure and total.
 *
 * A JSON-RPC error reaches the caller whatever the status and media type; a result only with a 2xx and
 * `application/json`. Source: 2026-07-28, Streamable HTTP, Sending Messages; Overview, Responses.
 */
export function classifyAnswer(answer: WholeAnswer, method: string, pending: number | undefined): AnswerVerdict {
  const { head, body } = answer;
  if (isSuccess(head.status)) {
    if (head.mediaType !== "application/json") return unexpected(answer, "neither JSON nor an event stream");
    const value = parseJson(bodyText(body));
    if (value === undefined) return unexpected(answer, "a body that is no JSON");
    return classifyResponse(classifyMessage(value), method, pending, head);
  }
  const response = responseIn(answer, pending);
  if (response?.kind === "error") return { kind: "failed", error: peerErrorOf(response, head) };
  const reason = `the status ${String(head.status)} without a JSON-RPC error`;
  if (response?.kind === "result") return unexpected(answer, reason, "answered");
  if (head.status < 400) return { kind: "failed", error: redirectRefused(head, answer.url, answer.maxRedirects) };
  return unexpected(answer, reason);
}

/** Judges a JSON-RPC message that must be the response. */
export function classifyResponse(
  message: Message,
  method: string,
  pending: number | undefined,
  head?: AnswerHead,
): AnswerVerdict {
  if (message.kind === "invalid") return invalid(message.reason);
  if (message.kind === "request" || message.kind === "notification") return invalid(`a ${message.kind}`);
  const match = matchId(message.id, pending);
  if (match === "other") return invalid("a response with another id");
  const idAsString = match === "as_string";
  if (message.kind === "error") return { kind: "failed", error: peerErrorOf(message, head), idAsString };
  return classifyResult(message.result, method, idAsString);
}

/** Judges what a response holds that was matched already: over a channel that all requests share. */
export function classifyMatched(answer: Answer, method: string, idAsString: boolean): AnswerVerdict {
  switch (answer.kind) {
    case "invalid":
      return { ...invalid(answer.reason), idAsString };
    case "error":
      return { kind: "failed", error: peerError(answer.error, { withoutId: answer.withoutId }), idAsString };
    case "result":
      return classifyResult(answer.result, method, idAsString);
  }
}

function classifyResult(result: JsonObject, method: string, idAsString: boolean): AnswerVerdict {
  const type = result["resultType"];
  if (type === undefined || type === "complete") return { kind: "result", result, idAsString };
  if (type === "input_required" && MAY_ASK_FOR_INPUT.has(method)) return { kind: "asks", result, idAsString };
  if (type === "task" && MAY_BE_TASK.has(method)) return { kind: "task", result, idAsString };
  return invalid(`a result of the unknown type ${typeof type === "string" ? plainText(type, 64) : typeof type}`);
}

/** A failed answer's JSON-RPC response, in JSON or in an event, when it is meant for the pending request. */
function responseIn(answer: WholeAnswer, pending: number | undefined): ResponseMessage | undefined {
  if (!answer.isWhole) return undefined;
  for (const value of jsonValuesIn(answer)) {
    const message = classifyMessage(value);
    const isResponse = message.kind === "error" || message.kind === "result";
    if (isResponse && matchId(message.id, pending) !== "other") return message;
  }
  return undefined;
}

function peerErrorOf(
  { id, error }: Message & { readonly kind: "error" },
  head: AnswerHead | undefined,
): RemoteConnectorError<"peer_error"> {
  const context: PeerErrorContext = head === undefined ? {} : { httpStatus: head.status, ...hintsOf(head.headers) };
  return peerError(error, id === undefined ? { ...context, withoutId: true } : context);
}

function unexpected(answer: WholeAnswer, reason: string, delivery?: Delivery): AnswerVerdict {
  return { kind: "failed", error: unexpectedAnswer(answer, reason, delivery) };
}

function invalid(reason: string): AnswerVerdict {
  return { kind: "failed", error: invalidAnswer(reason) };
}
