import { describe, expect, it } from "vitest";
import { classifyMethod, emptyList } from "../../../src/legacy-client/declared-methods.js";
import type { JsonObject } from "../../../src/protocol/index.js";

describe("classifyMethod", () => {
  it.each<[string, JsonObject]>([
    ["tools/list", { tools: {} }],
    ["tools/call", { tools: { listChanged: true } }],
    ["tools/list", { tools: true }],
    ["resources/read", { resources: {} }],
    ["resources/subscribe", { resources: { subscribe: true } }],
    ["resources/templates/list", { resources: {} }],
    ["prompts/get", { prompts: {} }],
    ["logging/setLevel", { logging: {} }],
    ["completion/complete", { completions: {} }],
    ["tasks/get", { tasks: {} }],
    ["ping", {}],
    ["vendor/method", {}],
  ])("L-10: permits %s with %j", (method, capabilities) => {
    expect(classifyMethod(method, capabilities, "2025-11-25")).toEqual({ kind: "declared" });
  });

  it.each<[string, JsonObject, string]>([
    ["tools/call", {}, "tools"],
    ["tools/call", { tools: null }, "tools"],
    ["tools/call", { tools: false }, "tools"],
    ["resources/read", { tools: {} }, "resources"],
    ["resources/subscribe", { resources: {} }, "resources.subscribe"],
    ["resources/unsubscribe", { resources: { subscribe: false } }, "resources.subscribe"],
    ["prompts/get", {}, "prompts"],
    ["logging/setLevel", {}, "logging"],
    ["completion/complete", {}, "completions"],
    ["tasks/cancel", {}, "tasks"],
  ])("L-10: does not send %s with %j", (method, capabilities, feature) => {
    expect(classifyMethod(method, capabilities, "2025-11-25")).toEqual({ kind: "undeclared", feature });
  });

  it.each([
    ["tools/list", { tools: [] }],
    ["resources/list", { resources: [] }],
    ["resources/templates/list", { resourceTemplates: [] }],
    ["prompts/list", { prompts: [] }],
  ])("L-10: reads an undeclared %s as empty", (method, result) => {
    expect(classifyMethod(method, {}, "2024-11-05")).toEqual({ kind: "empty_list", result });
    expect(emptyList(method)).toEqual(result);
  });

  it("permits completion in the revision that could not declare it", () => {
    expect(classifyMethod("completion/complete", {}, "2024-11-05").kind).toBe("declared");
    expect(classifyMethod("completion/complete", {}, "2025-03-26").kind).toBe("undeclared");
  });
});

describe("emptyList", () => {
  it("knows which methods are lists", () => {
    expect(emptyList("tools/call")).toBeUndefined();
  });
});
