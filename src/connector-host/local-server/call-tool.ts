import { checkParameterHeaders } from "../../serving/index.js";
import { readAgentInput } from "./agent-input.js";
import type { AgentRequest } from "./agent-request.js";
import { endError, failedAnswer } from "./failed-answer.js";
import { deliveredAnswer, ForwardedCall } from "./forwarded-request.js";
import { readNamedParams } from "./named-params.js";
import type { LocalServerConfig } from "./options.js";
import type { ResolvedTool, UpstreamAnswer } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/**
 * Answers a `tools/call`: checks what the agent sent, finds the tool, compares the headers with the contract that the tool
 * has now, calls it, and hands back the result's own bytes.
 *
 * Nothing is sent upstream before all checks passed. Until the call itself was begun, every failure is `not_sent`, unless the directory
 * knows that the call goes on with one that was sent.
 * Source: 2026-07-28, Tools, Calling Tools; Streamable HTTP, Server Validation.
 */
export async function callTool(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
): Promise<Answer> {
  const { id, era } = request;
  const read = readNamedParams(request, config.maxArgumentsBytes);
  if (read.kind === "refused") return refusedAnswer(read);
  const asking = readAgentInput(request, target, config.maxInputBytes);
  if (asking.kind === "refused") return refusedAnswer(asking);
  const { directory } = config;
  const { binding } = target;
  const forwarded = new ForwardedCall(config, target, request, read, asking.input);
  let tool: ResolvedTool;
  try {
    const known = directory.known?.(binding, read.name);
    tool = known ?? (await directory.resolve(binding, read.name, forwarded.signal, forwarded.deadline));
    if (target.ended !== undefined) throw endError(target.ended, "not_sent");
  } catch (error) {
    const unmade = directory.unmade?.(forwarded, error) ?? { error, delivery: "not_sent" };
    return failedAnswer(config, target, { id, era, ...unmade });
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
