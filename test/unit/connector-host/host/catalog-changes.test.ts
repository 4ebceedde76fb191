import { describe, expect, it } from "vitest";
import { ConnectorCatalog, writeRelease } from "../../../../src/connector-host/catalog/index.js";
import { CatalogChanges } from "../../../../src/connector-host/host/catalog-changes.js";
import { createMemoryStore } from "../../../../src/store/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

const entry = releaseEntryOf("a");

/** Changes over a catalog with one connector, and what was asked for because of them. */
function changesOver({
  account = "account:ada",
  failing = false,
}: { account?: string | undefined; failing?: boolean } = {}) {
  const catalog = new ConnectorCatalog([entry]);
  const told: unknown[] = [];
  const store = createMemoryStore();
  const changes = new CatalogChanges({
    catalog,
    store,
    clock: new FakeClock(),
    accountScope: () => account,
    async planInTx(_tx, scope, keys) {
      const [key = ""] = keys;
      told.push([scope, key, catalog.get(key)?.isOn]);
      if (failing) throw new Error("full");
    },
    refetch: () => told.push("refetch"),
    withdraw: (key) => told.push(`withdraw ${key}`),
  });
  const rename = (place: string) =>
    changes.apply("a", {
      decide: (before) => ({ ...entry, isOn: before?.isOn === true, place }),
      keep: (tx, next, now) => writeRelease(tx, "a", next, now),
    });
  return { catalog, changes, store, told, rename };
}

describe("CatalogChanges", () => {
  it("R-2, P-9: plans in the transaction, with the change in sight, and has the account looked at afterwards", async () => {
    const { catalog, changes, told, rename } = changesOver();
    await rename("elsewhere");
    expect(catalog.get("a")?.place).toBe("elsewhere");
    const off = changes.setSwitch("a", false);
    expect([told.slice(2), catalog.get("a")?.isOn]).toEqual([["withdraw a"], false]);
    await off;
    await changes.setSwitch("a", true);
    expect(told).toEqual([
      ["account:ada", "a", true],
      "refetch",
      "withdraw a",
      ["account:ada", "a", false],
      "refetch",
      ["account:ada", "a", true],
      "refetch",
    ]);
  });

  it("R-2, H-11: a change that can't be planned is taken back, but for a switch that is off", async () => {
    const { catalog, changes, told, rename } = changesOver({ failing: true });
    await expect(rename("elsewhere")).rejects.toThrow("full");
    expect(catalog.get("a")).toBe(entry);
    await expect(changes.setSwitch("a", false)).rejects.toThrow("full");
    expect(catalog.get("a")?.isOn).toBe(false);
    await expect(changes.setSwitch("a", true)).rejects.toThrow("full");
    expect(catalog.get("a")?.isOn).toBe(false);
    expect(told).not.toContain("refetch");
  });

  it.each([
    ["kept", false],
    ["taken back", true],
  ])("H-11: off at any moment of another change holds, and leaves that one as it ends: %s", async (_name, failing) => {
    for (let ticks = 0; ticks < 30; ticks += 1) {
      for (const other of ["rename", "on"] as const) {
        const { catalog, changes, store, rename } = changesOver({ failing });
        const ending = (other === "rename" ? rename("elsewhere") : changes.setSwitch("a", true)).catch(() => undefined);
        for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
        await Promise.all([ending, changes.setSwitch("a", false).catch(() => undefined)]);
        const place = other === "rename" && !failing ? "elsewhere" : entry.place;
        expect([ticks, catalog.get("a")]).toEqual([ticks, { ...entry, place, isOn: false }]);
        expect(await store.read((tx) => tx.documents.list("switch"))).toHaveLength(failing ? 0 : 1);
      }
    }
  });
});
