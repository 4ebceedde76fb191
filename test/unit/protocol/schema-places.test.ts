import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_CONTRACT, isJsonObject, type JsonObject, readToolContract } from "../../../src/protocol/index.js";
import { mayHold, SCHEMA_KEYWORDS } from "../../../src/protocol/schema-places.js";

const ANNOTATION = "x-mcp-header";
const annotated = { type: "string", [ANNOTATION]: "A" };

/** The full reading, without any shortcut: every schema inside a schema, itself included. */
function schemasIn(schema: JsonObject): readonly JsonObject[] {
  const inside = Object.entries(schema).flatMap(([keyword, value]): readonly unknown[] => {
    const holds = SCHEMA_KEYWORDS.get(keyword);
    if (holds === "named") return isJsonObject(value) ? Object.values(value) : [];
    if (holds === "one") return Array.isArray(value) ? value : [value];
    return [];
  });
  return [schema, ...inside.filter(isJsonObject).flatMap(schemasIn)];
}

const hasAnnotation = (schema: JsonObject): boolean => schemasIn(schema).some((each) => each[ANNOTATION] !== undefined);

const keyword = fc.constantFrom(...SCHEMA_KEYWORDS.keys(), "default", "const", "enum", "title", "type", "__proto__");
const { schema: anySchema } = fc.letrec<{ schema: JsonObject; value: unknown }>((tie) => ({
  schema: fc
    .tuple(fc.array(fc.tuple(keyword, tie("value")), { maxLength: 4 }), fc.integer({ min: 0, max: 19 }))
    .map(([members, luck]) => {
      const text = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
      if (luck === 0) text.push(`"type":"string","${ANNOTATION}":"A"`);
      const made: unknown = JSON.parse(`{${text.join(",")}}`);
      if (!isJsonObject(made)) throw new Error("unreachable");
      return made;
    }),
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, 0, "text", ANNOTATION, [ANNOTATION]),
    tie("schema"),
    fc.array(tie("schema"), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom("a", "b", ANNOTATION, "items", "default"), tie("schema")), {
        maxLength: 3,
        selector: ([name]) => name,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

describe("mayHold", () => {
  it("W-21: sees an annotation where a full reading finds one, and nowhere else", () => {
    const seen = { with: 0, without: 0 };
    fc.assert(
      fc.property(anySchema, (schema) => {
        const expected = hasAnnotation(schema);
        seen[expected ? "with" : "without"] += 1;
        expect(mayHold(schema, ANNOTATION)).toBe(expected);
        const verdict = readToolContract(schema);
        const isPlain = verdict.kind === "valid" && verdict.contract === EMPTY_CONTRACT;
        expect(isPlain).toBe(!expected);
      }),
      { seed: 2_021, numRuns: 600 },
    );
    expect(Math.min(seen.with, seen.without)).toBeGreaterThan(60);
  });

  it.each([...SCHEMA_KEYWORDS])("W-21: looks into %s, which holds %s", (name, holds) => {
    const places = holds === "named" ? [{ n: annotated }] : [annotated, [{}, annotated]];
    for (const value of places) {
      expect(mayHold({ [name]: value }, ANNOTATION)).toBe(true);
      expect(mayHold({ properties: { p: { [name]: value } } }, ANNOTATION)).toBe(true);
    }
    const names = holds === "named" ? { [ANNOTATION]: { type: "string" } } : { [name]: {} };
    expect(mayHold({ [name]: names }, ANNOTATION)).toBe(false);
  });

  it.each(["default", "const", "enum", "examples", "x-other"])("W-21: %s is data", (name) => {
    expect(mayHold({ [name]: annotated }, ANNOTATION)).toBe(false);
    expect(mayHold({ [name]: [annotated] }, ANNOTATION)).toBe(false);
  });

  it("W-21: what is too deep is worth a reading, and costs no stack", () => {
    let schema: JsonObject = {};
    for (let depth = 0; depth < 100_000; depth += 1) {
      if (depth === 64) expect(mayHold(schema, ANNOTATION)).toBe(false);
      schema = depth % 2 === 0 ? { items: schema } : { properties: { n: schema } };
    }
    expect(mayHold(schema, ANNOTATION)).toBe(true);
  });
});
