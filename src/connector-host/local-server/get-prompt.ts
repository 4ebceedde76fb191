import { refuseParams } from "../../serving/index.js";
import { readAgentInput } from "./agent-input.js";
import type { AgentRequest } from "./agent-request.js";
import { forward, forwardedRequest } from "./forwarded-request.js";
import { readNamedParams } from "./named-params.js";
import type { LocalServerConfig } from "./options.js";
import type { PromptDirectory } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/**
 * Answers a `prompts/get` with the bytes of its server's result. Nothing is sent upstream before all checks passed.
 * Source: 2026-07-28, Prompts, Getting a Prompt, Error Handling.
 */
export function getPrompt(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
  prompts: PromptDirectory,
): Answer | Promise<Answer> {
  const read = readNamedParams(request, config.maxArgumentsBytes);
  if (read.kind === "refused") return refusedAnswer(read);
  const { name, args, argumentsText } = read;
  if (!Object.values(args).every((value) => typeof value === "string")) {
    return refusedAnswer(refuseParams(request.id, "params.arguments must be an object of strings"));
  }
  const asking = readAgentInput(request, target, config.maxInputBytes);
  if (asking.kind === "refused") return refusedAnswer(asking);
  const forwarded = forwardedRequest(config, target, request, { argumentsText, input: asking.input });
  return forward(config, target, request, {
    kind: "prompt",
    begin: () => prompts.get(target.binding, name, forwarded),
  });
}
