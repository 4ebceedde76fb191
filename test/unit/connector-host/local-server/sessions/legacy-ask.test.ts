import { describe, expect, it } from "vitest";
import type { LegacyHttpRevision } from "../../../../../src/connector-host/local-server/classify-surface.js";
import { planLegacyAsk } from "../../../../../src/connector-host/local-server/sessions/legacy-ask.js";
import type { JsonObject } from "../../../../../src/protocol/index.js";

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

function plan(
  method: string,
  params: JsonObject | undefined,
  capabilities: JsonObject = ALL,
  revision: LegacyHttpRevision = "2025-11-25",
) {
  return planLegacyAsk({ method, params }, { capabilities, revision, id: "t-1" });
}

const form = { message: "m", requestedSchema: { type: "object" } };
const page = { mode: "url", message: "m", url: "https://a/", elicitationId: "e" };
const sampling = { messages: [], maxTokens: 1 };

describe("H-27: a question to a legacy agent", () => {
  it.each<[string, JsonObject | undefined]>([
    ["elicitation/create", form],
    ["elicitation/create", { ...form, mode: "form" }],
    ["elicitation/create", page],
    ["sampling/createMessage", sampling],
    ["sampling/createMessage", { ...sampling, tools: [], toolChoice: { mode: "auto" }, includeContext: "allServers" }],
    ["roots/list", undefined],
    ["roots/list", { _meta: { a: 1 } }],
  ])("is put as it is: %s %j", (method, params) => expect(plan(method, params)).toEqual({ kind: "put", params }));

  it("has no mode at a revision without modes", () => {
    expect(plan("elicitation/create", { mode: "form", ...form }, ALL, "2025-06-18")).toEqual({
      kind: "put",
      params: form,
    });
  });

  it("to visit a page gets the id that 2025-11-25 requires, where it has none", () => {
    const { elicitationId: _id, ...without } = page;
    expect(plan("elicitation/create", without)).toEqual({ kind: "put", params: { ...page, elicitationId: "t-1" } });
    expect(plan("elicitation/create", { ...page, elicitationId: "" })).toMatchObject({ params: { elicitationId: "" } });
  });

  it.each<[string, JsonObject, JsonObject, number]>([
    ["elicitation/create", form, {}, -32601],
    ["elicitation/create", form, { elicitation: { url: {} } }, -32602],
    ["elicitation/create", page, { elicitation: { form: {} } }, -32602],
    ["elicitation/create", { ...form, mode: "constructor" }, ALL, -32602],
    ["elicitation/create", { ...form, mode: 7 }, ALL, -32602],
    ["sampling/createMessage", sampling, { elicitation: { form: {} } }, -32601],
    ["sampling/createMessage", { ...sampling, tools: [] }, { sampling: {} }, -32602],
    ["sampling/createMessage", { ...sampling, toolChoice: {} }, { sampling: { context: {} } }, -32602],
    ["roots/list", {}, { sampling: {} }, -32601],
    ["tools/list", {}, ALL, -32601],
    ["__proto__", {}, ALL, -32601],
  ])("is refused, as the agent would, for what it did not declare: %s %j of %j", (method, params, declared, code) => {
    expect(plan(method, params, declared)).toMatchObject({ kind: "refused", error: { code } });
  });

  it("may ask for the context of other servers, which an agent may ignore", () => {
    const params = { ...sampling, includeContext: "thisServer" };
    expect(plan("sampling/createMessage", params, { sampling: {} })).toEqual({ kind: "put", params });
  });
});
