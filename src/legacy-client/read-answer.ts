import {
  type DetailedResult,
  invalidAnswer,
  type JsonObject,
  memberRange,
  peerError,
  RpcCode,
} from "../protocol/index.js";
import type { ReceivedAnswer } from "./connection.js";
import { emptyList } from "./declared-methods.js";

/**
 * The result that a server gave, whole: unknown members survive.
 *
 * Throws `peer_error` (`answered`) for a JSON-RPC error and `invalid_answer` (`unknown`) for what is no response.
 */
export function readResult({ answer, context }: ReceivedAnswer): JsonObject {
  if (answer.kind === "result") return answer.result;
  throw answer.kind === "error"
    ? peerError(answer.error, { ...context, withoutId: answer.withoutId })
    : invalidAnswer(answer.reason);
}

/**
 * The result of a list; a list that is declared and yet unknown to the server reads as empty, with a diagnostic.
 *
 * Throws as {@link readResult}.
 */
export function readList(method: string, received: ReceivedAnswer): JsonObject {
  const { answer } = received;
  const empty = emptyList(method);
  if (empty === undefined || answer.kind !== "error" || answer.error.code !== RpcCode.methodNotFound) {
    return readResult(received);
  }
  const message = `The server declares ${method} and doesn't know it.`;
  received.note({ kind: "declared_but_missing", message, subject: method });
  return empty;
}

/** `result` together with the bytes that it was read from. */
export function detailed<T>(result: T, received: ReceivedAnswer): DetailedResult<T> {
  const { answer, line, diagnostics } = received;
  const range = answer.kind === "result" ? memberRange(line, ["result"]) : undefined;
  // A copy: what was read from the process in one piece may be much longer than this result.
  const raw = range === undefined ? encodeJson(result) : new Uint8Array(line.subarray(range.start, range.end));
  return { result, raw, diagnostics, delivery: "answered" };
}

/** A result that no server gave, as if one had. */
export function detailedLocally<T>(result: T): DetailedResult<T> {
  return { result, raw: encodeJson(result), diagnostics: [], delivery: "answered" };
}

function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The message that held a result; one that no server gave, as if one had. */
export function messageOf(result: JsonObject, received: ReceivedAnswer | undefined): Uint8Array {
  return received?.answer.kind === "result" ? received.line : encodeJson({ result });
}
