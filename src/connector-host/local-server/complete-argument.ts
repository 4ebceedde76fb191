import { isJsonObject, type JsonObject, type RequestId } from "../../protocol/index.js";
import { type Refusal, refuseParams } from "../../serving/index.js";
import type { AgentRequest } from "./agent-request.js";
import { chosenConnector } from "./chosen-connector.js";
import { forward, forwardedRequest, paramText } from "./forwarded-request.js";
import type { LocalServerConfig } from "./options.js";
import type { CompletionReference, CompletionRequest, ToolDirectory } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/** A directory that completes. */
export type CompletingDirectory = ToolDirectory & Required<Pick<ToolDirectory, "complete">>;

/** Whether a directory completes anything. */
export function completes(directory: ToolDirectory): directory is CompletingDirectory {
  return directory.complete !== undefined;
}

/**
 * Answers a `completion/complete` with the bytes of the server's result that owns the prompt or the template. Nothing is
 * sent upstream before all checks passed. Source: 2026-07-28, Completion, Requesting Completions, Error Handling.
 */
export function completeArgument(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
  directory: CompletingDirectory,
): Answer | Promise<Answer> {
  const read = readParams(request, config.maxArgumentsBytes);
  if (read.kind === "refused") return refusedAnswer(read);
  const { ref, argument, context } = read;
  const connectorKey = chosenConnector(request.params, config.connectorMetaKey);
  const forwarded = { ...forwardedRequest(config, target, request), ref, argument, context, connectorKey };
  return forward(config, target, request, {
    kind: "completion",
    uri: ref.type === "ref/resource" ? ref.uri : undefined,
    begin: () => directory.complete(target.binding, forwarded),
  });
}

type CompletionParams = { readonly kind: "valid" } & Pick<CompletionRequest, "ref" | "argument" | "context">;

function readParams(request: AgentRequest, maxArgumentsBytes: number): CompletionParams | Refusal {
  const { id, params } = request;
  const ref = readReference(params["ref"], id);
  if ("kind" in ref) return ref;
  const argument = params["argument"];
  if (!isJsonObject(argument)) return refuseParams(id, "params.argument must be an object");
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    return refuseParams(id, "params.argument must have a name and a value, both strings");
  }
  const context = params["context"] ?? undefined;
  if (context !== undefined && !isContext(context)) {
    return refuseParams(id, "params.context must be an object, and its arguments one of strings");
  }
  for (const member of ["argument", "context"]) {
    const measured = paramText(request, member, maxArgumentsBytes);
    if (measured.kind === "refused") return measured;
  }
  return { kind: "valid", ref, argument: { name, value }, context };
}

function readReference(ref: unknown, id: RequestId): CompletionReference | Refusal {
  if (!isJsonObject(ref)) return refuseParams(id, "params.ref must be an object");
  const { type, name, uri } = ref;
  if (type === "ref/prompt" && typeof name === "string") return { type, name };
  if (type === "ref/resource" && typeof uri === "string") return { type, uri };
  return refuseParams(id, "params.ref must be a ref/prompt with a name, or a ref/resource with a uri");
}

function isContext(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const args = value["arguments"] ?? undefined;
  if (args === undefined) return true;
  return isJsonObject(args) && Object.values(args).every((known) => typeof known === "string");
}
