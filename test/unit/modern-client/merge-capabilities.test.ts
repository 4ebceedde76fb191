import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../../../src/protocol/input/index.js";
import { mergeCapabilities, oddCapability } from "../../../src/modern-client/merge-capabilities.js";

const answer = () => ({ action: "cancel" }) as const;

describe("capabilities", () => {
  it("W-34: each handler stands for its own, and none for nothing", () => {
    expect(capabilitiesOf({})).toEqual({});
    expect(capabilitiesOf({ elicitation: {} })).toEqual({});
    expect(capabilitiesOf({ elicitation: { url: answer } })).toEqual({ elicitation: { url: {} } });
    expect(capabilitiesOf({ elicitation: { form: answer, url: answer } })).toEqual({
      elicitation: { form: {}, url: {} },
    });
    const createMessage = () => ({});
    expect(capabilitiesOf({ sampling: { createMessage }, roots: () => [] })).toEqual({ sampling: {}, roots: {} });
    expect(capabilitiesOf({ sampling: { createMessage, tools: true, context: true } })).toEqual({
      sampling: { tools: {}, context: {} },
    });
  });

  it("W-34: what either side declares is declared", () => {
    const base = { elicitation: { form: {} }, extensions: { a: { x: 1 } } };
    const merged = mergeCapabilities(base, { elicitation: { url: {} }, extensions: { b: {} }, roots: {} });
    expect(merged).toEqual({
      elicitation: { form: {}, url: {} },
      extensions: { a: { x: 1 }, b: {} },
      roots: {},
    });
    expect(base).toEqual({ elicitation: { form: {} }, extensions: { a: { x: 1 } } });
  });

  it("W-34: a value that is no object is found", () => {
    expect(oddCapability({ a: {}, b: true })).toBe("b");
    expect(oddCapability({ a: {} })).toBeUndefined();
  });
});
