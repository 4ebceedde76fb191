import { isJsonObject } from "../../protocol/index.js";
import { type Refusal, refuseParams } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import type { Answer, RequestTarget } from "./exchange.js";
import { forward, forwardedRequest, paramText, refuseContinuation } from "./forwarded-request.js";
import type { LocalServerConfig } from "./options.js";
import type { PromptDirectory } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";

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
  const read = readParams(request, config.maxArgumentsBytes);
  if (read.kind === "refused") return refusedAnswer(read);
  const { name, argumentsText } = read;
  const forwarded = forwardedRequest(config, target, request, argumentsText);
  return forward(config, target, request, {
    kind: "prompt",
    begin: () => prompts.get(target.binding, name, forwarded),
  });
}

interface GetParams {
  readonly kind: "valid";
  readonly name: string;
  readonly argumentsText: string | undefined;
}

function readParams(request: AgentRequest, maxArgumentsBytes: number): GetParams | Refusal {
  const { id, params } = request;
  const { name } = params;
  if (typeof name !== "string") return refuseParams(id, "params.name must be a string");
  const continuation = refuseContinuation(request);
  if (continuation !== undefined) return continuation;
  const args = params["arguments"] ?? undefined;
  if (args === undefined) return { kind: "valid", name, argumentsText: undefined };
  if (!isJsonObject(args) || !Object.values(args).every((value) => typeof value === "string")) {
    return refuseParams(id, "params.arguments must be an object of strings");
  }
  const read = paramText(request, "arguments", maxArgumentsBytes);
  return read.kind === "refused" ? read : { kind: "valid", name, argumentsText: read.text };
}
