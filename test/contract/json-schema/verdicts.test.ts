import { describe, expect, it } from "vitest";
import type { SchemaProblem } from "../../../src/protocol/json-schema/index.js";
import { DRAFT_07, VALIDATORS } from "./validators.js";

describe.each(VALIDATORS)("%s", (_, create) => {
  const validator = create();
  const judge = async (schema: unknown, value: unknown): Promise<string> => {
    const verdict = await validator.validate(schema, value);
    return verdict.kind === "invalid" ? `invalid ${verdict.of}` : verdict.kind;
  };
  const proto = (value: unknown): unknown => JSON.parse(`{"__proto__":${JSON.stringify(value)}}`);

  it.each<readonly [string, unknown, unknown, unknown]>([
    ["types", { type: "object" }, {}, []],
    ["any JSON value", { type: "null" }, null, 0],
    ["boolean schemas", { properties: { a: false } }, {}, { a: 1 }],
    ["several types", { type: ["string", "null"] }, null, 1],
    ["whole numbers", { type: "integer" }, 1.0, 1.5],
    ["decimals", { multipleOf: 0.01 }, 19.99, 19.999],
    ["required members", { required: ["a"] }, { a: null }, {}],
    ["required members that every object inherits", { required: ["toString"] }, { toString: 1 }, {}],
    ["required __proto__", { required: ["__proto__"] }, proto(1), {}],
    ["members that every object inherits", { properties: { constructor: { type: "string" } } }, {}, { constructor: 1 }],
    ["a member __proto__", { properties: proto({ type: "string" }) }, proto("a"), proto(1)],
    ["additional __proto__", { additionalProperties: false }, {}, proto(1)],
    ["lengths in characters", { minLength: 2, maxLength: 2 }, "😀😀", "😀"],
    ["patterns", { pattern: "^\\d{4}-\\d\\d$" }, "2026-07", "x2026-07"],
    ["white space of patterns as ECMAScript has it", { pattern: "^\\S+$" }, "a", "a\u00a0b"],
    [
      "patterns on names",
      { patternProperties: { "^a": { type: "string" }, "^b": { type: "number" } } },
      { a: "", b: 1 },
      { a: "", b: "" },
    ],
    ["equal objects", { enum: [{ a: 1, b: [2] }] }, { b: [2], a: 1 }, { a: 1, b: [3] }],
    ["objects with odd members", { const: { valueOf: 1, toString: 2 } }, { toString: 2, valueOf: 1 }, { valueOf: 1 }],
    [
      "distinct items",
      { uniqueItems: true },
      [{ a: 1 }, { a: 2 }, 1, "1"],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    ["definitions", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, "", 1],
    ["escaped pointers", { $ref: "#/$defs/a~1b%25", $defs: { "a/b%": { type: "string" } } }, "", 1],
    ["anchors", { $ref: "#a", $defs: { x: { $anchor: "a", type: "string" } } }, "", 1],
    [
      "addresses inside the schema",
      { $id: "https://a.test/x", $ref: "y", $defs: { y: { $id: "y", type: "null" } } },
      null,
      1,
    ],
    ["recursion", { properties: { a: { $ref: "#" } }, additionalProperties: false }, { a: { a: {} } }, { a: { b: 1 } }],
    [
      "one dynamic anchor",
      { $dynamicAnchor: "n", type: "object", additionalProperties: { $dynamicRef: "#n" } },
      { a: {} },
      { a: 1 },
    ],
    ["words beside a reference", { $ref: "#/$defs/a", maximum: 5, $defs: { a: { minimum: 1 } } }, 3, 9],
    ["positions", { prefixItems: [{ type: "string" }], items: { type: "number" } }, ["", 1], ["", ""]],
    ["counts of matches", { contains: { const: 1 }, minContains: 2, maxContains: 2 }, [1, 0, 1], [1]],
    [
      "dependents",
      { dependentRequired: { a: ["b"] }, dependentSchemas: { a: { maxProperties: 2 } } },
      { a: 1, b: 2 },
      { a: 1 },
    ],
    [
      "what was not looked at",
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1 },
      { b: 1 },
    ],
    ["cousins not looked at", { properties: { a: true }, allOf: [{ unevaluatedProperties: false }] }, {}, { a: 1 }],
    ["draft-07 positions", { $schema: DRAFT_07, items: [{ type: "string" }], additionalItems: false }, [""], ["", 1]],
    ["draft-07 dependencies", { $schema: DRAFT_07, dependencies: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
    [
      "draft-07 definitions",
      { $schema: DRAFT_07, $ref: "#/definitions/a", definitions: { a: { $id: "#b", type: "null" } } },
      null,
      1,
    ],
  ])("W-38: judges %s", async (_name, schema, good, bad) => {
    expect(await judge(schema, good)).toBe("valid");
    expect(await judge(schema, bad)).toBe("invalid value");
  });

  it("W-38: a dynamic reference leads to the outermost anchor of its name", async () => {
    const tree = {
      $id: "tree",
      $dynamicAnchor: "node",
      properties: { data: true, kids: { items: { $dynamicRef: "#node" } } },
    };
    const strict = {
      $id: "https://a.test/strict",
      $dynamicAnchor: "node",
      $ref: "tree",
      unevaluatedProperties: false,
      $defs: { tree },
    };
    expect(await judge(strict, { kids: [{ data: 1 }] })).toBe("valid");
    expect(await judge(strict, { kids: [{ daat: 1 }] })).toBe("invalid value");
  });

  it.each([
    ["a reference hides what is beside it", { $ref: "#/definitions/a", maximum: 0, definitions: { a: true } }, 1],
    ["a later keyword means nothing", { unevaluatedProperties: false, dependentRequired: { a: ["b"] } }, { a: 1 }],
  ])("W-38: in draft-07 %s", async (_name, schema, value) => {
    expect(await judge({ $schema: DRAFT_07, ...schema }, value)).toBe("valid");
  });

  it.each([
    ["format", { format: "email" }, "no"],
    ["nullable", { type: "string", nullable: true, "x-mcp-header": "A" }, ""],
    ["$async", { $async: true }, 1],
  ])("W-38: %s asserts nothing", async (_name, schema, value) => expect(await judge(schema, value)).toBe("valid"));

  it("W-38: what another dialect calls nullable does not let null through", async () =>
    expect(await judge({ type: "string", nullable: true }, null)).toBe("invalid value"));

  it.each([
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://a.test/mine",
    "",
  ])("W-38: %s is an unsupported dialect", async ($schema) =>
    expect(await judge({ $schema }, 1)).toBe("unsupported_dialect"),
  );

  it("W-38: a dialect inside another is unsupported", async () =>
    expect(await judge({ properties: { a: { $schema: DRAFT_07 } } }, {})).toBe("unsupported_dialect"));

  it.each([
    "http://127.0.0.1:9/a.json",
    "https://json-schema.org/draft/2020-12/schema",
    "a.json",
    "#/$defs/none",
    "#none",
    "file:///etc/passwd",
    "http://[",
    "#/%E0%A4%A",
  ])("W-38: a reference to %s is unresolved, also where no value reaches it", async ($ref) => {
    expect(await judge({ $ref }, 1)).toBe("unresolved_ref");
    expect(await judge({ properties: { a: { items: { $ref } } } }, {})).toBe("unresolved_ref");
  });

  it("W-38: members that every object inherits are no place that a reference leads to", async () =>
    expect(await judge({ $ref: "#/constructor" }, 1)).toBe("unresolved_ref"));

  it.each([
    ["type", { type: "strnig" }],
    ["required", { required: "a" }],
    ["properties", { properties: [] }],
    ["items as draft-07 has them", { items: [{}] }],
    ["minimum", { minimum: "1" }],
    ["anyOf", { anyOf: [] }],
    ["$id with a fragment", { $id: "https://a.test/#x" }],
    ["an address used twice", { $defs: { a: { $id: "https://a.test/" }, b: { $id: "https://a.test/" } } }],
    ["pattern", { pattern: "(" }],
    ["a subschema", { properties: { a: { not: 1 } } }],
    ["no schema", "string"],
    ["null", null],
  ])("W-38: a schema broken in %s makes nothing valid", async (_name, schema) =>
    expect(await judge(schema, "a")).toBe("invalid schema"),
  );

  it.each(["(?=a)", "(a)\\1", "(?<!b)a"])(
    "W-38: the pattern %s, which takes more than linear time, is refused",
    async (pattern) => expect(await judge({ pattern }, "a")).toBe("unsupported_dialect"),
  );

  it("W-38: two schemas of one name are two", async () => {
    const named = (type: string): unknown => ({ $id: "https://a.test/same", type });
    expect(await judge(named("string"), "")).toBe("valid");
    expect(await judge(named("number"), "")).toBe("invalid value");
    expect(await judge(named("string"), "")).toBe("valid");
  });

  it("W-38: problems name places, and are bounded", async () => {
    const strict = create({ maxProblems: 2 });
    const schema = {
      items: { properties: { "a/b": { anyOf: [1, 2, 3, 4].map((minimum) => ({ minimum, type: "number" })) } } },
    };
    const verdict = await strict.validate(schema, [{ "a/b": "x" }]);
    const problems: readonly SchemaProblem[] = verdict.kind === "valid" ? [] : verdict.problems;
    expect(problems.map(({ reason }) => reason.length > 0)).toEqual([true, true]);
    expect(verdict).toMatchObject({
      kind: "invalid",
      of: "value",
      problems: [{ path: "/0/a~1b" }, { path: "/0/a~1b" }],
    });
  });

  it("W-38: no problem shows a value", async () => {
    const schema = { type: "object", properties: { a: { enum: ["b"] }, c: { pattern: "^d$" }, e: { maximum: 1 } } };
    for (const value of [{ a: "s3cret" }, { c: "s3cret" }, { e: 73_951 }, "s3cret"]) {
      expect(JSON.stringify(await validator.validate(schema, value))).not.toMatch(/s3cret|73951/);
    }
  });
});
