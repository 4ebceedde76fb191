import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  buildNamespaceTable,
  buildNameTable,
  createRawNaming,
  findNativeName,
  type ToolIdentity,
} from "../../../../src/connector-host/naming/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";

const raw = createRawNaming();

function code(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isRemoteConnectorError(error) ? error.code : undefined;
  }
  return undefined;
}

describe("H-19: raw names", () => {
  it.each([
    ["github", "search_issues", "mcp__github__search_issues"],
    ["My Server", "Issue.Create", "mcp__My Server__Issue.Create"],
    ["a:b/c@d.e", "读取", "mcp__a:b/c@d.e__读取"],
    ["git", "__proto__", "mcp__git____proto__"],
    ["mcp", "mcp__x", "mcp__mcp__mcp__x"],
  ])("of %j and %j are what both are", (key, native, expected) => {
    expect(raw.namespace(key)).toBe(key);
    expect(raw.exposedName(key, native)).toBe(expected);
    expect(raw.parse(expected, new Set([key]))).toEqual({ namespace: key, rest: native });
  });

  it.each(["", "\ud800", "x".repeat(53)])("there is none for the tool %j", (native) => {
    expect(raw.exposedName("github", native)).toBeUndefined();
  });

  it("are no longer than the limit, which is 64", () => {
    expect(raw.exposedName("git", "x".repeat(54))).toHaveLength(64);
    expect(raw.exposedName("git", "x".repeat(55))).toBeUndefined();
    expect(raw.parse(`mcp__git__${"x".repeat(55)}`)).toBeUndefined();
    const free = createRawNaming({ maxNameLength: Infinity });
    const long = free.exposedName("git", "x".repeat(1_000));
    expect(long).toHaveLength(1_010);
    expect(free.parse(long ?? "")?.rest).toHaveLength(1_000);
  });

  it.each(["", "\ud800", "x".repeat(129)])("the key %j is a caller's fault", (key) => {
    expect(code(() => raw.namespace(key))).toBe("invalid_argument");
    expect(code(() => raw.exposedName(key, "x"))).toBe("invalid_argument");
  });

  it.each([[{ maxNameLength: 0 }], [{ maxLength: 64 }]])("%j is refused", (options: object) => {
    expect(code(() => createRawNaming(options))).toBe("invalid_options");
  });
});

describe("H-19: the longest known server decides", () => {
  it.each([
    ["mcp__a__b__c", ["a"], "a", "b__c"],
    ["mcp__a__b__c", ["a", "a__b"], "a__b", "c"],
    ["mcp__a__b__c", ["a", "a__b", "a__b__c"], "a__b", "c"],
    ["mcp__a__b__c", ["a__b"], "a__b", "c"],
    ["mcp__a___b", ["a"], "a", "_b"],
    ["mcp__a___b", ["a", "a_"], "a_", "b"],
    ["mcp__a__b__", ["a", "a__b"], "a", "b__"],
    ["mcp____x__y", ["__x"], "__x", "y"],
  ])("%s with %j known is of %s, and there %s", (name, known, namespace, rest) => {
    expect(raw.parse(name, new Set(known))).toEqual({ namespace, rest });
  });

  it("without known servers, the shortest", () => {
    expect(raw.parse("mcp__a__b__c")).toEqual({ namespace: "a", rest: "b__c" });
    expect(raw.parse("mcp__a___b")).toEqual({ namespace: "a", rest: "_b" });
  });

  it.each(["", "mcp__", "mcp__a", "mcp__a__", "mcp____b", "mcp_a__b", "a__b", "MCP__a__b", "mcp__c__b", "mcp__"])(
    "%j is nobody's",
    (name) => expect(raw.parse(name, new Set(["a", ""]))).toBeUndefined(),
  );

  it.each(["", "mcp__a", "mcp__a__", "mcp____b", "a__b"])("%j can't be split at all", (name) => {
    expect(raw.parse(name)).toBeUndefined();
  });

  it("a megabyte of separators is no work", () => {
    const free = createRawNaming({ maxNameLength: Infinity });
    let asked = 0;
    const known = { has: () => ((asked += 1), false) };
    expect(free.parse(`mcp__${"_".repeat(1_000_000)}`, known)).toBeUndefined();
    expect(asked).toBe(128);
  });
});

describe("H-17, H-19: a name that belongs to a longer server is not listed for a shorter one", () => {
  const tools: readonly ToolIdentity[] = [
    { connectorKey: "a", nativeName: "b__c" },
    { connectorKey: "a", nativeName: "b" },
    { connectorKey: "a__b", nativeName: "c" },
  ];
  const both = buildNamespaceTable(raw, ["a", "a__b"]);

  it("whether or not that one has such a tool", () => {
    for (const entries of [tools, tools.toReversed(), tools.slice(0, 2)]) {
      const { entries: named, diagnostics } = buildNameTable(both, entries);
      expect(named.get("mcp__a__b")).toEqual({ connectorKey: "a", nativeName: "b" });
      expect(named.get("mcp__a__b__c")).toEqual(entries.find((each) => each.connectorKey === "a__b"));
      expect(diagnostics).toEqual([
        { kind: "shadowed_tool", exposedName: "mcp__a__b__c", tool: tools[0], owner: "a__b" },
      ]);
    }
  });

  it("and a call goes where the list says", () => {
    expect(both.locate("mcp__a__b__c")).toEqual({ connectorKey: "a__b", rest: "c" });
    expect(findNativeName(both, "mcp__a__b__c", ["c"])).toEqual({ kind: "found", nativeName: "c" });
    expect(findNativeName(both, "mcp__a__b__c", [])).toEqual({ kind: "unknown" });
    const alone = buildNamespaceTable(raw, ["a"]);
    expect(findNativeName(alone, "mcp__a__b__c", ["b", "b__c"])).toEqual({ kind: "found", nativeName: "b__c" });
  });

  it("over any keys and names of these letters", () => {
    const text = fc.stringMatching(/^[ab_]{1,5}$/);
    const entry = fc.record({ connectorKey: text, nativeName: text });
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: (each) => JSON.stringify(each), maxLength: 20 }), (entries) => {
        const namespaces = buildNamespaceTable(
          raw,
          entries.map((each) => each.connectorKey),
        );
        const table = buildNameTable(namespaces, entries);
        expect(table.entries.size + table.diagnostics.length).toBe(entries.length);
        for (const each of entries) {
          const name = raw.exposedName(each.connectorKey, each.nativeName) ?? "";
          const owner = namespaces.locate(name)?.connectorKey;
          const natives = entries.filter(({ connectorKey }) => connectorKey === owner).map((one) => one.nativeName);
          const verdict = findNativeName(namespaces, name, natives);
          const called = verdict.kind === "found" ? { connectorKey: owner, nativeName: verdict.nativeName } : undefined;
          expect(called).toEqual(table.entries.get(name));
        }
      }),
      { seed: 20, numRuns: 1_000 },
    );
  });
});
