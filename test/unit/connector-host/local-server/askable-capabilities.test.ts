import { describe, expect, it } from "vitest";
import { askableOf, legacyAskableOf } from "../../../../src/connector-host/local-server/askable-capabilities.js";

describe("H-27: what a modern agent can be asked", () => {
  it("is what it declares of elicitation, sampling and roots, as it wrote it", () => {
    const asked = { elicitation: { form: {}, later: {} }, sampling: { tools: {} }, roots: {} };
    expect(askableOf({ ...asked, extensions: {}, experimental: {} })).toEqual(asked);
  });

  it.each([
    [{}, undefined],
    [{ experimental: {}, tools: {} }, undefined],
    [{ elicitation: true, sampling: null, roots: [] }, undefined],
    [{ elicitation: true, roots: {} }, { roots: {} }],
    [{ elicitation: {} }, { elicitation: {} }],
  ])("%j: %j", (declared, asked) => expect(askableOf(declared)).toEqual(asked));
});

describe("H-22, H-27: what a legacy agent can be asked, in the form of the newest revision", () => {
  const all = {
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, context: {} },
    roots: { listChanged: true },
  };

  it.each([
    ["2025-11-25", { ...all, roots: {} }],
    ["2025-06-18", { elicitation: { form: {} }, sampling: { context: {} }, roots: {} }],
    ["2025-03-26", { sampling: { context: {} }, roots: {} }],
  ] as const)("is of what it declares what %s has", (revision, asked) => {
    expect(legacyAskableOf(all, revision)).toEqual(asked);
  });

  it.each([
    ["no mode means forms", { elicitation: {} }, { elicitation: { form: {} } }],
    ["nor does a member that is none", { elicitation: { applyDefaults: true } }, { elicitation: { form: {} } }],
    ["pages alone", { elicitation: { url: {} } }, { elicitation: { url: {} } }],
    ["what is in a mode is not kept", { elicitation: { form: { big: "x" } } }, { elicitation: { form: {} } }],
    ["a mode that is no object", { elicitation: { form: {}, url: true } }, { elicitation: { form: {} } }],
    ["sampling alone", { sampling: {} }, { sampling: {} }],
    ["sampling with a context", { sampling: { context: { a: 1 }, tools: 1 } }, { sampling: { context: {} } }],
    ["no object", { elicitation: true, sampling: [], roots: null }, undefined],
    ["nothing", {}, undefined],
    ["no capabilities", undefined, undefined],
    ["capabilities that are no object", [{ roots: {} }], undefined],
  ])("at 2025-11-25: %s", (_what, declared, asked) => expect(legacyAskableOf(declared, "2025-11-25")).toEqual(asked));
});
