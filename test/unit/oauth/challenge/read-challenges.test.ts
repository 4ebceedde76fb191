import { describe, expect, it } from "vitest";
import { readChallenges } from "../../../../src/oauth/challenge/index.js";

describe("readChallenges", () => {
  it("A-1: finds each place of metadata in order, whatever is around it", () => {
    const field =
      'Negotiate, Basic realm="a, b", bearer Resource_Metadata = "u1", error="invalid_token", resource_metadata="u2"';
    expect(readChallenges([field])).toEqual({
      schemes: new Set(["bearer"]),
      resourceMetadata: ["u1", "u2"],
      scope: undefined,
      error: "invalid_token",
    });
  });

  it.each<[string, string[], Partial<ReturnType<typeof readChallenges>>]>([
    ["nothing", [], { schemes: new Set(), resourceMetadata: [] }],
    ["no challenge of ours", ['Basic resource_metadata="u", scope="s", error="e"'], { schemes: new Set() }],
    ["a bare Bearer", ["Bearer"], { schemes: new Set(["bearer"]) }],
    [
      "Bearer and DPoP alike",
      ['DPoP algs="ES256", resource_metadata="u1", scope="a"', 'Bearer resource_metadata="u2", scope="b", error="e"'],
      { schemes: new Set(["dpop", "bearer"]), resourceMetadata: ["u1", "u2"], scope: "a", error: "e" },
    ],
    [
      "the first of several",
      ['Bearer scope="a", scope="b", error=x, error=y'],
      { scope: "a", error: "x", schemes: new Set(["bearer"]) },
    ],
    [
      "blank ones as none",
      ['Bearer scope=" ", error="", resource_metadata=""', "DPoP scope=s"],
      { scope: "s", schemes: new Set(["bearer", "dpop"]) },
    ],
    [
      "no text of other parameters",
      [
        String.raw`Bearer error_description="see resource_metadata=\"evil\", scope=\"evil\"", realm="x, Bearer scope=evil"`,
      ],
      { schemes: new Set(["bearer"]) },
    ],
    [
      "the same place once",
      ["Bearer resource_metadata=u", "DPoP resource_metadata=u"],
      { schemes: new Set(["bearer", "dpop"]), resourceMetadata: ["u"] },
    ],
    ["scopes as they came", ['Bearer scope="b  a"'], { schemes: new Set(["bearer"]), scope: "b  a" }],
  ])("A-1: hears %s", (_what, fields, expected) => {
    expect(readChallenges(fields)).toEqual({
      resourceMetadata: [],
      scope: undefined,
      error: undefined,
      ...expected,
    });
  });

  it("A-1: takes no more than 8 places", () => {
    const many = Array.from({ length: 20 }, (_, i) => `resource_metadata="u${i}"`);
    expect(readChallenges([`Bearer ${many.join(", ")}`]).resourceMetadata).toEqual(
      Array.from({ length: 8 }, (_, i) => `u${i}`),
    );
  });
});
