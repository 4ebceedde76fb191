import { describe, expect, it } from "vitest";
import { classifyInitializeAnswer, initializeParams } from "../../../src/legacy-client/initialize.js";
import type { Answer } from "../../../src/protocol/message-channel.js";
import { type JsonObject, LEGACY_REVISIONS, type LegacyRevision } from "../../../src/protocol/index.js";

function classify(answer: Answer, offered: readonly LegacyRevision[] = ["2025-11-25"], revisions = LEGACY_REVISIONS) {
  return classifyInitializeAnswer(answer, { revisions, offered });
}

function result(members: JsonObject): Answer {
  return {
    kind: "result",
    result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" }, ...members },
  };
}

function refusal(code: number, data?: unknown): Answer {
  return { kind: "error", error: { code, message: "no", data } };
}

describe("initializeParams", () => {
  it("offers a revision, names us, and declares what of the capabilities the revision has", () => {
    const clientInfo = { name: "c", version: "1", title: "C" };
    expect(initializeParams("2025-06-18", { clientInfo, capabilities: {} })).toMatchObject({ capabilities: {} });
    const capabilities = { elicitation: { form: {} }, sampling: { tools: {} } };
    expect(initializeParams("2025-06-18", { clientInfo, capabilities })).toEqual({
      protocolVersion: "2025-06-18",
      capabilities: { elicitation: {}, sampling: {} },
      clientInfo,
    });
  });
});

describe("classifyInitializeAnswer", () => {
  it.each(LEGACY_REVISIONS)("L-18: accepts %s, whatever was offered", (revision) => {
    expect(classify(result({ protocolVersion: revision, capabilities: { tools: {} }, instructions: "i" }))).toEqual({
      kind: "ready",
      introduction: {
        revision,
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
        instructions: "i",
      },
      diagnostics: [],
    });
  });

  it.each(["2024-10-07", "2026-07-28", "1.0", ""])("L-18: refuses %j", (protocolVersion) => {
    expect(classify(result({ protocolVersion }))).toEqual({
      kind: "unsupported_version",
      supported: [protocolVersion],
    });
  });

  it("L-18: refuses a legacy revision that the caller does not accept", () => {
    const answer = result({ protocolVersion: "2024-11-05" });
    const verdict = classifyInitializeAnswer(answer, { revisions: ["2025-11-25"], offered: ["2025-11-25"] });
    expect(verdict).toEqual({ kind: "unsupported_version", supported: ["2024-11-05"] });
  });

  it.each([undefined, null, 1, {}])("is invalid with %j as protocolVersion", (protocolVersion) => {
    expect(classify(result({ protocolVersion })).kind).toBe("invalid");
  });

  it("takes members that are missing or null as absent, and reports what can't be so", () => {
    expect(classify(result({ capabilities: null, serverInfo: undefined, instructions: null }))).toMatchObject({
      kind: "ready",
      introduction: { capabilities: {}, serverInfo: undefined, instructions: undefined },
      diagnostics: [
        { kind: "member_removed", subject: "capabilities" },
        { kind: "member_removed", subject: "serverInfo" },
      ],
    });
    expect(classify(result({ instructions: 1, serverInfo: { name: "s" } }))).toMatchObject({
      diagnostics: [{ subject: "serverInfo" }, { subject: "instructions" }],
    });
  });

  it("L-1: offers the newest mutual revision that the refusal names, once", () => {
    const answer = refusal(-32602, { supported: ["2024-11-05", "2025-03-26"], requested: "2025-11-25" });
    expect(classify(answer)).toEqual({ kind: "offer_again", revision: "2025-03-26" });
    expect(classify(answer, ["2025-11-25", "2025-03-26"]).kind).toBe("refused");
  });

  it.each<[string, Answer, string]>([
    ["names only others", refusal(-32602, { supported: ["1.0"] }), "unsupported_version"],
    ["names only what was offered", refusal(-32602, { supported: ["2025-11-25"] }), "refused"],
    ["names nothing", refusal(-32602, { supported: [] }), "refused"],
    ["names no texts", refusal(-32602, { supported: [1] }), "refused"],
    ["has no data", refusal(-32602), "refused"],
    ["has another code", refusal(-32600, { supported: ["2024-11-05"] }), "refused"],
  ])("a refusal that %s", (_name, answer, kind) => {
    expect(classify(answer).kind).toBe(kind);
  });

  it("hands the reason of an invalid answer on", () => {
    expect(classify({ kind: "invalid", reason: "r" })).toEqual({ kind: "invalid", reason: "r" });
  });
});
