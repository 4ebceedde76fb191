import { describe, expect, it } from "vitest";
import { DescribedListings } from "../../../../src/connector-host/aggregation/described-listings.js";
import type { DescriptionTable } from "../../../../src/connector-host/aggregation/override-descriptions.js";
import type { ListDiagnostic } from "../../../../src/connector-host/aggregation/ports.js";
import { nameListing, type RouteListing } from "../../../../src/connector-host/aggregation/route-listing.js";
import { buildNamespaceTable, createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";
import { EMPTY_CONTRACT } from "../../../../src/protocol/index.js";
import { bindingOf } from "../../../support/directory-party.js";

const namespaces = buildNamespaceTable(createInjectiveNaming(), ["a"]);

function listingOf(descriptions: Readonly<Record<string, string>>): RouteListing {
  const native = Object.entries(descriptions).map(([nativeName, description]) => {
    const inputSchema = { type: "object", properties: { p: { description: "raw p" } } };
    const definition = Buffer.from(JSON.stringify({ name: nativeName, description, inputSchema }));
    return { nativeName, contract: EMPTY_CONTRACT, definition };
  });
  return nameListing(namespaces, "a", native);
}

function party(tables: DescriptionTable[]) {
  const told: ListDiagnostic[] = [];
  const listings = new DescribedListings({
    tablesOf: () => tables,
    onDiagnostics: (_key, diagnostics) => told.push(...diagnostics),
  });
  return { told, of: (listing: RouteListing) => listings.of("a", bindingOf("s"), listing) };
}

const textsOf = ({ tools }: RouteListing) =>
  Array.from(tools.values(), ({ definition }) => {
    const { description, inputSchema } = JSON.parse(definition);
    return [description, inputSchema.properties.p.description];
  });

describe("H-34: listings as people describe them", () => {
  it("H-34: raw, then each table over those before it, and made once", () => {
    const raw = listingOf({ x: "raw x", y: "raw y" });
    const tables: DescriptionTable[] = [{ x: { description: "one", properties: { p: "p one" } } }];
    const { of, told } = party(tables);
    const one = of(raw);
    expect(textsOf(one)).toEqual([
      ["one", "p one"],
      ["raw y", "raw p"],
    ]);
    expect(of(raw)).toBe(one);
    tables.push({ x: { description: "two" } });
    expect(textsOf(of(raw))[0]).toEqual(["two", "p one"]);
    expect(one).toEqual(listingOfText(one));
    expect([new Set([raw.digest, one.digest, of(raw).digest]).size, told, textsOf(raw)[0]]).toEqual([
      3,
      [],
      ["raw x", "raw p"],
    ]);
  });

  it("H-34: one of which nothing is said is the same object", () => {
    const raw = listingOf({ x: "raw x" });
    expect(party([]).of(raw)).toBe(raw);
    expect(party([{ z: { description: "of another" } }]).of(raw)).toBe(raw);
    const none = new DescribedListings({ tablesOf: undefined, onDiagnostics: () => undefined });
    expect(none.of("a", bindingOf("s"), raw)).toBe(raw);
    // A name of every object says nothing.
    const inherited = listingOf({ constructor: "raw", toString: "raw" });
    expect(party([{ z: { description: "d" } }]).of(inherited)).toBe(inherited);
  });

  it("H-34: a tool that it does not fit is left out and told once, in whatever layer; raw is never in its place", () => {
    const raw = listingOf({ x: "raw x", y: "raw y" });
    const misfit: DescriptionTable = { x: { description: "fits", properties: { q: "no such" } } };
    const fitting: DescriptionTable = { x: { description: "fits" } };
    for (const tables of [[misfit], [misfit, fitting], [fitting, misfit]]) {
      const { of, told } = party(tables);
      expect([[...of(raw).tools.keys()], [...of(raw).tools.keys()]]).toEqual([["a_y"], ["a_y"]]);
      expect(told).toEqual([
        { kind: "unfit_description", tool: { connectorKey: "a", nativeName: "x" }, reason: expect.any(String) },
      ]);
    }
  });
});

/** A listing with its bytes and digest counted anew. */
function listingOfText({ tools }: RouteListing): RouteListing {
  const native = Array.from(tools.values(), ({ nativeName, contract, definition }) => ({
    nativeName,
    contract,
    definition: Buffer.from(definition),
  }));
  return nameListing(namespaces, "a", native);
}
