import { vi } from "vitest";
import { CallApprovals, type ApprovalSettings } from "../../../../src/connector-host/approvals/index.js";
import type { ApprovalVerdict } from "../../../../src/connector-host/aggregation/index.js";
import type { AgentInput, Binding } from "../../../../src/connector-host/local-server/index.js";
import { createStateSealer, type StateSealer } from "../../../../src/connector-host/rounds/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { isJsonObject, type JsonObject, RawJson } from "../../../../src/protocol/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { bindingOf } from "./questions.js";

export const VOUCHED: Binding = bindingOf({ approvals: "agent" });
const FORMS: JsonObject = { elicitation: { form: {} } };
/** The first request of a modern agent that shows forms. */
export const FIRST: AgentInput = { capabilities: FORMS };

/** What a modern agent's retry has: its answer to the form, if any, and the state. */
export function goingOn(state: string | undefined, answer?: unknown): AgentInput {
  const responses = answer === undefined ? undefined : new RawJson(JSON.stringify({ approval: answer }));
  return { capabilities: FORMS, continuation: { responses, state } };
}

export const APPROVING = { action: "accept", content: { decision: "approve" } };
export const DENYING = { action: "accept", content: { decision: "deny" } };

/** A gate on a clock that stands still. */
export function gateParty(settings: Partial<ApprovalSettings> = {}, sealer: StateSealer = createStateSealer()) {
  const clock = new FakeClock();
  const onFault = vi.fn<(error: unknown) => void>();
  let ids = 0;
  const logins = new Map<Binding, string>();
  const gate = new CallApprovals({
    approve: undefined,
    operatorApprovals: false,
    approvalTimeoutMs: 300_000,
    maxPendingApprovals: 8,
    maxAllPendingApprovals: 256,
    ...settings,
    clock,
    wallNow: () => clock.now(),
    sealer,
    mintId: () => `id-${String((ids += 1))}`,
    loginOf: (binding) => logins.get(binding) ?? "login",
    nameOf: (connectorKey) => connectorKey.toUpperCase(),
    onFault,
  });
  return { gate, clock, onFault, logins, sealer };
}

/** What came of asking: `approved`, `asks`, or the error's code, reason and delivery. */
export async function outcomeOf(passing: Promise<ApprovalVerdict>): Promise<string> {
  try {
    return (await passing).kind;
  } catch (error) {
    if (!isRemoteConnectorError(error)) return `no error of ours: ${String(error)}`;
    const details: JsonObject = { ...error.details };
    const fact = details["reason"] ?? details["option"] ?? details["connectorKey"];
    return `${error.code} ${String(fact)} ${error.delivery}`;
  }
}

/** The state of a verdict that asks. */
export async function askedState(passing: Promise<ApprovalVerdict>): Promise<string> {
  const verdict = await passing;
  if (verdict.kind !== "asks") throw new Error("The agent was not asked.");
  const result: unknown = JSON.parse(Buffer.from(verdict.raw).toString("utf8"));
  const state = isJsonObject(result) ? result["requestState"] : undefined;
  if (typeof state !== "string") throw new Error("It has no state.");
  return state;
}

export async function approvedBy(passing: Promise<ApprovalVerdict>) {
  const verdict = await passing;
  if (verdict.kind !== "approved") throw new Error("It was not approved.");
  return verdict;
}
