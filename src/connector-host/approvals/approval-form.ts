import { isJsonObject, type JsonObject, type RawJson } from "../../protocol/index.js";
import type { ApprovalDecision, ApprovalRequest } from "./ports.js";

/** The key of the form among the requests of a result that asks. */
const KEY = "approval";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      description: "Nothing is sent to the connector unless this is approve.",
      enum: ["approve", "deny"],
    },
  },
  required: ["decision"],
};

/**
 * The parameters of the `elicitation/create` by which a vouched agent has a person asked, in the form that every revision with elicitation
 * has. The words are the host's own. Pure. Source: 2026-07-28, Elicitation, Form Mode.
 */
export function approvalForm(request: ApprovalRequest): JsonObject {
  const { accountId, argumentsText, omittedBytes, toolTitle } = request;
  const title = toolTitle === undefined ? "" : `, titled ${toolTitle}`;
  const account = accountId === undefined ? "" : `, account ${accountId}`;
  const left = omittedBytes === 0 ? "" : ` (${String(omittedBytes)} more bytes of the arguments are not shown)`;
  const seconds = Math.max(1, Math.round((request.expiresAt - request.requestedAt) / 1_000));
  const lines = [
    "An agent wants to call a tool that needs an approval for each call.",
    `Connector: ${request.connectorKey}, called ${request.connectorName}`,
    `Tool: ${request.toolName}${title}`,
    `Arguments: ${argumentsText}${left}`,
    `Asked by: workspace ${request.workspaceId}, agent session ${request.agentSessionId}${account}`,
    `What is in quotes was written by the connector or the agent. Without a decision within ${String(seconds)} s the call is denied.`,
  ];
  return { message: lines.join("\n"), requestedSchema: SCHEMA };
}

/** The result by which an agent of revision 2026-07-28 is asked. Pure. Source: 2026-07-28, Multi Round-Trip Requests. */
export function askingResult(request: ApprovalRequest, requestState: string): Uint8Array {
  const inputRequests = { [KEY]: { method: "elicitation/create", params: approvalForm(request) } };
  return Buffer.from(JSON.stringify({ resultType: "input_required", inputRequests, requestState }), "utf8");
}

/** Whether an agent that declared this can show a form. Source: 2026-07-28, Elicitation, Capabilities. */
export function showsForms({ elicitation }: JsonObject): boolean {
  if (!isJsonObject(elicitation)) return false;
  return elicitation["form"] === undefined ? elicitation["url"] === undefined : isJsonObject(elicitation["form"]);
}

/** What an answer to the form says: whatever does not approve in so many words denies. Pure. */
export function decisionIn(answer: unknown): ApprovalDecision {
  if (!isJsonObject(answer) || answer["action"] !== "accept") return "deny";
  const { content } = answer;
  return isJsonObject(content) && Object.hasOwn(content, "decision") && content["decision"] === "approve"
    ? "approve"
    : "deny";
}

/** The decision among an agent's `inputResponses`; `undefined` when none of them is an answer to the form. Pure. */
export function decisionAmong(responses: RawJson | undefined): ApprovalDecision | undefined {
  const given = responses?.value;
  return isJsonObject(given) && Object.hasOwn(given, KEY) ? decisionIn(given[KEY]) : undefined;
}
