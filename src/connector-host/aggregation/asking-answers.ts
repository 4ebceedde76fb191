import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { AgentInput, ToolCall } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import type { RouteAnswer } from "./route-caller.js";

/** What an agent gets that is asked before anything was sent: a result of the type `input_required`, of the host's own. */
export function askingAnswer(raw: Uint8Array, route: Route<RemoteMcpClient>): RouteAnswer {
  const parsed: unknown = JSON.parse(Buffer.from(raw).toString("utf8"));
  const result: JsonObject = isJsonObject(parsed) ? parsed : {};
  return { raw, era: "modern", resultType: "input_required", result, route };
}

/** A result that asks, with its state, or that it has none, put into one that the host made of it. Every other byte stays. */
export function sealedAnswer(answer: RouteAnswer, seal: (state: string | undefined) => string): RouteAnswer {
  const state = answer.result["requestState"];
  const requestState = JSON.stringify(seal(typeof state === "string" ? state : undefined));
  return { ...answer, raw: changeMembers(answer.raw, { requestState }) };
}

/** The call, asking the agent by other means than it does. */
export function withInput(call: ToolCall, input: AgentInput | undefined): ToolCall {
  const { argumentsText, args, meta, logLevel, signal, quickSignal, abort, deadline, onProgress, onNotification } =
    call;
  return {
    argumentsText,
    args,
    meta,
    logLevel,
    signal,
    quickSignal,
    abort,
    deadline,
    onProgress,
    onNotification,
    input,
  };
}
