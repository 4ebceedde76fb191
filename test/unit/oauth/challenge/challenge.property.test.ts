import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AuthenticationChallenge,
  parseWwwAuthenticate,
  readChallenges,
} from "../../../../src/oauth/challenge/index.js";

const RUNS = { numRuns: 400, seed: 7 };

const token = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,8}$/);
const space = fc.constantFrom("", " ", "\t", "  ");
const value = fc.stringMatching(/^[ -~]{0,12}$/);

interface Spelling {
  readonly challenge: AuthenticationChallenge;
  readonly text: string;
}

const parameter = fc.record({
  name: token,
  value,
  before: space,
  after: space,
  quoted: fc.boolean(),
  escapes: fc.boolean(),
});
const separator = fc.constantFrom(",", ", ", " ,\t", ",, ", " , ,");

const withParameters: fc.Arbitrary<Spelling> = fc
  .record({ scheme: token, parameters: fc.array(parameter, { maxLength: 4 }), separator })
  .map(({ scheme, parameters, separator: between }) => ({
    challenge: {
      scheme: scheme.toLowerCase(),
      token68: undefined,
      parameters: parameters.map((each) => [each.name.toLowerCase(), each.value] as const),
    },
    text: `${scheme} ${parameters.map(spell).join(between)}`,
  }));

const withToken68: fc.Arbitrary<Spelling> = fc
  .record({ scheme: token, token68: fc.stringMatching(/^[A-Za-z0-9\-._~+/]{1,8}={0,2}$/) })
  .map(({ scheme, token68 }) => ({
    challenge: { scheme: scheme.toLowerCase(), token68, parameters: [] },
    text: `${scheme} ${token68}`,
  }));

type Parameter = typeof parameter extends fc.Arbitrary<infer P> ? P : never;

function spell({ name, value: text, before, after, quoted, escapes }: Parameter): string {
  const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
  const escaped = text.replaceAll(escapes ? /[\s\S]/g : /["\\]/g, "\\$&");
  return `${name}${before}=${after}${isToken && !quoted ? text : `"${escaped}"`}`;
}

describe("challenges", () => {
  it("A-1: whatever is spelt by the grammar is read as it was meant, in one field or several", () => {
    const spellings = fc.array(fc.oneof(withParameters, withToken68), { maxLength: 4 });
    fc.assert(
      fc.property(spellings, separator, (all, between) => {
        const expected = all.map(({ challenge }) => challenge);
        const texts = all.map(({ text }) => text);
        expect(parseWwwAuthenticate(texts)).toEqual(expected);
        expect(parseWwwAuthenticate([texts.join(between)])).toEqual(expected);
      }),
      RUNS,
    );
  });

  it("A-1: nothing that a header can hold throws, or gives what is not in it", () => {
    const pieces = fc.constantFrom(
      "Bearer ",
      "DPoP",
      "resource_metadata",
      "scope",
      "=",
      '"',
      "\\",
      ",",
      " ",
      "\t",
      "/",
      "u",
      "é",
    );
    const garbage = fc.oneof(
      fc.string(),
      fc.array(pieces).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(fc.array(garbage, { maxLength: 4 }), (fields) => {
        for (const { scheme, parameters } of parseWwwAuthenticate(fields)) {
          expect(fields.join("\n").toLowerCase()).toContain(scheme);
          for (const [name] of parameters) expect(fields.join("\n").toLowerCase()).toContain(name);
        }
        const { scope, error, resourceMetadata } = readChallenges(fields);
        for (const text of [scope, error, ...resourceMetadata]) expect(text).not.toBe("");
      }),
      RUNS,
    );
  });
});
