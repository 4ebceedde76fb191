import { refuseParams } from "../../serving/index.js";
import { readAgentInput } from "./agent-input.js";
import type { AgentRequest } from "./agent-request.js";
import { chosenConnector } from "./chosen-connector.js";
import { forward, forwardedRequest } from "./forwarded-request.js";
import type { LocalServerConfig } from "./options.js";
import type { ResourceDirectory } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/**
 * Answers a `resources/read` with the bytes of its server's result. Nothing is sent upstream before all checks passed.
 * Source: 2026-07-28, Resources, Reading Resources, Error Handling.
 */
export function readResource(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
  resources: ResourceDirectory,
): Answer | Promise<Answer> {
  const { id, params } = request;
  const { uri } = params;
  if (typeof uri !== "string") return refusedAnswer(refuseParams(id, "params.uri must be a string"));
  const asking = readAgentInput(request, target, config.maxInputBytes);
  if (asking.kind === "refused") return refusedAnswer(asking);
  const connectorKey = chosenConnector(params, config.connectorMetaKey);
  const forwarded = { ...forwardedRequest(config, target, request, { input: asking.input }), connectorKey };
  return forward(config, target, request, {
    kind: "resource",
    uri,
    begin: () => resources.read(target.binding, uri, forwarded),
  });
}
