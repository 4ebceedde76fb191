import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  buildNamespaceTable,
  buildNameTable,
  createInjectiveNaming,
  createRawNaming,
  findNativeName,
  type NamingPolicy,
  type ToolIdentity,
} from "../../../../src/connector-host/naming/index.js";

const injective = createInjectiveNaming();

/** A policy that forgets a lot: namespaces are first letters, names the lower-case first three of a tool. */
const forgetful: NamingPolicy = {
  namespace: (key) => key.slice(0, 1),
  exposedName: (key, native) => (native === "" ? undefined : `${key.slice(0, 1)}_${native.slice(0, 3).toLowerCase()}`),
  parse: (name) => ({ namespace: name.slice(0, 1), rest: name.slice(2) }),
};

/** A policy for one connector alone: its names are what its server calls them. */
const unchanged: NamingPolicy = {
  namespace: () => "",
  exposedName: (_, native) => (native === "" ? undefined : native),
  parse: (name) => ({ namespace: "", rest: name }),
};

function tools(...pairs: readonly [string, string][]): ToolIdentity[] {
  return pairs.map(([connectorKey, nativeName]) => ({ connectorKey, nativeName }));
}

function tableOf(policy: NamingPolicy, entries: readonly ToolIdentity[]) {
  const namespaces = buildNamespaceTable(
    policy,
    entries.map((entry) => entry.connectorKey),
  );
  return { namespaces, table: buildNameTable(namespaces, entries) };
}

describe("H-17: a list names its tools", () => {
  it("sorted, and a + b_c is not a_b + c", () => {
    const { table } = tableOf(injective, tools(["a_b", "c"], ["git", "x"], ["a", "b_c"], ["git", "X"]));
    const names = [...table.entries.keys()];
    expect(names).toEqual(names.toSorted());
    expect(names).toHaveLength(4);
    expect(table.entries.get("a_b_c")).toEqual({ connectorKey: "a", nativeName: "b_c" });
    expect(table.diagnostics).toEqual([]);
  });

  it("keeps what an entry carries", () => {
    const entry = { connectorKey: "git", nativeName: "x", schema: { type: "object" } };
    const namespaces = buildNamespaceTable(injective, ["git"]);
    expect(buildNameTable(namespaces, [entry]).entries.get("git_x")).toBe(entry);
  });

  it("leaves out a tool without a usable name, and says so", () => {
    const { table } = tableOf(injective, tools(["git", ""], ["git", "\ud800"], ["git", "x"]));
    expect([...table.entries.keys()]).toEqual(["git_x"]);
    expect(table.diagnostics.map((each) => each.kind)).toEqual(["unnamable_tool", "unnamable_tool"]);
  });

  it("H-18: native names of the language's own are ordinary names", () => {
    const natives = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];
    const { namespaces, table } = tableOf(
      injective,
      natives.map((nativeName) => ({ connectorKey: "git", nativeName })),
    );
    expect(table.entries.size).toBe(natives.length);
    for (const [name, { nativeName }] of table.entries) {
      expect(findNativeName(namespaces, name, natives)).toEqual({ kind: "found", nativeName });
    }
    expect(buildNamespaceTable(injective, []).locate("constructor_x")).toBeUndefined();
    expect(findNativeName(namespaces, "git_constructor", [])).toEqual({ kind: "unknown" });
  });
});

