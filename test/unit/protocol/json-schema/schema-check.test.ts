import { describe, expect, it } from "vitest";
import { createSchemaCheck } from "../../../../src/protocol/json-schema/index.js";

describe("a schema by itself", () => {
  const check = createSchemaCheck();

  it.each([
    ["required inside properties", { properties: { city: {}, required: ["city"] } }, "/properties/required"],
    ["a property that is a text", { properties: { city: "string" } }, "/properties/city"],
    [
      "required as a boolean",
      { properties: { city: { type: "string", required: true } } },
      "/properties/city/required",
    ],
    ["an unknown type", { properties: { city: { type: "text" } } }, "/properties/city/type"],
    ["an enum that is no list", { properties: { city: { enum: "a" } } }, "/properties/city/enum"],
    ["items as a list, in 2020-12", { properties: { list: { items: [{}] } } }, "/properties/list/items"],
    ["a broken definition", { $defs: { a: 7 } }, "/$defs/a"],
    ["a negative length", { properties: { city: { minLength: -1 } } }, "/properties/city/minLength"],
  ])("has a problem: %s", (_what, schema, path) => {
    const problem = check({ type: "object", ...schema });
    expect(problem?.path.startsWith(path) === true || path.startsWith(problem?.path ?? "none")).toBe(true);
    expect(problem?.reason).not.toBe("");
  });

  it.each([
    ["an empty one", {}],
    ["a property named required", { type: "object", properties: { required: { type: "boolean" } } }],
    [
      "items as a list, in draft-07",
      { $schema: "http://json-schema.org/draft-07/schema#", properties: { a: { items: [{}] } } },
    ],
    ["a dialect that nobody here speaks", { $schema: "https://example.com/mine", properties: "anything" }],
    ["a keyword that nobody knows", { type: "object", "x-mine": 7 }],
    ["a reference that leads nowhere", { properties: { a: { $ref: "https://schemas.invalid/n.json" } } }],
    ["a pattern that is none", { properties: { a: { pattern: "(" } } }],
  ])("has none: %s", (_what, schema) => {
    expect(check(schema)).toBeUndefined();
  });

  it.each([5_000, 200_000])("one that is nested %i deep has none, and does not overflow", (levels) => {
    let schema: Record<string, unknown> = { type: "nonsense" };
    for (let level = 0; level < levels; level += 1) schema = { not: schema };
    expect(check(schema)).toBeUndefined();
  });

  it("is found again by its text", () => {
    const once = createSchemaCheck({ maxCachedSchemas: 1 });
    const broken = () => ({ properties: { a: 1 } });
    expect(once(broken())).toBe(once(broken()));
    once({});
    expect(once(broken())).toEqual(check(broken()));
  });
});
