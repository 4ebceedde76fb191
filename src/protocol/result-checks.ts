import { invalidAnswer } from "./answer-errors.js";
import { isJsonObject, type JsonObject } from "./json-rpc.js";

/**
 * Makes the check of a result that must have a list as its `member`; the result is handed on as it came. The check throws
 * `invalid_answer` (`unknown`).
 */
export function withArray(method: string, member: string): (result: JsonObject) => JsonObject {
  return (result) => {
    if (Array.isArray(result[member])) return result;
    throw invalidAnswer(`${method} without ${member}`);
  };
}

/** A result of `completion/complete`, as it came. Throws `invalid_answer` (`unknown`) when it has no values. */
export function readCompletion(result: JsonObject): JsonObject {
  const { completion } = result;
  if (isJsonObject(completion) && Array.isArray(completion["values"])) return result;
  throw invalidAnswer("completion/complete without values");
}
