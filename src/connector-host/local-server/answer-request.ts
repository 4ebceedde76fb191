import { type RequestId, RpcCode } from "../../protocol/index.js";
import { refuse } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import { callTool } from "./call-tool.js";
import { completeArgument, completes } from "./complete-argument.js";
import { getPrompt } from "./get-prompt.js";
import { listEntries } from "./list-entries.js";
import type { LocalServerConfig } from "./options.js";
import { readResource } from "./read-resource.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/**
 * Answers a request of a method that both eras have. `undefined` when this server doesn't offer it. Never rejects for what
 * an agent sent.
 */
export function answerRequest(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
): Answer | Promise<Answer> | undefined {
  if (isRounded(request.id)) {
    const reason = "The id is a number that would come back as another; send a text, or one below 2^53";
    return refusedAnswer(refuse(400, undefined, RpcCode.invalidRequest, reason));
  }
  return request.method === "tools/call" ? callTool(config, target, request) : answerOther(config, target, request);
}

/** By itself: a call of a tool needs none of its closures. */
function answerOther(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
): Answer | Promise<Answer> | undefined {
  const { directory } = config;
  const { prompts, resources } = directory;
  const { binding, signal } = target;
  switch (request.method) {
    case "tools/list":
      return listEntries(config, target, request, { member: "tools", read: () => directory.list(binding, signal) });
    case "prompts/list":
      return (
        prompts &&
        listEntries(config, target, request, { member: "prompts", read: () => prompts.list(binding, signal) })
      );
    case "prompts/get":
      return prompts && getPrompt(config, target, request, prompts);
    case "resources/list":
      return (
        resources &&
        listEntries(config, target, request, { member: "resources", read: () => resources.list(binding, signal) })
      );
    case "resources/templates/list":
      return (
        resources &&
        listEntries(config, target, request, {
          member: "resourceTemplates",
          read: () => resources.listTemplates(binding, signal),
        })
      );
    case "resources/read":
      return resources && readResource(config, target, request, resources);
    case "completion/complete":
      return completes(directory) ? completeArgument(config, target, request, directory) : undefined;
    default:
      return undefined;
  }
}

/** Whether an id may not be the number that the agent wrote: it would not know the answer, after something acted on the request. */
function isRounded(id: RequestId): boolean {
  return typeof id === "number" && !Number.isSafeInteger(id);
}
