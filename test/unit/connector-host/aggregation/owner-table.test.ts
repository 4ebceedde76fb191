import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OwnerTable, type ResourceOwner } from "../../../../src/connector-host/aggregation/owner-table.js";
import { parseUriTemplate, type UriTemplate } from "../../../../src/connector-host/aggregation/uri-template.js";

const owner = (connectorKey: string, scope = "device"): ResourceOwner => ({ connectorKey, scope });

function templates(...texts: string[]): ReadonlyMap<string, UriTemplate> {
  return new Map(
    texts.flatMap((text) => {
      const template = parseUriTemplate(text);
      return template === undefined ? [] : [[text, template] as const];
    }),
  );
}

describe("H-28: whose a resource is", () => {
  it("belongs to everyone who showed it, in a list or in a result", () => {
    const table = new OwnerTable(10);
    table.list(owner("b"), new Set(["x:1", "x:2"]));
    table.see(owner("a"), "x:1");
    table.see(owner("a"), "x:1");
    expect(table.ownersOf("x:1")).toEqual([owner("a"), owner("b")]);
    expect(table.ownersOf("x:2")).toEqual([owner("b")]);
    expect(table.ownersOf("x:3")).toEqual([]);
  });

  it("belongs by a template only when nobody showed it", () => {
    const table = new OwnerTable(10);
    table.listTemplates(owner("a"), templates("x:{id}"));
    expect(table.ownersOf("x:1")).toEqual([owner("a")]);
    table.list(owner("b"), new Set(["x:1"]));
    expect(table.ownersOf("x:1")).toEqual([owner("b")]);
    expect(table.ownersOfTemplate("x:{id}")).toEqual([owner("a")]);
    expect(table.ownersOfTemplate("x:{other}")).toEqual([]);
  });

  it("does not belong to who lists it no more, nor to who does not count", () => {
    const table = new OwnerTable(10);
    table.list(owner("a"), new Set(["x:1"]));
    table.list(owner("a"), new Set(["x:2"]));
    expect(table.ownersOf("x:1")).toEqual([]);
    table.listTemplates(owner("a"), templates("y:{id}"));
    table.listTemplates(owner("a"), templates());
    expect(table.ownersOf("y:1")).toEqual([]);
    table.see(owner("a", "account:other"), "x:2");
    expect(table.ownersOf("x:2", ({ scope }) => scope !== "device")).toEqual([owner("a", "account:other")]);
  });

  it("H-16: of one that ever other connectors show in results it remembers the last 64", () => {
    const table = new OwnerTable(2);
    for (let index = 0; index < 100; index += 1) table.see(owner(`c${String(index)}`), "x:1");
    table.see(owner("c50"), "x:1");
    table.see(owner("new"), "x:1");
    const keys = table.ownersOf("x:1").map(({ connectorKey }) => connectorKey);
    expect(keys).toHaveLength(64);
    expect(["c36", "c37", "c50", "c99", "new"].map((key) => keys.includes(key))).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  it("H-16: forgets what was shown longest ago, of each kind", () => {
    const table = new OwnerTable(2);
    for (const uri of ["x:1", "x:2", "x:1", "x:3"]) table.see(owner("a"), uri);
    expect(["x:1", "x:2", "x:3"].map((uri) => table.ownersOf(uri).length)).toEqual([1, 0, 1]);
    table.list(owner("b"), new Set(["y:1", "y:2"]));
    table.list(owner("c"), new Set(["y:3"]));
    expect(["y:1", "y:3"].map((uri) => table.ownersOf(uri).length)).toEqual([0, 1]);
    table.list(owner("d"), new Set(["z:1", "z:2", "z:3"]));
    expect(["y:3", "z:1"].map((uri) => table.ownersOf(uri).length)).toEqual([0, 0]);
  });
});

it("H-28: as long as nothing has to be forgotten, it knows exactly what was shown, whatever the order", () => {
  const key = fc.constantFrom("a", "b", "c");
  const uri = fc.constantFrom("x:1", "x:2", "x:3", "x:4");
  const template = fc.constantFrom("x:{id}", "{+all}", "y:{id}");
  const step = fc.oneof(
    fc.record({ kind: fc.constant("see" as const), key, uri }),
    fc.record({ kind: fc.constant("list" as const), key, uris: fc.uniqueArray(uri) }),
    fc.record({ kind: fc.constant("templates" as const), key, texts: fc.uniqueArray(template) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const table = new OwnerTable(100);
      const seen = new Map<string, Set<string>>();
      const listed = new Map<string, readonly string[]>();
      const offered = new Map<string, readonly string[]>();
      for (const one of steps) {
        if (one.kind === "see") {
          table.see(owner(one.key), one.uri);
          seen.set(one.key, (seen.get(one.key) ?? new Set()).add(one.uri));
        } else if (one.kind === "list") {
          table.list(owner(one.key), new Set(one.uris));
          listed.set(one.key, one.uris);
        } else {
          table.listTemplates(owner(one.key), templates(...one.texts));
          offered.set(one.key, one.texts);
        }
      }
      for (const asked of ["x:1", "x:2", "x:3", "x:4", "y:1", "z:1"]) {
        const keys = ["a", "b", "c"];
        const shown = keys.filter((one) => seen.get(one)?.has(asked) === true || listed.get(one)?.includes(asked));
        const byTemplate = keys.filter((one) =>
          (offered.get(one) ?? []).some((text) => text === "{+all}" || asked.startsWith(text.slice(0, 2))),
        );
        const expected = shown.length > 0 ? shown : byTemplate;
        expect(table.ownersOf(asked).map(({ connectorKey }) => connectorKey)).toEqual(expected);
      }
    }),
    { numRuns: 500 },
  );
});
