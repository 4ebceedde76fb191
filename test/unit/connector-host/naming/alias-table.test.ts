import { describe, expect, it } from "vitest";
import { type AliasableTool, assignAliases, keepAdvertised } from "../../../../src/connector-host/naming/index.js";

/** Tools by their servers' names; each server has a key of its own. */
function tools(...pairs: readonly (readonly [server: string, native: string])[]): AliasableTool[] {
  return pairs.map(([serverName, nativeName], index) => ({
    connectorKey: `key-${String(index)}`,
    serverName,
    nativeName,
  }));
}

function aliases(...pairs: readonly (readonly [server: string, native: string])[]): string[] {
  return [...assignAliases(tools(...pairs)).entries.keys()];
}

describe("H-19: aliases", () => {
  it.each([
    ["my server", "issue.create", "mcp__my_server__issue_create"],
    ["my  --  server!", "a__b", "mcp__my_--_server__a_b"],
    ["_x_", "..y..", "mcp__x__y"],
    ["钉钉", "读取", "mcp__server__tool"],
    ["", "!", "mcp__server__tool"],
    ["GitHub-1", "Search-Issues", "mcp__GitHub-1__Search-Issues"],
    ["git", "__proto__", "mcp__git__proto"],
    ["é", "é", "mcp__server__tool"],
    ["aéb", "\u0130x", "mcp__a_b__x"],
  ])("of %j and %j", (server, native, expected) => {
    expect(aliases([server, native])).toEqual([expected]);
  });

  it("a second that collides gets __2, a third __3", () => {
    const colliding = ["issue.create", "issue create", "issue_create"].map((native) => ["my server", native] as const);
    expect(aliases(...colliding)).toEqual([
      "mcp__my_server__issue_create",
      "mcp__my_server__issue_create__2",
      "mcp__my_server__issue_create__3",
    ]);
  });

  it("the host's own tools keep their names", () => {
    const taken = ["mcp__git__x", "mcp__git__x__3"];
    const { entries } = assignAliases(tools(["git", "x"], ["git", "x."], ["git", ".x"]), { taken });
    expect([...entries.keys()]).toEqual(["mcp__git__x__2", "mcp__git__x__4", "mcp__git__x__5"]);
  });

  it.each([
    // 57 characters for both: the tool takes what it needs, and at most what a server of 20 leaves.
    ["s".repeat(30), "t".repeat(10), 30, 10],
    ["s".repeat(60), "t".repeat(10), 47, 10],
    ["s".repeat(60), "t".repeat(60), 20, 37],
    ["s".repeat(10), "t".repeat(60), 10, 47],
    ["s".repeat(21), "t".repeat(37), 20, 37],
    ["s".repeat(21), "t".repeat(36), 21, 36],
  ])("shortens %s and %s", (server, native, serverLength, nativeLength) => {
    const [alias] = aliases([server, native]);
    expect(alias).toBe(`mcp__${"s".repeat(serverLength)}__${"t".repeat(nativeLength)}`);
  });

  it("makes room for the suffix", () => {
    const [first, second] = aliases(["s".repeat(60), "t".repeat(60)], ["s".repeat(60), "t".repeat(60)]);
    expect(first).toBe(`mcp__${"s".repeat(20)}__${"t".repeat(37)}`);
    expect(second).toBe(`mcp__${"s".repeat(20)}__${"t".repeat(34)}__2`);
  });

  it("tools of servers that people call the same are told apart", () => {
    const { entries } = assignAliases(tools(["Files", "read"], ["Files", "read"]));
    expect([...entries].map(([alias, { connectorKey }]) => [alias, connectorKey])).toEqual([
      ["mcp__Files__read", "key-0"],
      ["mcp__Files__read__2", "key-1"],
    ]);
  });

  it("leaves out what has no name, and all of what comes twice, and says so", () => {
    const twice = { connectorKey: "git", serverName: "git", nativeName: "x" };
    const { entries, diagnostics } = assignAliases([
      twice,
      ...tools(["git", ""], ["git", "\ud800"], ["git", "y"]),
      { ...twice, serverName: "other" },
    ]);
    expect([...entries.keys()]).toEqual(["mcp__git__y"]);
    expect(diagnostics).toEqual([
      { kind: "repeated_tool", tool: { connectorKey: "git", nativeName: "x" } },
      { kind: "unnamable_tool", tool: { connectorKey: "key-0", nativeName: "" } },
      { kind: "unnamable_tool", tool: { connectorKey: "key-1", nativeName: "\ud800" } },
    ]);
  });

  it("an option that there is not is refused", () => {
    const options: object = { reserved: ["x"] };
    expect(() => assignAliases([], options)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });

  it("that are cut to one text share their numbers", () => {
    const [server, stem] = ["s".repeat(20), "t".repeat(34)];
    const pairs = ["ttt", "ttt.", "ttu", "ttu."].map((end) => [server, stem + end] as const);
    expect(aliases(...pairs)).toEqual(["ttt", "__2", "ttu", "__3"].map((end) => `mcp__${server}__${stem}${end}`));
  });

  it.each([
    ["all want one", (index: number) => `${"t".repeat(60)}${String(index)}`],
    [
      "want one by twos",
      (index: number) => `${"t".repeat(32)}${String(Math.floor(index / 2) + 10_000)}${"u".repeat(index % 2)}`,
    ],
  ])("of 20,000 tools that %s are found without trying each again", (_, native) => {
    const server = "s".repeat(20);
    const many = Array.from({ length: 20_000 }, (__, index) => [server, native(index)] as const);
    const found = aliases(...many);
    expect(found.length).toBe(20_000);
    expect(Math.max(...found.map((alias) => alias.length))).toBe(64);
  });
});

describe("H-19: what is left of a round's aliases", () => {
  it("is what was advertised exactly once", () => {
    const table = assignAliases(tools(["git", "kept"], ["git", "gone"], ["git", "doubled"], ["git", "renamed"]));
    const names = ["mcp__git__doubled", "mcp__git__kept", "own", "mcp__git__doubled", "mcp__git__Renamed", "own"];
    const left = keepAdvertised(table, names);
    expect([...left].map(([alias, { nativeName }]) => [alias, nativeName])).toEqual([["mcp__git__kept", "kept"]]);
  });
});
