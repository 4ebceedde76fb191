import { describe, expect, it } from "vitest";
import { PermittedListings } from "../../../../src/connector-host/aggregation/permitted-listings.js";
import { nameListing } from "../../../../src/connector-host/aggregation/route-listing.js";
import { buildNamespaceTable, createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";
import { EMPTY_CONTRACT } from "../../../../src/protocol/index.js";

const namespaces = buildNamespaceTable(createInjectiveNaming(), ["a"]);

function listingOf(...names: readonly string[]) {
  const native = names.map((nativeName) => ({
    nativeName,
    contract: EMPTY_CONTRACT,
    definition: Buffer.from(JSON.stringify({ name: nativeName, description: "ä" })),
  }));
  return nameListing(namespaces, "a", native);
}

function party(off: ReadonlySet<string>) {
  let version = 1;
  let asked = 0;
  const listings = new PermittedListings({
    ofTool(_key, nativeName) {
      asked += 1;
      return off.has(nativeName) ? "off" : "ask";
    },
    mayHoldTools: () => true,
    version: () => version,
    pins: () => undefined,
  });
  return { listings, change: () => (version += 1), asked: () => asked };
}

describe("H-31: what of a listing may be seen", () => {
  it("is a listing like one that has only that: bytes, digest and order", () => {
    const { listings } = party(new Set(["b.x", "d"]));
    expect(listings.of("a", listingOf("d", "c", "b.x", "a"))).toEqual(listingOf("a", "c"));
    expect(listings.of("a", listingOf("d")).digest).toBe("");
  });

  it("is the same object when it is everything, and is found once for each version of the rules", () => {
    const off = new Set<string>();
    const { listings, change, asked } = party(off);
    const listing = listingOf("a", "b");
    expect([listings.of("a", listing), listings.of("a", listing)]).toEqual([listing, listing]);
    expect(listings.of("a", listing)).toBe(listing);
    expect(asked()).toBe(2);
    off.add("b");
    change();
    expect([...listings.of("a", listing).tools.keys()]).toEqual(["a_a"]);
    expect(new PermittedListings(undefined).of("a", listing)).toBe(listing);
  });
});
