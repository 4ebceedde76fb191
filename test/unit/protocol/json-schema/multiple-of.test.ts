import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isMultipleOf } from "../../../../src/protocol/json-schema/multiple-of.js";

it.each([
  [19.99, 0.01, true],
  [0.3, 0.1, true],
  [0, 5, true],
  [-4.5, 1.5, true],
  [1e308, 0.123456789, false],
  [1e21, 10, true],
  [5e-324, 1e-323, false],
  [1.0001, 0.001, false],
])("W-38: %d and %d: %s", (value, divisor, expected) => expect(isMultipleOf(value, divisor)).toBe(expected));

it("W-38: products of decimals are multiples of both", () => {
  const digits = fc.integer({ min: 1, max: 99_999 });
  fc.assert(
    fc.property(digits, digits, fc.integer({ min: 0, max: 4 }), (a, b, places) => {
      const divisor = Number(`${String(a)}e-${String(places)}`);
      expect(isMultipleOf(Number(`${String(a * b)}e-${String(places)}`), divisor)).toBe(true);
    }),
    { seed: 1, numRuns: 500 },
  );
});
