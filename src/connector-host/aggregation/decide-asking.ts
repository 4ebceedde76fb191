import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import type { AnswerAsk } from "../../protocol/input/index.js";
import type { OpenedState } from "../rounds/index.js";
import type { AgentInput } from "../local-server/index.js";
import type { CallSubject } from "./ports.js";

/** How what a server asks for in the midst of a request reaches the agent. `capabilities`: what it may ask for. */
export type AskingPlan =
  /** It doesn't: nobody is asked. */
  | { readonly kind: "plain" }
  /** It doesn't, and the server has its connections one call at a time. */
  | { readonly kind: "leased" }
  /** Both are modern: the result that asks is the agent's, and the request goes on as the agent makes it again. */
  | { readonly kind: "handed_on"; readonly capabilities: JsonObject }
  /** The agent is asked on its stream for what a modern server's result asks for, which is then called again. */
  | { readonly kind: "asked"; readonly capabilities: JsonObject; readonly ask: AnswerAsk }
  /** A modern agent is asked by a result, while the call waits at the legacy server. */
  | { readonly kind: "held"; readonly capabilities: JsonObject }
  /** Both are legacy: requests of the server are requests to the agent. */
  | { readonly kind: "relayed"; readonly capabilities: JsonObject; readonly ask: AnswerAsk }
  /** The agent goes on with something, and a legacy server has nothing that goes on. */
  | { readonly kind: "refused" };

export interface AskingFacts {
  readonly subject: Pick<CallSubject, "kind">;
  readonly input: AgentInput | undefined;
  /** What the connector is opened for. */
  readonly openedFor: readonly string[];
  readonly era: "modern" | "legacy";
  /** Whether the server has connections over which it may ask. */
  readonly hasLeases: boolean;
}

/** Pure. */
export function decideAsking({ subject, input, openedFor, era, hasLeases }: AskingFacts): AskingPlan {
  const unasked: AskingPlan = hasLeases ? LEASED : PLAIN;
  if (input === undefined || subject.kind === "completion") return unasked;
  const { ask, continuation } = input;
  const capabilities = openedCapabilities(input.capabilities, openedFor);
  const isNobodyAsked = Object.keys(capabilities).length === 0;
  if (era === "modern") {
    if (ask === undefined) return { kind: "handed_on", capabilities };
    return isNobodyAsked ? unasked : { kind: "asked", capabilities, ask };
  }
  if (continuation !== undefined) return { kind: "refused" };
  if (!hasLeases || isNobodyAsked) return unasked;
  return ask === undefined ? { kind: "held", capabilities } : { kind: "relayed", capabilities, ask };
}

/** What of an agent's capabilities a connector is opened for. Pure. */
export function openedCapabilities(declared: JsonObject, openedFor: readonly string[]): JsonObject {
  const opened: Record<string, JsonObject> = {};
  for (const name of INTERACTIVE) {
    const capability = declared[name];
    if (isJsonObject(capability) && openedFor.includes(name)) opened[name] = capability;
  }
  return opened;
}

/** What becomes of a request by its state: it goes on with a held one, it is refused, or the state is its server's own. */
export type StateVerdict =
  | { readonly kind: "not_ours" }
  | { readonly kind: "held"; readonly content: Extract<OpenedState, { kind: "opened" }>["content"] }
  | {
      readonly kind: "refused";
      readonly reason: "mismatch" | "restarted" | "unknown";
      readonly delivery: "not_sent" | "unknown";
    };

/**
 * Pure. A held request may have acted at its server; one that was to be approved was not sent. That of a changed state can't be told.
 */
export function classifyState(opened: OpenedState): StateVerdict {
  switch (opened.kind) {
    case "foreign":
      return { kind: "not_ours" };
    case "broken":
      return { kind: "refused", reason: "unknown", delivery: "unknown" };
    case "past":
      return { kind: "refused", reason: "restarted", delivery: opened.of === "held" ? "unknown" : "not_sent" };
    case "opened": {
      const { content } = opened;
      if (content.kind === "held") return { kind: "held", content };
      return { kind: "refused", reason: "mismatch", delivery: "not_sent" };
    }
  }
}

const INTERACTIVE = ["elicitation", "sampling", "roots"] as const;
const PLAIN: AskingPlan = { kind: "plain" };
const LEASED: AskingPlan = { kind: "leased" };
