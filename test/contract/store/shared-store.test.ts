import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CredentialKey } from "../../../src/oauth/index.js";
import {
  createMemorySharedStore,
  openSharedStore,
  type SharedStore,
  type SharedStoreLimits,
} from "../../../src/store/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { describeCredentialsAndLeases } from "./credentials-and-leases.js";

const KEY: CredentialKey = {
  resource: "https://mcp.example/mcp",
  name: '["tokens","https://issuer.example","client"]',
};
const HOUR_MS = 60 * 60_000;

describe.each(["memory", "sqlite"])("%s shared store", (kind) => {
  const clock = new FakeClock(1_700_000_000_000);
  const open: SharedStore[] = [];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "shared-contract-"));
  });

  afterEach(async () => {
    for (const store of open.splice(0)) await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function openStore(limits: SharedStoreLimits & { readonly maxserver?: number } = {}): Promise<SharedStore> {
    const bounds = { clock, ...limits };
    const store = kind === "memory" ? createMemorySharedStore(bounds) : await openSharedStore({ directory, ...bounds });
    open.push(store);
    return store;
  }

  describeCredentialsAndLeases(clock, openStore);

  describe("eras", () => {
    const RECORD = { era: "legacy", decidedAt: 5 } as const;

    it("R-9: are remembered until they are forgotten", async () => {
      const { eraMemory } = await openStore();
      expect(await eraMemory.read("a")).toBeUndefined();
      await eraMemory.write("a", RECORD);
      await eraMemory.write("b", { era: "modern", decidedAt: 6 });
      expect(await eraMemory.read("a")).toEqual(RECORD);
      await eraMemory.write("a", { era: "modern", decidedAt: 7 });
      expect(await eraMemory.read("a")).toEqual({ era: "modern", decidedAt: 7 });
      await eraMemory.forget("a");
      await eraMemory.forget("none");
      expect(await eraMemory.read("a")).toBeUndefined();
      expect(await eraMemory.read("b")).toEqual({ era: "modern", decidedAt: 6 });
    });

    it("R-11: are bounded in number; the one not asked about for the longest time goes first", async () => {
      const { eraMemory } = await openStore({ maxServers: 2 });
      await eraMemory.write("a", RECORD);
      clock.step(HOUR_MS);
      await eraMemory.write("b", RECORD);
      clock.step(HOUR_MS);
      await eraMemory.read("a");
      clock.step(HOUR_MS);
      await eraMemory.write("c", RECORD);
      expect(await eraMemory.read("b")).toBeUndefined();
      expect(await eraMemory.read("a")).toEqual(RECORD);
      expect(await eraMemory.read("c")).toEqual(RECORD);
    });

    it("R-11: that nobody asks for are forgotten after their time", async () => {
      const { eraMemory } = await openStore({ forgetErasAfterMs: 10 * HOUR_MS });
      await eraMemory.write("asked", RECORD);
      await eraMemory.write("unasked", RECORD);
      clock.step(9 * HOUR_MS);
      expect(await eraMemory.read("asked")).toEqual(RECORD);
      clock.step(2 * HOUR_MS);
      expect(await eraMemory.read("unasked")).toBeUndefined();
      expect(await eraMemory.read("asked")).toEqual(RECORD);
    });
  });

  it("R-9: refuses what is asked for after its end", async () => {
    const store = await openStore();
    await store.close();
    await store.close();
    const refused = { code: "store_unavailable", details: { reason: "closed" } };
    await expect(store.credentials.get(KEY)).rejects.toMatchObject(refused);
    await expect(store.leases.release("a", "b")).rejects.toMatchObject(refused);
    await expect(Promise.resolve(store.eraMemory.read("a"))).rejects.toMatchObject(refused);
  });

  it.each([
    [{ maxServers: 0 }, "maxServers"],
    [{ maxCredentials: 0.5 }, "maxCredentials"],
    [{ maxCredentialBytes: -1 }, "maxCredentialBytes"],
    [{ forgetErasAfterMs: 0 }, "forgetErasAfterMs"],
    [{ maxserver: 1 }, "maxserver"],
  ] satisfies readonly [object, string][])("refuses the options %o", async (limits, option) => {
    await expect(openStore(limits)).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });
});
