import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ScopeGrounds, selectScopes } from "../../../../src/oauth/code-flow/index.js";

interface Row {
  readonly challenged?: string;
  readonly published?: readonly string[];
  readonly supported?: readonly string[];
  readonly before?: readonly string[];
  readonly extra?: readonly string[];
}

function grounds({ before = [], challenged, extra = [], published, supported }: Row): ScopeGrounds {
  return {
    challenged,
    resource: {
      resource: "https://mcp.example.com/mcp",
      source: undefined,
      authorizationServers: ["https://as.example.com"],
      scopesSupported: published,
      needsDpop: false,
    },
    server: { issuer: "https://as.example.com", scopes_supported: supported },
    requestedBefore: before,
    extra,
  };
}

describe("A-5: the scopes that are asked for", () => {
  it.each<[string, Row, readonly string[]]>([
    ["none where nobody names any", {}, []],
    ["the challenge's, in its order", { challenged: "files:write files:read" }, ["files:write", "files:read"]],
    ["the challenge's before those that are published", { challenged: "a", published: ["b", "c"] }, ["a"]],
    ["all that are published where the challenge names none", { published: ["b", "c"] }, ["b", "c"]],
    ["all that are published where the challenge is empty", { challenged: "", published: ["b"] }, ["b"]],
    ["all that are published where nothing in the challenge is a scope", { challenged: '"', published: ["b"] }, ["b"]],
    ["none where none are published", { published: [] }, []],
    ["never what the authorization server lists for others", { supported: ["admin", "everything"] }, []],
    ["together with those of before", { challenged: "w", before: ["r", "s"] }, ["r", "s", "w"]],
    ["those of before and the published", { before: ["r"], published: ["p"] }, ["r", "p"]],
    ["together with the application's own", { challenged: "w", extra: ["x"] }, ["w", "x"]],
    ["the application's own alone", { extra: ["x"] }, ["x"]],
    ["each once", { challenged: "a b a", before: ["b", "b"], extra: ["a", "c", "c"] }, ["b", "a", "c"]],
    ["whatever the number of spaces", { challenged: "  a   b " }, ["a", "b"]],
    ["told apart by case", { challenged: "Read read" }, ["Read", "read"]],
    [
      "without what is no scope by its characters",
      { challenged: 'a "b" c\\d é e\tf g', before: ["h i", "", "j\n"], extra: ["k&l=m", "~!"] },
      ["a", "g", "k&l=m", "~!"],
    ],
    [
      "with offline_access where it is listed",
      { challenged: "a", supported: ["offline_access"] },
      ["a", "offline_access"],
    ],
    ["without offline_access where nothing is listed", { challenged: "a" }, ["a"]],
    ["without offline_access where others are listed", { challenged: "a", supported: ["a", "openid"] }, ["a"]],
    ["without offline_access where it would be alone", { supported: ["offline_access"] }, []],
    ["without offline_access where only rubbish is there", { challenged: "é", supported: ["offline_access"] }, []],
    [
      "with offline_access to the application's own",
      { extra: ["x"], supported: ["offline_access"] },
      ["x", "offline_access"],
    ],
    [
      "with offline_access once, where it was",
      { challenged: "offline_access a", supported: ["offline_access"] },
      ["offline_access", "a"],
    ],
    [
      "with the offline_access that the challenge demands, listed or not",
      { challenged: "offline_access" },
      ["offline_access"],
    ],
  ])("%s", (_name, row, expected) => {
    expect(selectScopes(grounds(row))).toEqual(expected);
  });

  it("A-5, A-8: nothing that was requested before is ever lost, and asking again adds nothing", () => {
    const scope = fc.stringMatching(/^[!#-[\]-~]{1,8}$/);
    const scopes = fc.array(scope, { maxLength: 5 });
    fc.assert(
      fc.property(scopes, scopes, scopes, scopes, fc.string(), (before, extra, published, supported, challenged) => {
        const row = { before, extra, published, supported, challenged };
        const chosen = selectScopes(grounds(row));
        expect(chosen).toEqual(expect.arrayContaining([...before, ...extra]));
        expect(new Set(chosen).size).toBe(chosen.length);
        expect(selectScopes(grounds({ ...row, before: chosen }))).toEqual(chosen);
        expect(
          chosen
            .join(" ")
            .split(" ")
            .filter((part) => part !== ""),
        ).toEqual(chosen);
      }),
    );
  });
});
