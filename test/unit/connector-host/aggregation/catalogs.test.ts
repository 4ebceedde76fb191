import { afterEach, describe, expect, it } from "vitest";
import { type CatalogSource, Catalogs } from "../../../../src/connector-host/aggregation/catalogs.js";
import type { NativeTool } from "../../../../src/connector-host/aggregation/native-tools.js";
import type { CatalogFault, CatalogRows, ConnectorTraits } from "../../../../src/connector-host/aggregation/ports.js";
import { nameListing, type RouteListing } from "../../../../src/connector-host/aggregation/route-listing.js";
import { ConnectorCatalog } from "../../../../src/connector-host/catalog/index.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import { catalogRows } from "../../../../src/connector-host/host/catalog-rows.js";
import { buildNamespaceTable, createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { EMPTY_CONTRACT } from "../../../../src/protocol/index.js";
import { createMemoryStore } from "../../../../src/store/index.js";
import { FailingStore } from "../../../support/failing-store.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

const MIB = 1024 * 1024;
// Never asked: catalogs are published by hand.
const client = new ModernStreamableHTTPClient({
  endpoint: "http://127.0.0.1:9",
  clientInfo: { name: "test", version: "1" },
});
const namespaces = buildNamespaceTable(createInjectiveNaming(), ["a", "b"]);

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

const sized = (bytes: number): CatalogSource => ({
  listing: { tools: new Map(), bytes, digest: String(bytes), diagnostics: [] } satisfies RouteListing,
  native: undefined,
  ttlMs: undefined,
});

/** What a server lists, in its own words. */
function listed(connectorKey: string, ...definitions: readonly string[]): CatalogSource {
  const native = definitions.map((definition): NativeTool => {
    const nativeName = String(/"name":\s*"([^"]*)"/.exec(definition)?.[1]);
    return { nativeName, contract: EMPTY_CONTRACT, definition: Buffer.from(definition) };
  });
  return { listing: nameListing(namespaces, connectorKey, native), native, ttlMs: 500 };
}

const TOOL = '{ "name":"x", "inputSchema":{"type":"object"},  "z":18446744073709551616 }';

/** Catalogs over rows that outlive them, of connectors whose traits a test changes. */
class Party {
  readonly clock = new FakeClock();
  readonly store = new FailingStore(createMemoryStore());
  readonly faults: CatalogFault[] = [];
  readonly traits: Record<string, Partial<ConnectorTraits>> = {};
  reads = 0;
  readonly rows: CatalogRows;

  constructor() {
    const rows = catalogRows({
      store: this.store,
      clock: this.clock,
      catalog: new ConnectorCatalog([releaseEntryOf("a"), releaseEntryOf("b")]),
    });
    const read: CatalogRows["read"] = (key) => {
      this.reads += 1;
      return rows.read(key);
    };
    this.rows = { ...rows, read };
  }

  /** As after a start of the process. */
  open(): Catalogs {
    return new Catalogs({
      clock: this.clock,
      now: () => 1_000 + this.clock.now(),
      namespaces,
      rows: this.rows,
      checkSchema: undefined,
      traitsOf: (key) => ({ listing: "catalog", settingsDigest: "d", ...this.traits[key] }),
      onFault: (fault) => this.faults.push(fault),
    });
  }

  async text(key = "a"): Promise<string | undefined> {
    return this.rows.read(key);
  }

  /** Waits until something else is kept than this. */
  keptOtherThan(before: string | undefined): Promise<string | undefined> {
    return expect
      .poll(() => this.text(), { interval: 1 })
      .not.toBe(before)
      .then(() => this.text());
  }

  put(text: string, key = "a"): Promise<void> {
    return this.store.write((tx) => tx.documents.put({ kind: "catalog", key, text, updatedAt: 1 }));
  }

  kinds(): string[] {
    return this.faults.map(({ kind, reason }) => (reason === undefined ? kind : `${kind} ${reason}`));
  }
}

const DEVICE = ["device"];
const names = (listing: RouteListing | undefined): string[] => [...(listing?.tools.keys() ?? [])];

let party = new Party();
afterEach(() => {
  party = new Party();
});

