import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { type Refusal, refuseParams } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import { paramText } from "./forwarded-request.js";

/** The parameters of a request that names a tool or a prompt, and gives it arguments. */
export interface NamedParams {
  readonly kind: "valid";
  readonly name: string;
  readonly args: JsonObject;
  /** The arguments as the agent wrote them; `undefined` when it sent none. */
  readonly argumentsText: string | undefined;
}

/** Reads them, or says what is wrong with them. Pure. */
export function readNamedParams(request: AgentRequest, maxArgumentsBytes: number): NamedParams | Refusal {
  const { id, params } = request;
  const { name } = params;
  if (typeof name !== "string") return refuseParams(id, "params.name must be a string");
  const args = params["arguments"] ?? undefined;
  if (args === undefined) return { kind: "valid", name, args: {}, argumentsText: undefined };
  if (!isJsonObject(args)) return refuseParams(id, "params.arguments must be an object");
  const read = paramText(request, "arguments", maxArgumentsBytes);
  return read.kind === "refused" ? read : { kind: "valid", name, args, argumentsText: read.text };
}
