import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createAjvValidator, createInterpretingValidator } from "../../../src/protocol/json-schema/index.js";

const names = fc.constantFrom("a", "b", "c", "__proto__", "toString");
const scalars = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, 1.5, -2, "", "a", "ab", "😀"),
  fc.integer({ min: -5, max: 5 }),
);
const objectOf = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(names, values), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalars, fc.array(tie("value"), { maxLength: 4 }), objectOf(tie("value"))),
}));

/** Some of each keyword, few enough that combinations meet. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const one = tie("schema");
  const list = fc.array(one, { minLength: 1, maxLength: 3 });
  return {
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.boolean(),
      fc
        .record(
          {
            type: fc.constantFrom("object", "array", "string", "integer", "number"),
            enum: fc.array(value, { minLength: 1, maxLength: 3 }),
            minimum: fc.integer({ min: -3, max: 3 }),
            multipleOf: fc.constantFrom(2, 0.5),
            minLength: fc.constantFrom(1, 2),
            maxLength: fc.constantFrom(1, 2),
            pattern: fc.constantFrom("^a", "b$", "."),
            required: fc.uniqueArray(names, { maxLength: 2 }),
            properties: objectOf(one),
            patternProperties: fc.constantFrom({}, { "^a": true }, { "^[a-b]$": { type: "number" } }),
            additionalProperties: one,
            unevaluatedProperties: one,
            propertyNames: one,
            prefixItems: list,
            items: one,
            contains: one,
            uniqueItems: fc.boolean(),
            allOf: list,
            anyOf: list,
            oneOf: list,
            not: one,
            if: one,
            // oxlint-disable-next-line unicorn/no-thenable -- a keyword
            then: one,
            else: one,
            $ref: fc.constantFrom("#/$defs/x"),
          },
          { requiredKeys: [] },
        )
        .map((keywords) => {
          // A few at a time: all together nothing is ever valid.
          const entries = Object.entries(keywords);
          return Object.fromEntries(entries.filter((__, i) => i % 3 === entries.length % 3 || i < 2));
        }),
    ),
  };
});

it("W-38: compiled and interpreted, a schema says the same of a value", async () => {
  const compiled = createAjvValidator();
  const interpreted = createInterpretingValidator();
  const seen = { valid: 0, invalid: 0 };
  await fc.assert(
    fc.asyncProperty(schema, value, async (root, subject) => {
      const whole = { $defs: { x: { type: ["string", "array"], maxItems: 2 } }, allOf: [root] };
      const first = await compiled.validate(whole, subject);
      const second = await interpreted.validate(whole, subject);
      if (first.kind === "valid") seen.valid += 1;
      else seen.invalid += 1;
      expect({ ...first, problems: [] }).toEqual({ ...second, problems: [] });
    }),
    { seed: 20260728, numRuns: 600 },
  );
  // The property means something only when both happen.
  expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(60);
});