describe("Catalogs", () => {
  it("H-30: one is published for the settings that the connector has, and for no others", () => {
    const catalogs = party.open();
    party.traits["a"] = { settingsDigest: undefined };
    const [old, now] = [routeOf("a", "old"), routeOf("a", "now")];
    expect(catalogs.publish(old, sized(1), undefined)).toBe(true);
    // Of what is published, of the catalog that is there, and of what the host says.
    expect(catalogs.publish(old, sized(2), now)).toBe(false);
    expect(catalogs.publish(now, sized(3), undefined)).toBe(false);
    expect(catalogs.publish(now, sized(3), now)).toBe(true);
    // What a replaced route lists late is no news of its successor.
    expect(catalogs.publish(routeOf("a", "now"), sized(4), now)).toBe(false);
    party.traits["a"] = { settingsDigest: "newer" };
    expect(catalogs.publish(now, sized(4), now)).toBe(false);
    expect([catalogs.find(DEVICE, "a"), catalogs.size]).toEqual([undefined, 0]);
  });

  it("H-30 MB-146: a route sees none of other settings, and one that is published takes it away", () => {
    const catalogs = party.open();
    party.traits["a"] = { settingsDigest: undefined };
    const [old, now] = [routeOf("a", "old"), routeOf("a", "now")];
    catalogs.publish(old, sized(1), undefined);
    expect([catalogs.of(now), catalogs.of(old)?.settingsDigest]).toEqual([undefined, "old"]);
    catalogs.onPublished(old);
    expect(catalogs.size).toBe(1);
    catalogs.onPublished(now);
    expect(catalogs.size).toBe(0);
  });

  it("H-30: is found in its scope only", () => {
    const catalogs = party.open();
    catalogs.publish(routeOf("a"), sized(1), undefined);
    expect([catalogs.find(["account:ada"], "a"), catalogs.find(DEVICE, "a")?.settingsDigest]).toEqual([undefined, "d"]);
  });

  it("H-16 H-30: keeps 1,024 and 64 MiB in memory, those that were read last", () => {
    const catalogs = party.open();
    for (let index = 0; index <= 1_024; index += 1) catalogs.publish(routeOf(`c${String(index)}`), sized(1), undefined);
    expect([catalogs.size, catalogs.find(DEVICE, "c0")]).toEqual([1_024, undefined]);
    for (const key of ["x", "y", "z"]) catalogs.publish(routeOf(key), sized(30 * MIB), undefined);
    expect(["x", "y", "z"].map((key) => catalogs.find(DEVICE, key)?.listing.bytes)).toEqual([
      undefined,
      30 * MIB,
      30 * MIB,
    ]);
    expect(catalogs.publish(routeOf("huge"), sized(65 * MIB), undefined)).toBe(false);
    catalogs.invalidate();
    expect(catalogs.size).toBe(0);
  });

  it("H-30: one is read again after the process, whole, with its time, its ttlMs and its digest", async () => {
    const first = party.open();
    first.publish(routeOf("a"), listed("a", TOOL), undefined);
    const published = first.find(DEVICE, "a");
    expect(published).toMatchObject({ fetchedAt: 1_001_000, ttlMs: 500, readAt: 1_000_000 });
    expect(JSON.parse(String(await party.keptOtherThan(undefined)))).toMatchObject({ definitions: [TOOL] });
    await party.clock.advance(5_000);
    const again = party.open();
    expect(again.find(DEVICE, "a")).toBeUndefined();
    const loaded = await again.load(DEVICE, "a");
    expect(loaded).toEqual({ ...published, readAt: undefined });
    const definitions = Array.from(loaded?.listing.tools.values() ?? [], ({ definition }) => definition);
    expect(definitions).toEqual([TOOL.replace('"x"', '"a_x"')]);
    // In memory from now on, and read once for all who want it.
    party.reads = 0;
    const third = party.open();
    await Promise.all([third.load(DEVICE, "a"), third.load(DEVICE, "a"), third.load(DEVICE, "a")]);
    await third.load(DEVICE, "a");
    expect(party.reads).toBe(1);
    third.invalidate();
    expect(names((await third.load(DEVICE, "a"))?.listing)).toEqual(["a_x"]);
    expect(party.reads).toBe(2);
  });

  it("H-30: what is not there is looked for once, until something is there", async () => {
    const catalogs = party.open();
    await catalogs.load(DEVICE, "a");
    await catalogs.load(DEVICE, "a");
    expect(party.reads).toBe(1);
    catalogs.publish(routeOf("a"), listed("a", TOOL), undefined);
    expect(names((await catalogs.load(DEVICE, "a"))?.listing)).toEqual(["a_x"]);
  });

  it("H-30: the gate comes first: of what is paused nothing is shown, and nothing read", async () => {
    const first = party.open();
    first.publish(routeOf("a"), listed("a", TOOL), undefined);
    await party.keptOtherThan(undefined);
    party.reads = 0;
    party.traits["a"] = { isActive: false };
    expect([first.find(DEVICE, "a"), await party.open().load(DEVICE, "a"), party.reads]).toEqual([
      undefined,
      undefined,
      0,
    ]);
    party.traits["a"] = {};
    expect(names(first.find(DEVICE, "a")?.listing)).toEqual(["a_x"]);
  });

  it("H-30: one that is paused or listed while it is read is not put into memory", async () => {
    party.open().publish(routeOf("a"), listed("a", TOOL), undefined);
    await party.keptOtherThan(undefined);
    const catalogs = party.open();
    const paused = catalogs.load(DEVICE, "a");
    party.traits["a"] = { isActive: false };
    expect([await paused, catalogs.size]).toEqual([undefined, 0]);
    party.traits["a"] = {};
    const loading = catalogs.load(DEVICE, "a");
    catalogs.publish(routeOf("a"), listed("a", TOOL.replace('"x"', '"new"')), undefined);
    expect(names((await loading)?.listing)).toEqual(["a_new"]);
  });

  it.each([
    ["no JSON", "{", "unreadable"],
    ["another format", '{"formatVersion":2}', "of_another_format"],
    ["a member of another kind", '{"formatVersion":1,"connectorKey":"a","definitions":[]}', "unreadable"],
  ])("H-30: %s is dropped, and told", async (_what, text, reason) => {
    await party.put(text);
    const catalogs = party.open();
    expect(await catalogs.load(DEVICE, "a")).toBeUndefined();
    expect(party.kinds()).toEqual([`dropped ${reason}`]);
    await expect.poll(() => party.text(), { interval: 1 }).toBeUndefined();
  });

  it("H-30: one of other settings, of another connector, and one that was altered are dropped, and told", async () => {
    party.open().publish(routeOf("a"), listed("a", TOOL), undefined);
    const kept = String(await party.keptOtherThan(undefined));
    const cases: readonly [string, string, string][] = [
      ["a", kept.replace('"settingsDigest":"d"', '"settingsDigest":"o"'), "foreign"],
      ["b", kept, "foreign"],
      ["a", kept.replace("18446744073709551616", "18446744073709551617"), "altered"],
      ["a", kept.replace(/"definitions":\[.*\]/, '"definitions":[1]'), "unreadable"],
    ];
    for (const [key, text, reason] of cases) {
      party.faults.length = 0;
      await party.put(text, key);
      expect(await party.open().load(DEVICE, key)).toBeUndefined();
      expect(party.kinds()).toEqual([`dropped ${reason}`]);
      await expect.poll(() => party.text(key), { interval: 1 }).toBeUndefined();
    }
  });

  it("H-30: what is in a kept one is checked as a list is that comes from a server", async () => {
    const broken = '{"name":"y","inputSchema":{"type":"array"}}';
    party.open().publish(routeOf("a"), listed("a", TOOL, broken), undefined);
    await party.keptOtherThan(undefined);
    const loaded = await party.open().load(DEVICE, "a");
    expect(names(loaded?.listing)).toEqual(["a_x"]);
    expect(loaded?.listing.diagnostics).toEqual([
      { kind: "unusable_schema", tool: { connectorKey: "a", nativeName: "y" } },
    ]);
  });

  it("H-30: contracts are what the definitions say, where headers meant something when they were listed", async () => {
    const mirrored =
      '{"name":"x","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}}';
    const contract = { parameters: [{ header: "Mcp-Param-R", path: ["r"] }] };
    for (const each of [contract, EMPTY_CONTRACT]) {
      const before = await party.text();
      const native = [{ nativeName: "x", contract: each, definition: Buffer.from(mirrored) }];
      const ttlMs = each.parameters.length;
      party.open().publish(routeOf("a"), { listing: nameListing(namespaces, "a", native), native, ttlMs }, undefined);
      await party.keptOtherThan(before);
      const loaded = await party.open().load(DEVICE, "a");
      expect(loaded?.listing.tools.get("a_x")?.contract).toEqual(each);
    }
  });

  it("H-30: one that says the same is not written again within the hour", async () => {
    const catalogs = party.open();
    const publish = () => catalogs.publish(routeOf("a"), listed("a", TOOL), undefined);
    publish();
    const first = await party.keptOtherThan(undefined);
    await party.clock.advance(3_599_000);
    publish();
    party.store.failAt(1);
    publish();
    party.store.mend();
    expect([await party.text(), party.kinds()]).toEqual([first, []]);
    await party.clock.advance(1_000);
    publish();
    expect(await party.keptOtherThan(first)).toContain(`"fetchedAt":${String(1_000 + party.clock.now())}`);
  });

  it("H-30: whatever step of a write fails, the catalog is published in memory, what was kept stays, and it is told", async () => {
    const catalogs = party.open();
    catalogs.publish(routeOf("a"), listed("a", TOOL), undefined);
    const kept = await party.keptOtherThan(undefined);
    for (let step = 1; ; step += 1) {
      const failed = party.store.failed.length;
      party.store.failAt(step);
      catalogs.publish(routeOf("a"), listed("a", TOOL.replace('"x"', `"n${String(step)}"`)), undefined);
      expect(names(catalogs.find(DEVICE, "a")?.listing)).toEqual([`a_n${String(step)}`]);
      await expect
        .poll(async () => party.faults.length >= step || (await party.text()) !== kept, { interval: 1 })
        .toBe(true);
      if (party.store.failed.length === failed) break;
      expect(party.kinds().at(-1)).toBe("not_kept");
      expect(await party.text()).toBe(kept);
      expect(step).toBeLessThan(10);
    }
    expect(party.store.failed.length).toBeGreaterThanOrEqual(3);
    party.store.mend();
  });

  it("H-30: settings that were replaced while it waited to be written keep it from being written", async () => {
    const catalogs = party.open();
    catalogs.publish(routeOf("a"), listed("a", TOOL), undefined);
    party.traits["a"] = { settingsDigest: "other" };
    await party.store.write(async () => undefined);
    await party.store.write(async () => undefined);
    expect([await party.text(), catalogs.find(DEVICE, "a"), party.kinds()]).toEqual([undefined, undefined, []]);
  });

  it("H-30, H-3: what is forgotten is gone from both, however it was being written", async () => {
    const catalogs = party.open();
    catalogs.publish(routeOf("a"), listed("a", TOOL), undefined);
    catalogs.forget("a");
    await party.store.write(async () => undefined);
    await expect.poll(() => party.text(), { interval: 1 }).toBeUndefined();
    // It is not taken for kept.
    catalogs.publish(routeOf("a"), listed("a", TOOL), undefined);
    await party.keptOtherThan(undefined);
    catalogs.forget("a");
    expect(catalogs.size).toBe(0);
    await expect.poll(() => party.text(), { interval: 1 }).toBeUndefined();
    expect(await party.open().load(DEVICE, "a")).toBeUndefined();
  });

  it(
    "H-16, H-30: one that is too large is not kept, and told; of many writes only the last is made",
    { timeout: 20_000 },
    async () => {
      const catalogs = party.open();
      const definition = Buffer.alloc(8 * MIB, "x");
      const large = { ...sized(8 * MIB), native: [{ nativeName: "x", contract: EMPTY_CONTRACT, definition }] };
      catalogs.publish(routeOf("a"), large, undefined);
      expect([party.kinds(), catalogs.find(DEVICE, "a")?.listing.bytes]).toEqual([["too_large"], 8 * MIB]);
      let writes = 0;
      const kept = { ...party.rows };
      Object.assign(party.rows, {
        write: (...given: Parameters<CatalogRows["write"]>) => {
          writes += 1;
          return kept.write(...given);
        },
      });
      for (let index = 0; index < 100; index += 1) {
        catalogs.publish(routeOf("a"), listed("a", TOOL.replace('"x"', `"n${String(index)}"`)), undefined);
      }
      await expect.poll(async () => (await party.text())?.includes("n99"), { interval: 1 }).toBe(true);
      expect(writes).toBeLessThanOrEqual(2);
    },
  );

  it("H-30: a store that can't be read is told, and asked again; nothing is told after the end", async () => {
    const catalogs = party.open();
    const kept = { ...party.rows };
    Object.assign(party.rows, { read: () => Promise.reject(new Error("torn")) });
    expect([await catalogs.load(DEVICE, "a"), party.kinds()]).toEqual([undefined, ["not_read"]]);
    Object.assign(party.rows, kept);
    party.open().publish(routeOf("a"), listed("a", TOOL), undefined);
    await party.keptOtherThan(undefined);
    expect(names((await catalogs.load(DEVICE, "a"))?.listing)).toEqual(["a_x"]);
    party.faults.length = 0;
    party.store.failAt(1, { forGood: true });
    catalogs.publish(routeOf("a"), listed("a", TOOL.replace('"x"', '"y"')), undefined);
    catalogs.close();
    await party.store.read(async () => undefined);
    expect([party.kinds(), catalogs.size]).toEqual([[], 0]);
    party.store.mend();
  });
});
