import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { checkParameterHeaders, type Refusal, refuseParams } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import type { Answer, RequestTarget } from "./exchange.js";
import { endError, failedAnswer } from "./failed-answer.js";
import { deliveredAnswer, forwardedRequest, paramText, refuseContinuation } from "./forwarded-request.js";
import type { LocalServerConfig } from "./options.js";
import type { ResolvedTool, UpstreamAnswer } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";

/**
 * Answers a `tools/call`: checks what the agent sent, finds the tool, compares the headers with the contract that the tool
 * has now, calls it, and hands back the result's own bytes.
 *
 * Nothing is sent upstream before all checks passed. Until the call itself was begun, every failure is `not_sent`.
 * Source: 2026-07-28, Tools, Calling Tools; Streamable HTTP, Server Validation.
 */
export async function callTool(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
): Promise<Answer> {
  const { id, era } = request;
  const read = readParams(request, config.maxArgumentsBytes);
  if (read.kind === "refused") return refusedAnswer(read);
  const { directory } = config;
  const { binding } = target;
  const forwarded = forwardedRequest(config, target, request, read.argumentsText);
  let tool: ResolvedTool;
  try {
    tool = await directory.resolve(binding, read.name, forwarded.signal);
    if (target.ended !== undefined) throw endError(target.ended, "not_sent");
  } catch (error) {
    return failedAnswer(config, target, { id, era, error, delivery: "not_sent" });
  }
  const refusal = request.headers && checkParameterHeaders(request.headers, tool.contract, read.args, id);
  if (refusal !== undefined) return refusedAnswer(refusal);
  let calling: Promise<UpstreamAnswer> | undefined;
  try {
    calling = directory.call(binding, tool, forwarded);
    return deliveredAnswer(request, "tool", await calling);
  } catch (error) {
    return failedAnswer(config, target, { id, era, error, promise: calling });
  }
}

interface CallParams {
  readonly kind: "valid";
  readonly name: string;
  readonly args: JsonObject;
  readonly argumentsText: string | undefined;
}

function readParams(request: AgentRequest, maxArgumentsBytes: number): CallParams | Refusal {
  const { id, params } = request;
  const { name } = params;
  if (typeof name !== "string") return refuseParams(id, "params.name must be a string");
  const continuation = refuseContinuation(request);
  if (continuation !== undefined) return continuation;
  const args = params["arguments"] ?? undefined;
  if (args === undefined) return { kind: "valid", name, args: {}, argumentsText: undefined };
  if (!isJsonObject(args)) return refuseParams(id, "params.arguments must be an object");
  const read = paramText(request, "arguments", maxArgumentsBytes);
  return read.kind === "refused" ? read : { kind: "valid", name, args, argumentsText: read.text };
}
