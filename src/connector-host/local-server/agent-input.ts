import { isJsonObject, memberRange, RawJson } from "../../protocol/index.js";
import { type Refusal, refuseParams } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import { askableOf } from "./askable-capabilities.js";
import type { AgentInput, Continuation } from "./ports.js";
import type { RequestTarget } from "./request-target.js";

/** How an agent can be asked in the midst of its request, and what it gave for that. */
export type InputReading = { readonly kind: "valid"; readonly input: AgentInput | undefined } | Refusal;

const NONE: InputReading = { kind: "valid", input: undefined };

/**
 * Reads it off a request that may ask, or says what is wrong with it: `-32602`.
 *
 * A modern agent says with each request what it can be asked, and goes on with one by making it again. What it gives then has at
 * most `maxInputBytes`, and is read no further than its outermost shape. A legacy one is asked over the stream of its request; its
 * revision has nothing to go on with, and taking such a request for a first one would run it once more for an agent that only
 * wanted to go on. Source: 2026-07-28, Multi Round-Trip Requests.
 */
export function readAgentInput(request: AgentRequest, target: RequestTarget, maxInputBytes: number): InputReading {
  const { id, params, clientCapabilities } = request;
  const isFirst = params["inputResponses"] === undefined && params["requestState"] === undefined;
  if (clientCapabilities === undefined) {
    if (!isFirst) return refuseParams(id, "This revision has neither params.inputResponses nor params.requestState");
    return withInput(target.input);
  }
  const capabilities = askableOf(clientCapabilities);
  if (isFirst) return withInput(capabilities && { capabilities });
  const read = readContinuation(request, maxInputBytes);
  return read.kind === "refused" ? read : withInput({ capabilities: capabilities ?? {}, continuation: read });
}

function withInput(input: AgentInput | undefined): InputReading {
  return input === undefined ? NONE : { kind: "valid", input };
}

function readContinuation(
  request: AgentRequest,
  maxInputBytes: number,
): ({ readonly kind: "valid" } & Continuation) | Refusal {
  const { id, params } = request;
  const { inputResponses, requestState: state } = params;
  if (inputResponses !== undefined && !isJsonObject(inputResponses)) {
    return refuseParams(id, "params.inputResponses must be an object");
  }
  if (state !== undefined && typeof state !== "string") return refuseParams(id, "params.requestState must be a string");
  const written = textOf(request, "inputResponses");
  if (written.byteLength + textOf(request, "requestState").byteLength > maxInputBytes) {
    const reason = `params.inputResponses and params.requestState have more than ${String(maxInputBytes)} bytes`;
    return refuseParams(id, `${reason} (maxInputBytes)`);
  }
  const responses = inputResponses === undefined ? undefined : new RawJson(written.toString("utf8"), inputResponses);
  return { kind: "valid", responses, state };
}

/** The bytes of a member of `params` as the agent wrote them; empty when it is not there. */
function textOf({ message }: AgentRequest, member: string): Buffer {
  const { start, end } = memberRange(message, ["params", member]) ?? { start: 0, end: 0 };
  return Buffer.from(message.buffer, message.byteOffset + start, end - start);
}
