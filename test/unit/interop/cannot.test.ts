import { describe, expect, it } from "vitest";
import { beyondRevision, cannot } from "../../interop/cannot.js";
import { COLUMNS } from "../../interop/column.js";
import { OWN } from "../../interop/profile.js";

const ALL = { capabilities: { resources: { subscribe: true }, prompts: {} }, tools: OWN.tools };

function lacks(declared: Parameters<typeof cannot>[2]): readonly string[] {
  return COLUMNS.filter((column) => cannot(column, OWN, declared) !== undefined);
}

describe("what a server can't do", () => {
  it("is nothing when it declares everything", () => {
    expect(lacks(ALL)).toEqual([]);
  });

  it("follows its capabilities", () => {
    expect(lacks({ ...ALL, capabilities: {} })).toEqual(["resources", "prompts", "read", "notify"]);
    expect(lacks({ ...ALL, capabilities: { resources: { subscribe: "yes" }, prompts: {} } })).toEqual(["notify"]);
  });

  it("follows its tools", () => {
    expect(lacks({ ...ALL, tools: ["echo"] })).toEqual(["progress", "cancel", "notify", "elicit"]);
  });

  it("never excuses a call", () => {
    expect(lacks({ capabilities: {}, tools: [] })).not.toContain("call");
  });

  it("follows the revision", () => {
    const before = COLUMNS.filter((column) => beyondRevision(column, "2025-03-26") !== undefined);
    const now = COLUMNS.filter((column) => beyondRevision(column, "2026-07-28") !== undefined);
    expect([before, now]).toEqual([["elicit"], []]);
  });
});
