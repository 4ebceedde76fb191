import type { ApprovalQuestion } from "../../../../src/connector-host/aggregation/index.js";
import type { AgentInput, Binding, ToolCall } from "../../../../src/connector-host/local-server/index.js";

export function bindingOf(more: Partial<Binding> = {}): Binding {
  return Object.freeze({ workspaceId: "w", agentSessionId: "s", invocation: undefined, login: undefined, ...more });
}

export interface QuestionFacts {
  readonly nativeName?: string;
  readonly toolTitle?: string;
  readonly argumentsText?: string | undefined;
  readonly binding?: Binding;
  readonly connectorKey?: string;
  readonly connectionId?: string | undefined;
  readonly scopeEpoch?: string;
  readonly contractDigest?: string;
  readonly input?: AgentInput | undefined;
  readonly signal?: AbortSignal;
  readonly deadline?: number;
  readonly stillStands?: () => boolean;
}

export function questionOf(facts: QuestionFacts = {}): ApprovalQuestion {
  const { binding = bindingOf(), nativeName = "drop", connectorKey = "github", toolTitle, input } = facts;
  const argumentsText = "argumentsText" in facts ? facts.argumentsText : '{"id":1}';
  const call: ToolCall = {
    argumentsText,
    meta: {},
    logLevel: undefined,
    signal: facts.signal ?? new AbortController().signal,
    deadline: facts.deadline ?? Infinity,
    input,
  };
  return {
    subject: { kind: "tool", nativeName, exposedName: `github_${nativeName}`, argumentsText, binding },
    binding,
    connectorKey,
    toolTitle,
    connectionId: "connectionId" in facts ? facts.connectionId : "c-1",
    scopeEpoch: facts.scopeEpoch ?? "e-1",
    contractDigest: facts.contractDigest ?? "d-1",
    call,
    stillStands: facts.stillStands ?? (() => true),
  };
}
