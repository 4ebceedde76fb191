import type { JsonObject } from "../../protocol/index.js";
import { type InputRequest, readAskedInput, readInputRequest } from "../../protocol/input/index.js";

/** A result that asks for input: what for, and what must be said again with it. */
export interface InputAsks {
  /** `undefined`: nothing is asked, the request is only to be made again. */
  readonly requests: ReadonlyMap<string, InputRequest> | undefined;
  /** Opaque; the empty string is one. */
  readonly state: string | undefined;
}

/**
 * Reads a result of the type `input_required`. Pure. Throws `invalid_answer` (`unknown`) for one that breaks the protocol, and
 * `invalid_url` (`answered`) for a URL that nobody should be sent to.
 *
 * Source: 2026-07-28, Multi Round-Trip Requests, Core Types.
 */
export function readAsks(result: JsonObject): InputAsks {
  const { asks, hasRequests, state } = readAskedInput(result);
  if (!hasRequests) return { requests: undefined, state };
  const requests = new Map<string, InputRequest>();
  for (const [key, ask] of asks) requests.set(key, readInputRequest(ask));
  return { requests, state };
}
