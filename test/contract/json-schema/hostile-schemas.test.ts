import { describe, expect, it } from "vitest";
import { VALIDATORS } from "./validators.js";

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const named = <T>(count: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(times(count, (i) => [`d${String(i)}`, make(i)]));

function nested(depth: number): unknown {
  let schema: unknown = { type: "string" };
  for (let i = 1; i < depth; i += 1) schema = { not: { not: schema } };
  return schema;
}

/** What must not take long. A generous bound: without limits these take minutes, or for ever. */
async function promptly<T>(run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  return result;
}

describe.each(VALIDATORS)("%s, given what would stop it,", (_, create) => {
  it.each([
    ["size", "maxSchemaSize", { description: "x".repeat(300_000) }],
    ["depth", "maxSchemaDepth", nested(40)],
    ["subschemas", "maxSubschemas", { allOf: times(2_500, () => ({})) }],
    ["size of patterns", "maxPatternInstructions", { pattern: "a{1000}".repeat(100) }],
    ["length of a pattern", "maxPatternInstructions", { pattern: "a".repeat(5_000) }],
  ])("W-38: a limit of %s names its option", async (_name, option, schema) => {
    const verdict = await promptly(() => create().validate(schema, ""));
    expect(verdict).toMatchObject({ kind: "invalid", of: "limit" });
    expect(JSON.stringify(verdict)).toContain(option);
  });

  it("W-38: the limits are options", async () => {
    expect(await create({ maxSchemaDepth: 100 }).validate(nested(40), "")).toEqual({ kind: "valid" });
    expect(await create({ maxSchemaSize: 10 }).validate({ type: "string" }, "")).toMatchObject({ of: "limit" });
    expect(() => create({ maxSchemaDepth: -1 })).toThrow("maxSchemaDepth");
    expect(() => create(Object(JSON.parse('{"maxDepth":1}')))).toThrow("maxDepth");
  });

  it.each<readonly [string, unknown, unknown]>([
    ["itself", { $ref: "#" }, 1],
    [
      "a circle",
      { $ref: "#/$defs/d0", $defs: { d0: { $ref: "#/$defs/d1" }, d1: { allOf: [{ $ref: "#/$defs/d0" }] } } },
      1,
    ],
    [
      "twice the next, a hundred times",
      {
        $ref: "#/$defs/d0",
        $defs: {
          ...named(100, (i) => ({ allOf: times(2, () => ({ $ref: `#/$defs/d${String(i + 1)}` })) })),
          d100: true,
        },
      },
      1,
    ],
    [
      "twice itself, at each level of a deep value",
      { properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } },
      JSON.parse('{"a":'.repeat(60) + "1" + "}".repeat(60)),
    ],
  ])("W-38: a schema that applies %s ends at a limit", async (_name, schema, value) => {
    expect(await promptly(() => create().validate(schema, value))).toMatchObject({ kind: "invalid", of: "limit" });
  });

  it("W-38: many alternatives for many items end at the limit", async () => {
    const schema = { items: { anyOf: times(1_900, (i) => ({ const: i })) } };
    const value = times(200_000, () => -1);
    value.fill(1_899);
    expect(await promptly(() => create().validate(schema, value))).toMatchObject({ kind: "invalid", of: "limit" });
  });

  it.each(["^(a+)+$", "^(a|a)*$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
    "W-38: the pattern bomb %s does not go off",
    async (pattern) => {
      const text = `${"ax".repeat(20_000)}!`;
      const verdict = await promptly(() => create().validate({ pattern }, text));
      expect(verdict.kind).toBe("invalid");
    },
  );

  it.each(["^(a+)+$", "(a*)*b", "^(([a-z])+.)+$"])(
    "W-38: the pattern bomb %s does not go off on names",
    async (pattern) => {
      const value = { [`${"a".repeat(20_000)}!`]: 1 };
      const verdict = await promptly(() => create().validate({ patternProperties: { [pattern]: false } }, value));
      // The interpreter refuses such a pattern, and compiled code matches it in linear time.
      expect(["valid", "invalid", "unsupported_dialect"]).toContain(verdict.kind);
    },
  );

  it("W-38: a huge enumeration is no hindrance", async () => {
    const validator = create();
    const schema = { items: { enum: times(20_000, (i) => `v${String(i)}`) } };
    expect(await promptly(() => validator.validate(schema, ["v19999"]))).toEqual({ kind: "valid" });
    expect(await validator.validate(schema, ["w"])).toMatchObject({ kind: "invalid", of: "value" });
  });

  it("W-38: distinct items are told in linear time", async () => {
    const value = times(20_000, (i) => ({ id: i, name: `n${String(i)}` }));
    expect(await promptly(() => create().validate({ uniqueItems: true }, value))).toEqual({ kind: "valid" });
    const verdict = await promptly(() => create().validate({ uniqueItems: true }, [...value, value[0]]));
    expect(verdict.kind).toBe("invalid");
  });

  it("W-38: as many subschemas as are allowed compile promptly, side by side or one inside the other", async () => {
    const properties = named(1_900, () => ({ type: "string", maxLength: 5 }));
    expect(await promptly(() => create().validate({ properties, additionalProperties: false }, { d7: "a" }))).toEqual({
      kind: "valid",
    });
    const oneOf = times(1_900, (i) => ({ const: i }));
    expect(await promptly(() => create().validate({ oneOf }, 1_899))).toEqual({ kind: "valid" });
    // Compiled code nests here, deeper than the stack: such a schema is interpreted.
    const allOf = times(1_900, (i) => ({ minimum: i }));
    expect(await promptly(() => create().validate({ allOf }, 5_000))).toEqual({ kind: "valid" });
    expect(await promptly(() => create().validate({ allOf }, 5))).toMatchObject({ kind: "invalid", of: "value" });
  });

  it("W-38: many addresses, one inside the other, are read once each", async () => {
    let schema: unknown = { type: "string" };
    for (let i = 0; i < 30; i += 1) schema = { $id: `https://a.test/${String(i)}/`, allOf: [schema] };
    expect(await promptly(() => create().validate(schema, ""))).toEqual({ kind: "valid" });
  });

  it("W-38: a value too deep for the stack is not valid", async () => {
    let value: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) value = [value];
    expect(await promptly(() => create().validate({ items: { $ref: "#" } }, value))).toMatchObject({ of: "limit" });
  });

  it("W-38: data too deep for the stack, and schemas that are no JSON, are not valid", async () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(await create().validate({ const: deep }, 1)).toMatchObject({ kind: "invalid" });
    const circle: Record<string, unknown> = {};
    circle["not"] = circle;
    expect(await create().validate(circle, 1)).toMatchObject({ kind: "invalid", of: "schema" });
  });

  it("W-38: one bad schema touches no other", async () => {
    const validator = create();
    await validator.validate({ pattern: "(" }, "");
    await validator.validate({ $ref: "#" }, "");
    expect(await validator.validate({ type: "string" }, "")).toEqual({ kind: "valid" });
  });
});
