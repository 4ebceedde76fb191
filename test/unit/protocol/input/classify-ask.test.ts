import { describe, expect, it } from "vitest";
import { classifyAsk, takesForms } from "../../../../src/protocol/input/index.js";

const FORM = { message: "?", requestedSchema: { type: "object" } };
const URL_MODE = { mode: "url", message: "?", url: "https://a.example" };

describe("classifyAsk", () => {
  it.each([
    ["a form where an elicitation names no mode", "elicitation/create", FORM, { elicitation: {} }, "declared"],
    ["a form", "elicitation/create", { ...FORM, mode: "form" }, { elicitation: { form: {} } }, "declared"],
    ["a form where only visits are", "elicitation/create", FORM, { elicitation: { url: {} } }, "invalid_params"],
    ["a visit", "elicitation/create", URL_MODE, { elicitation: { url: {} } }, "declared"],
    ["a visit where only forms are", "elicitation/create", URL_MODE, { elicitation: { form: {} } }, "invalid_params"],
    ["a visit where no mode is named", "elicitation/create", URL_MODE, { elicitation: {} }, "invalid_params"],
    ["another mode", "elicitation/create", { mode: "x" }, { elicitation: { form: {}, url: {} } }, "invalid_params"],
    ["a mode that is no string", "elicitation/create", { mode: 0 }, { elicitation: { form: {} } }, "invalid_params"],
    ["params that are none", "elicitation/create", [1], { elicitation: {} }, "invalid_params"],
    ["an undeclared elicitation", "elicitation/create", FORM, { sampling: {} }, "unknown_method"],
    ["sampling", "sampling/createMessage", { includeContext: "thisServer" }, { sampling: {} }, "declared"],
    ["sampling with tools", "sampling/createMessage", { tools: [] }, { sampling: { tools: {} } }, "declared"],
    ["sampling with undeclared tools", "sampling/createMessage", { tools: [] }, { sampling: {} }, "invalid_params"],
    [
      "sampling with a choice of tools",
      "sampling/createMessage",
      { toolChoice: {} },
      { sampling: {} },
      "invalid_params",
    ],
    ["sampling whose tools are null", "sampling/createMessage", { tools: null }, { sampling: {} }, "declared"],
    ["undeclared sampling", "sampling/createMessage", {}, { roots: {} }, "unknown_method"],
    ["roots without params", "roots/list", undefined, { roots: {} }, "declared"],
    ["undeclared roots", "roots/list", undefined, {}, "unknown_method"],
    ["a method of nothing", "tasks/get", {}, { elicitation: {}, sampling: {}, roots: {} }, "unknown_method"],
    ["a name of every object", "constructor", {}, { elicitation: {} }, "unknown_method"],
  ])("L-6: %s", (_what, method, params, capabilities, kind) => {
    expect(classifyAsk(method, params, capabilities).kind).toBe(kind);
  });

  it("H-27: an elicitation that names no mode has forms", () => {
    expect([{}, { form: {} }, { url: {} }, { form: {}, url: {} }].map(takesForms)).toEqual([true, true, false, true]);
  });
});
