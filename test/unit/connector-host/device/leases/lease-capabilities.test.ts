import { describe, expect, it } from "vitest";
import {
  commonCapabilities,
  declinedAnswer,
  offeredCapabilities,
} from "../../../../../src/connector-host/device/leases/lease-capabilities.js";

const ALL = offeredCapabilities(["tools", "elicitation", "sampling", "roots"]);

describe("H-4 what a connector is opened for", () => {
  it("is what a server may be told that its callers can be asked", () => {
    expect(ALL).toEqual({ elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} });
    expect(offeredCapabilities(["tools", "resources", "prompts"])).toEqual({});
    expect(offeredCapabilities(["tools", "roots"])).toEqual({ roots: {} });
  });

  it.each([
    ["nobody", {}, {}],
    ["an elicitation that names no mode", { elicitation: {} }, { elicitation: { form: {} } }],
    ["visits alone", { elicitation: { url: {} } }, { elicitation: { url: {} } }],
    ["both modes", { elicitation: { form: {}, url: {} } }, { elicitation: { form: {}, url: {} } }],
    ["a mode of no revision", { elicitation: { form: null, url: 1, voice: {} } }, {}],
    ["sampling without tools", { sampling: { context: {} } }, { sampling: {} }],
    ["sampling with tools", { sampling: { tools: {}, context: {} } }, { sampling: { tools: {} } }],
    ["roots, whatever more is said", { roots: { listChanged: true } }, { roots: {} }],
    ["what is no capability", { tasks: {}, roots: true }, {}],
  ])("H-27: to %s", (_who, declared, common) => {
    expect(commonCapabilities(ALL, declared)).toEqual(common);
    expect(commonCapabilities({}, declared)).toEqual({});
  });

  it("H-27: a request that is nobody's is declined, each in its way", () => {
    expect(declinedAnswer("elicitation/create")).toEqual({ result: { action: "decline" } });
    expect(declinedAnswer("sampling/createMessage")).toMatchObject({ error: { code: -1 } });
    expect(declinedAnswer("roots/list")).toMatchObject({ error: { code: -32_603 } });
    expect(declinedAnswer("tasks/get")).toMatchObject({ error: { code: -32601 } });
  });
});
