import { describe, expect, it } from "vitest";
import { checkToolList } from "../../../../src/connector-host/activation/index.js";
import { createSchemaCheck } from "../../../../src/protocol/json-schema/index.js";
import type { JsonObject, ToolList } from "../../../../src/protocol/index.js";

function listed(...tools: readonly (readonly [name: string, inputSchema: JsonObject])[]): ToolList {
  return {
    tools: tools.map(([name, inputSchema]) => ({ name, inputSchema })),
    duplicates: new Set(),
    contracts: new Map(),
    definitions: new Map(),
    diagnostics: [],
  };
}

const good = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const broken = { type: "object", properties: { city: { type: "string" }, required: ["city"] } };

describe("H-9: schemas of a list", () => {
  it("MB-126: a schema that breaks its dialect costs its own tool, which says where and why", () => {
    const { tools, diagnostics } = checkToolList(listed(["good", good], ["broken", broken]), 8, createSchemaCheck());
    expect([...tools.keys()]).toEqual(["good"]);
    expect(diagnostics).toEqual([
      { kind: "broken_schema", tool: "broken", path: "/properties", reason: expect.any(String) },
    ]);
  });

  it("MB-126: without a check it is kept, and no tool beyond the limit is judged", () => {
    expect([...checkToolList(listed(["broken", broken]), 8).tools.keys()]).toEqual(["broken"]);
    const { diagnostics } = checkToolList(listed(["good", good], ["broken", broken]), 1, createSchemaCheck());
    expect(diagnostics).toEqual([{ kind: "too_many_tools", kept: 1, leftOut: 1 }]);
  });
});
