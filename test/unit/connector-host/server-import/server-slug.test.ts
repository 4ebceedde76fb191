import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";
import { isConnectorKey } from "../../../../src/connector-host/release/index.js";
import { slugOfName } from "../../../../src/connector-host/server-import/index.js";

describe("H-3: the slug for a name", () => {
  it.each(["docs", "my-server", "a.b_c", "7", "a".repeat(128)])("is the name itself when it is a key: %s", (name) => {
    expect(slugOfName(name)).toBe(name);
  });

  it.each<[string, string]>([
    ["GitHub", "github-"],
    ["My Server", "my-server-"],
    ["my server", "my-server-"],
    ["ops.report/list.v2", "ops-report-li-"],
    ["查询", "server-"],
    ["7zip!", "server-7zip-"],
    ["-x", "x-"],
    ["__proto__", "proto-"],
    ["a".repeat(129), "aaaaaaaaaaaaa-"],
    ["docs-z012345678", "docs-z0123456-"],
  ])("is a stem and a mark for %s", (name, stem) => {
    const slug = slugOfName(name);
    expect(slug.startsWith(`${stem}z`)).toBe(true);
    expect(slug.slice(stem.length)).toMatch(/^z[0-9a-v]{9}$/);
  });

  it("never changes: agents know tools by it", () => {
    expect([slugOfName("GitHub"), slugOfName("查询")]).toMatchInlineSnapshot(`
      [
        "github-zjge7ppr5d",
        "server-zd4bh8bep0",
      ]
    `);
  });

  it("is a key, the same each time, another one for each name, and readable in the names of tools", () => {
    const naming = createInjectiveNaming();
    const owners = new Map<string, string>();
    const name = fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
      fc.constantFrom("A", "a", "a ", " a", "a-", "À"),
      fc.constantFrom("GitHub", "my server").map(slugOfName),
    );
    fc.assert(
      fc.property(name, (each) => {
        const slug = slugOfName(each);
        expect(isConnectorKey(slug)).toBe(true);
        expect(slugOfName(each)).toBe(slug);
        if (slug !== each) expect(naming.namespace(slug)).toBe(slug);
        expect(owners.get(slug) ?? each).toBe(each);
        owners.set(slug, each);
      }),
      { seed: 7, numRuns: 1_000 },
    );
  });
});
