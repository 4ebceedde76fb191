import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { ConnectorCatalog } from "../../../../src/connector-host/catalog/index.js";
import { catalogRows, planRemovals } from "../../../../src/connector-host/host/catalog-rows.js";
import type { HostStore } from "../../../../src/connector-host/index.js";
import { createMemoryStore, openSqliteStore } from "../../../../src/store/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { Opened } from "../../../support/opened.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

const opened = new Opened();
afterEach(opened.close);

const stores: Readonly<Record<string, () => Promise<HostStore>>> = {
  memory: async () => createMemoryStore(),
  async sqlite() {
    const directory = await mkdtemp(join(tmpdir(), "catalog-rows-"));
    opened.push({ close: () => rm(directory, { recursive: true, force: true }) });
    return openSqliteStore({ directory });
  },
};

const always = (): boolean => true;

describe.each(Object.entries(stores))("H-30: catalogs in %s", (_name, open) => {
  async function party(...keys: readonly string[]) {
    const store = await open();
    opened.push(store);
    const catalog = new ConnectorCatalog(keys.map((key) => releaseEntryOf(key)));
    const clock = new FakeClock();
    const keysKept = async () => (await store.read((tx) => tx.documents.list("catalog"))).map(({ key }) => key);
    return { store, catalog, clock, keysKept, rows: catalogRows({ store, clock, catalog, maxLength: 64 }) };
  }

  it("H-30: are read as they were written, replaced, and removed", async () => {
    const { rows } = await party("a");
    expect(await rows.read("a")).toBeUndefined();
    await rows.write("a", "one", always);
    await rows.write("a", "two ä", always);
    expect(await rows.read("a")).toBe("two ä");
    await rows.write("a", "three", () => false);
    expect(await rows.read("a")).toBe("two ä");
    await rows.remove("a");
    await rows.remove("a");
    expect(await rows.read("a")).toBeUndefined();
  });

  it("H-16, H-30: those of connectors that are not there go with the first write", async () => {
    const { store, keysKept, rows } = await party("a", "b");
    await store.write(async (tx) => {
      for (const key of ["a", "gone"]) await tx.documents.put({ kind: "catalog", key, text: "t", updatedAt: 1 });
      await tx.documents.put({ kind: "other", key: "gone", text: "t", updatedAt: 1 });
    });
    await rows.write("b", "t", always);
    expect(await keysKept()).toEqual(["a", "b"]);
    expect(await store.read((tx) => tx.documents.get("other", "gone"))).toBeDefined();
  });

  it("H-16, H-30: have a bound for all together, and the one that was written longest ago makes room", async () => {
    const { clock, keysKept, rows } = await party("a", "b", "c");
    const text = "x".repeat(30);
    for (const key of ["a", "b", "c"]) {
      await rows.write(key, text, always);
      await clock.advance(1);
    }
    expect(await keysKept()).toEqual(["b", "c"]);
    await rows.remove("b");
    await rows.write("a", text, always);
    expect(await keysKept()).toEqual(["a", "c"]);
  });
});

describe("planRemovals", () => {
  const row = (updatedAt: number, length = 1) => ({ updatedAt, length });

  it("H-16, H-30: the oldest go, as many as it takes and no more", () => {
    const full = new Map(Array.from({ length: 1_024 }, (_each, index) => [`c${String(index)}`, row(1_024 - index)]));
    expect(planRemovals(full, 1, 2_000)).toEqual(["c1023"]);
    full.delete("c0");
    expect(planRemovals(full, 1, 2_000)).toEqual([]);
    const max = 64;
    const large = new Map([
      ["new", row(3, max / 2)],
      ["old", row(1, max / 4)],
      ["mid", row(2, max / 4)],
    ]);
    expect(planRemovals(large, 1, max)).toEqual(["old"]);
    expect(planRemovals(large, max / 4 + 1, max)).toEqual(["old", "mid"]);
    expect(planRemovals(new Map(), max, max)).toEqual([]);
  });
});
