import { invalidAnswer } from "../answer-errors.js";
import { isJsonObject, type JsonObject } from "../json-rpc.js";
import type { ServerAsk } from "./server-ask.js";

/** A result that asks for input, read by whoever hands it on: what is asked is somebody else's to judge. */
export interface AskedInput {
  /** By the server's keys. Empty: nothing is asked, with an empty `inputRequests` or with none. */
  readonly asks: ReadonlyMap<string, ServerAsk>;
  /** Whether there is an `inputRequests`, so that there has to be an `inputResponses`. */
  readonly hasRequests: boolean;
  /** Opaque; the empty string is one. */
  readonly state: string | undefined;
}

/**
 * Reads a result of the type `input_required`. Pure. Throws `invalid_answer` (`unknown`) for one that breaks the protocol.
 *
 * Source: 2026-07-28, Multi Round-Trip Requests, Core Types.
 */
export function readAskedInput(result: JsonObject): AskedInput {
  const { inputRequests = null, requestState = null } = result;
  if (inputRequests === null && requestState === null) {
    throw invalidAnswer("input_required without inputRequests and requestState");
  }
  if (requestState !== null && typeof requestState !== "string")
    throw invalidAnswer("a requestState that is no string");
  const state = requestState ?? undefined;
  if (inputRequests === null) return { asks: new Map(), hasRequests: false, state };
  if (!isJsonObject(inputRequests)) throw invalidAnswer("inputRequests that are no object");
  const asks = new Map<string, ServerAsk>();
  for (const [key, request] of Object.entries(inputRequests)) asks.set(key, readAsk(request));
  return { asks, hasRequests: true, state };
}

function readAsk(request: unknown): ServerAsk {
  const method = isJsonObject(request) ? request["method"] : undefined;
  if (!isJsonObject(request) || typeof method !== "string") throw invalidAnswer("an input request without a method");
  const params = request["params"] ?? undefined;
  if (params !== undefined && !isJsonObject(params)) throw invalidAnswer("an input request whose params are no object");
  return { method, params };
}
