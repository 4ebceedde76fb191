import { describe, expect, it } from "vitest";
import { Catalogs } from "../../../../src/connector-host/aggregation/catalogs.js";
import type { RouteListing } from "../../../../src/connector-host/aggregation/route-listing.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

const MIB = 1024 * 1024;
// Never asked: catalogs are published by hand.
const client = new ModernStreamableHTTPClient({
  endpoint: "http://127.0.0.1:9",
  clientInfo: { name: "test", version: "1" },
});

const routeOf = (connectorKey: string, releaseDigest = "d"): Route<RemoteMcpClient> =>
  new Route<RemoteMcpClient>({
    connectorKey,
    scope: "device",
    scopeEpoch: "e",
    generation: 1,
    releaseDigest,
    connectionVersion: 0n,
    client,
    tools: new Map(),
  });

const listingOf = (bytes: number): RouteListing => ({
  tools: new Map(),
  bytes,
  digest: String(bytes),
  diagnostics: [],
});

describe("Catalogs", () => {
  it("H-30: one is published for the settings that the connector has, and for no others", () => {
    let settings: string | undefined;
    const catalogs = new Catalogs({ clock: new FakeClock(), settingsOf: () => settings });
    const [old, now] = [routeOf("a", "old"), routeOf("a", "now")];
    expect(catalogs.publish(old, listingOf(1), undefined)).toBe(true);
    // Of what is published, of the catalog that is there, and of what the host says.
    expect(catalogs.publish(old, listingOf(2), now)).toBe(false);
    expect(catalogs.publish(now, listingOf(3), undefined)).toBe(false);
    expect(catalogs.publish(now, listingOf(3), now)).toBe(true);
    // What a replaced route lists late is no news of its successor.
    expect(catalogs.publish(routeOf("a", "now"), listingOf(4), now)).toBe(false);
    settings = "newer";
    expect(catalogs.publish(now, listingOf(4), now)).toBe(false);
    expect([catalogs.find(["device"], "a"), catalogs.size]).toEqual([undefined, 0]);
  });

  it("H-30: is found in its scope only", () => {
    const catalogs = new Catalogs({ clock: new FakeClock(), settingsOf: () => undefined });
    catalogs.publish(routeOf("a"), listingOf(1), undefined);
    expect([catalogs.find(["account:ada"], "a"), catalogs.find(["device"], "a")?.settingsDigest]).toEqual([
      undefined,
      "d",
    ]);
  });

  it("H-16 H-30: keeps 1,024 and 64 MiB, those that were read last", () => {
    const catalogs = new Catalogs({ clock: new FakeClock(), settingsOf: () => undefined });
    for (let index = 0; index <= 1_024; index += 1)
      catalogs.publish(routeOf(`c${String(index)}`), listingOf(1), undefined);
    expect([catalogs.size, catalogs.find(["device"], "c0")]).toEqual([1_024, undefined]);
    for (const key of ["x", "y", "z"]) catalogs.publish(routeOf(key), listingOf(30 * MIB), undefined);
    expect(["x", "y", "z"].map((key) => catalogs.find(["device"], key)?.listing.bytes)).toEqual([
      undefined,
      30 * MIB,
      30 * MIB,
    ]);
    expect(catalogs.publish(routeOf("huge"), listingOf(65 * MIB), undefined)).toBe(false);
    catalogs.invalidate();
    expect(catalogs.size).toBe(0);
  });
});
