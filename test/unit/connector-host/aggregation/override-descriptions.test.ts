import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DescriptionOverride,
  overrideDescriptions,
} from "../../../../src/connector-host/aggregation/override-descriptions.js";

const fits = (definition: string, override: DescriptionOverride): string => {
  const verdict = overrideDescriptions(definition, override);
  if (verdict.kind === "misfit") throw new Error(verdict.reason);
  return verdict.definition;
};

/** A JSON text whose places for descriptions are known: `undefined` is where one goes. */
type Piece = string | { readonly of: string | undefined };

const key = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "description", "properties", "inputSchema", 'é\n"', ""),
  fc.string({ maxLength: 6 }),
);
const space = fc.constantFrom("", " ", "\n\t", "  ");
/** Members that are nobody's business, written in ways that `JSON.stringify` would not write. */
const value = fc.constantFrom(
  "1.0e2",
  "18446744073709551616",
  '"\\u0041\\/"',
  "[ 1 , {} ]",
  '{"a":{"description":"d"}}',
  "null",
);

interface Property {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly space: string;
}

const property: fc.Arbitrary<Property> = fc.record({ name: key, before: value, after: value, space });

/** A definition in which every description stands between other members, and the pieces that it is made of. */
function piecesOf(properties: readonly Property[], gap: string): readonly Piece[] {
  const pieces: Piece[] = [
    `{${gap}"a":1.50,"description"${gap}:${gap}`,
    { of: undefined },
    `,"inputSchema":${gap}{"x":-0,"properties":{`,
  ];
  properties.forEach(({ name, before, after, space: inner }, index) => {
    const comma = index === 0 ? "" : `,${inner}`;
    pieces.push(
      `${comma}${JSON.stringify(name)}:{"q":${before},${inner}"description":`,
      { of: name },
      `,"r":${after}}`,
    );
  });
  return [...pieces, `},"type":"object"},"z":18446744073709551616${gap}}`];
}

const textOf = (pieces: readonly Piece[], say: (name: string | undefined) => string): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : JSON.stringify(say(piece.of)))).join("");

describe("H-34: descriptions in a definition", () => {
  it("H-34: every other byte stays, whatever is said of what", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(property, { selector: ({ name }) => name, minLength: 1, maxLength: 5 }),
        space,
        fc.option(fc.string(), { nil: undefined }),
        fc.array(fc.string(), { minLength: 5, maxLength: 5 }),
        fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
        (properties, gap, own, texts, chosen) => {
          const pieces = piecesOf(properties, gap);
          const said = new Map<string | undefined, string>();
          if (own !== undefined) said.set(undefined, own);
          properties.forEach(({ name }, index) => {
            if (chosen[index] === true) said.set(name, texts[index] ?? "");
          });
          const named = [...said].flatMap(([name, text]) => (name === undefined ? [] : [[name, text] as const]));
          const override: DescriptionOverride = {
            description: own,
            properties: named.length === 0 ? undefined : Object.fromEntries(named),
          };
          const before = textOf(pieces, (name) => `raw ${String(name)}`);
          const expected = textOf(pieces, (name) => said.get(name) ?? `raw ${String(name)}`);
          expect(fits(before, override)).toBe(expected);
        },
      ),
      { seed: 34 },
    );
  });

  it("H-34: what has none gets one, and parses to the same but for that", () => {
    const definition = '{"name":"x","inputSchema":{"type":"object","properties":{"a":{},"b":{"type":"string"}}}}';
    const changed = fits(definition, { description: "of x", properties: { a: "of a", b: "of b" } });
    expect(JSON.parse(changed)).toEqual({
      name: "x",
      description: "of x",
      inputSchema: {
        type: "object",
        properties: { a: { description: "of a" }, b: { type: "string", description: "of b" } },
      },
    });
    expect(fits(definition, {})).toBe(definition);
  });

  it("H-34: of members that are there twice the last counts, as it does for a parser", () => {
    const twice =
      '{"inputSchema":{"properties":{"b":{}}},"inputSchema":{"properties":{"a":1,"a":{"description":"r"}}}}';
    const changed = fits(twice, { properties: { a: "said" } });
    expect(JSON.parse(changed)).toEqual({ inputSchema: { properties: { a: { description: "said" } } } });
    expect(overrideDescriptions(twice, { properties: { b: "said" } }).kind).toBe("misfit");
  });

  it.each([
    ["a property that is not there", '{"inputSchema":{"properties":{"b":{}}}}'],
    ["a property that is no object", '{"inputSchema":{"properties":{"a":true}}}'],
    ["a property further down", '{"inputSchema":{"properties":{"b":{"properties":{"a":{}}}}}}'],
    ["properties that are no object", '{"inputSchema":{"properties":[]}}'],
    ["no properties", '{"inputSchema":{}}'],
    ["no schema", "{}"],
    ["a schema that is no object", '{"inputSchema":"{}"}'],
  ])("H-34: %s is not said of: nothing is, then", (_what, definition) => {
    const verdict = overrideDescriptions(definition, { description: "d", properties: { a: "said" } });
    expect(verdict).toEqual({
      kind: "misfit",
      reason: expect.stringContaining("inputSchema has no object as propert"),
    });
  });
});
