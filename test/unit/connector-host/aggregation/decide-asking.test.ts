import { describe, expect, it } from "vitest";
import {
  type AskingFacts,
  classifyState,
  decideAsking,
  openedCapabilities,
} from "../../../../src/connector-host/aggregation/decide-asking.js";

const ask = () => Promise.resolve({ result: {} });
const FORMS = { elicitation: { form: {} } };
const modernAgent = { capabilities: FORMS };
const legacyAgent = { capabilities: FORMS, ask };
const goingOn = { capabilities: FORMS, continuation: { responses: undefined, state: "s" } };

function decide(facts: Partial<AskingFacts>): string {
  const subject = { kind: "tool" as const };
  return decideAsking({
    subject,
    input: undefined,
    openedFor: ["tools", "elicitation"],
    era: "modern",
    hasLeases: false,
    ...facts,
  }).kind;
}

describe("H-27: how an agent is asked", () => {
  it.each([
    ["modern agent, modern server", { input: modernAgent }, "handed_on"],
    ["modern agent that goes on, modern server", { input: goingOn }, "handed_on"],
    ["modern agent, modern server that is opened for nothing", { input: modernAgent, openedFor: [] }, "handed_on"],
    ["legacy agent, modern server", { input: legacyAgent }, "asked"],
    ["legacy agent, modern server that is opened for nothing", { input: legacyAgent, openedFor: ["tools"] }, "plain"],
    ["modern agent, legacy server", { input: modernAgent, era: "legacy", hasLeases: true }, "held"],
    ["legacy agent, legacy server", { input: legacyAgent, era: "legacy", hasLeases: true }, "relayed"],
    ["legacy server that can't ask", { input: modernAgent, era: "legacy" }, "plain"],
    ["going on with a legacy server", { input: goingOn, era: "legacy", hasLeases: true }, "refused"],
    ["going on with a legacy server that can't ask", { input: goingOn, era: "legacy" }, "refused"],
    [
      "nothing to be asked in turn",
      { input: { capabilities: { roots: {} } }, era: "legacy", hasLeases: true },
      "leased",
    ],
    ["an agent that can't be asked", {}, "plain"],
    ["an agent that can't be asked, in turn", { era: "legacy", hasLeases: true }, "leased"],
    ["a completion", { input: modernAgent, subject: { kind: "completion" } }, "plain"],
    [
      "a completion in turn",
      { input: legacyAgent, subject: { kind: "completion" }, era: "legacy", hasLeases: true },
      "leased",
    ],
  ] satisfies readonly [string, Partial<AskingFacts>, string][])("%s", (_what, facts, plan) => {
    expect(decide(facts)).toBe(plan);
  });

  it("H-4: a connector is told of what it is opened for, and of nothing that the agent did not declare", () => {
    const declared = { elicitation: { url: {} }, sampling: 1, roots: {}, tasks: {} };
    expect(openedCapabilities(declared, ["tools", "elicitation", "sampling", "tasks"])).toEqual({
      elicitation: { url: {} },
    });
  });
});

describe("H-27: what a state says of the request that has it", () => {
  const content = { callId: "c", payload: {} };
  it.each([
    [{ kind: "foreign" }, { kind: "not_ours" }],
    [{ kind: "broken" }, { kind: "refused", reason: "unknown", delivery: "unknown" }],
    [
      { kind: "past", of: "held" },
      { kind: "refused", reason: "restarted", delivery: "unknown" },
    ],
    [
      { kind: "past", of: "approval" },
      { kind: "refused", reason: "restarted", delivery: "not_sent" },
    ],
    [
      { kind: "opened", content: { ...content, kind: "approval" } },
      { kind: "refused", reason: "mismatch", delivery: "not_sent" },
    ],
    [
      { kind: "opened", content: { ...content, kind: "held" } },
      { kind: "held", content: { ...content, kind: "held" } },
    ],
  ] as const)("%j", (opened, verdict) => {
    expect(classifyState(opened)).toEqual(verdict);
  });
});
