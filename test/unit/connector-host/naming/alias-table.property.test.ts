import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AliasableTool, assignAliases } from "../../../../src/connector-host/naming/index.js";

describe("H-19: any tools", () => {
  const text = fc.oneof(
    fc.stringMatching(/^[a_.-]{0,3}$/),
    fc.stringMatching(/^[st]{18,24}$/),
    fc.stringMatching(/^[s]{34,62}$/),
    fc.stringMatching(/^t{35}[tu]{1,3}$/),
    fc.string({ unit: "grapheme", maxLength: 70 }),
  );
  const tool = fc.record({ connectorKey: fc.constantFrom("a", "b", "c"), serverName: text, nativeName: text });
  const taken = fc.array(fc.constantFrom("mcp__server__tool", "mcp__a__a", "mcp__a__a__2"), { maxLength: 3 });

  it("have aliases of their own within 64 bytes, the ones that the rule says", () => {
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 30 }), taken, (all, names) => {
        const { entries, diagnostics } = assignAliases(all, { taken: names });
        for (const alias of entries.keys()) {
          expect(alias).toMatch(/^mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$/);
          expect(Buffer.byteLength(alias)).toBeLessThanOrEqual(64);
          expect(names).not.toContain(alias);
        }
        expect([...entries]).toEqual(bySearch([...entries.values()], names));
        const named = new Set(entries.values());
        const why = diagnostics.map((each) => ("tool" in each ? each.tool : undefined));
        for (const { connectorKey, nativeName } of all.filter((each) => !named.has(each))) {
          expect(why).toContainEqual({ connectorKey, nativeName });
        }
      }),
      { seed: 21, numRuns: 2_000 },
    );
  });
});

/** The rule as it is written, one suffix after the other for each tool. */
function bySearch(all: readonly AliasableTool[], names: readonly string[]): [string, AliasableTool][] {
  const taken = new Set(names);
  return all.map((each) => {
    for (let count = 1; ; count += 1) {
      const alias = written(each, count === 1 ? "" : `__${String(count)}`);
      if (taken.has(alias)) continue;
      taken.add(alias);
      return [alias, each];
    }
  });
}

function written({ serverName, nativeName }: AliasableTool, suffix: string): string {
  const server = plain(serverName) || "server";
  const tool = plain(nativeName) || "tool";
  const avail = 64 - "mcp__".length - "__".length - suffix.length;
  let s = Math.min(server.length, 20, Math.floor(avail / 2));
  const t = Math.min(tool.length, avail - s);
  s = Math.min(server.length, avail - t);
  return `mcp__${server.slice(0, s)}__${tool.slice(0, t)}${suffix}`;
}

function plain(text: string): string {
  return text
    .split(/[^A-Za-z0-9-]/)
    .filter((word) => word !== "")
    .join("_");
}