describe("H-17: a collision leaves out every claimant, in list and call alike", () => {
  it("of two tools", () => {
    const entries = tools(["git", "Search"], ["git", "other"], ["git", "sea"]);
    const { namespaces, table } = tableOf(forgetful, entries);
    expect([...table.entries.keys()]).toEqual(["g_oth"]);
    expect(table.diagnostics).toEqual([
      {
        kind: "name_collision",
        exposedName: "g_sea",
        claimants: [
          { connectorKey: "git", nativeName: "Search" },
          { connectorKey: "git", nativeName: "sea" },
        ],
      },
    ]);
    expect(findNativeName(namespaces, "g_sea", ["sea", "other", "Search"])).toEqual({
      kind: "ambiguous",
      nativeNames: ["Search", "sea"],
    });
  });

  it("of two connectors, whose other tools go too", () => {
    const entries = tools(["git", "one"], ["gut", "two"], ["hub", "three"]);
    const { namespaces, table } = tableOf(forgetful, entries);
    expect([...table.entries.keys()]).toEqual(["h_thr"]);
    expect(namespaces.diagnostics).toEqual([
      { kind: "namespace_collision", namespace: "g", connectorKeys: ["git", "gut"] },
    ]);
    expect(namespaces.locate("g_one")).toBeUndefined();
    expect(namespaces.namespaceOf("git")).toBeUndefined();
    expect(findNativeName(namespaces, "g_one", ["one"])).toEqual({ kind: "unknown" });
  });

  it("of a connector whose tools this list does not hold", () => {
    const namespaces = buildNamespaceTable(forgetful, ["git", "gut"]);
    expect(buildNameTable(namespaces, tools(["git", "one"])).entries.size).toBe(0);
  });

  it("of everybody, when a policy for one connector has two", () => {
    const alone = tableOf(unchanged, tools(["git", "x"], ["git", "__proto__"]));
    expect([...alone.table.entries.keys()]).toEqual(["__proto__", "x"]);
    expect(findNativeName(alone.namespaces, "x", ["x"])).toEqual({ kind: "found", nativeName: "x" });
    const { namespaces, table } = tableOf(unchanged, tools(["git", "x"], ["hub", "y"]));
    expect(table.entries.size).toBe(0);
    expect(namespaces.diagnostics).toEqual([
      { kind: "namespace_collision", namespace: "", connectorKeys: ["git", "hub"] },
    ]);
    expect(findNativeName(namespaces, "x", ["x"])).toEqual({ kind: "unknown" });
  });

  it("of a tool that came twice", () => {
    const { namespaces, table } = tableOf(injective, tools(["git", "x"], ["git", "x"]));
    expect(table.entries.size).toBe(0);
    expect(findNativeName(namespaces, "git_x", ["x", "x"]).kind).toBe("ambiguous");
  });
});

const key = fc.constantFrom("git", "gut", "hub", "h", "a_b", "a", "a-b", "constructor", "__proto__");
const native = fc.constantFrom(
  "Sea",
  "search",
  "sea",
  "",
  "b_c",
  "c",
  "__proto__",
  "\ud800",
  "读",
  "读取",
  "x y",
  "x_y",
);
const entry = fc.record({ connectorKey: key, nativeName: native });

describe.each([
  ["injective", injective],
  ["forgetful", forgetful],
  ["raw", createRawNaming()],
])("H-17, H-18: with the %s policy", (_, policy) => {
  it("order never matters, and a call finds exactly what a list shows", () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 12 }),
        fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
        (entries, order) => {
          const shuffled = entries
            .map((each, index) => ({ each, at: order[index] ?? 0 }))
            .sort((a, b) => a.at - b.at)
            .map(({ each }) => each);
          const { namespaces, table } = tableOf(policy, entries);
          const other = tableOf(policy, shuffled);
          expect([...other.table.entries]).toEqual([...table.entries]);
          expect(other.table.diagnostics).toEqual(table.diagnostics);
          expect(other.namespaces.diagnostics).toEqual(namespaces.diagnostics);
          for (const { connectorKey, nativeName } of entries) {
            const name = policy.exposedName(connectorKey, nativeName);
            if (name === undefined) continue;
            const owner = namespaces.locate(name)?.connectorKey;
            const natives = entries.filter((each) => each.connectorKey === owner).map((each) => each.nativeName);
            const verdict = findNativeName(namespaces, name, natives);
            const listed = table.entries.get(name);
            expect(verdict.kind === "found").toBe(listed !== undefined);
            if (verdict.kind === "found") {
              expect({ connectorKey: owner, nativeName: verdict.nativeName }).toEqual(listed);
            }
          }
        },
      ),
      { seed: 19, numRuns: 500 },
    );
  });
});
