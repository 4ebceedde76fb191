import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CredentialKey, CredentialPutResult } from "../../../src/oauth/index.js";
import {
  createMemorySharedStore,
  openSharedStore,
  type SharedStore,
  type SharedStoreLimits,
} from "../../../src/store/index.js";
import { FakeClock } from "../../support/fake-clock.js";

const KEY: CredentialKey = {
  resource: "https://mcp.example/mcp",
  name: '["tokens","https://issuer.example","client"]',
};
/** Texts that a store could take for one another, or lose. */
const ODD_TEXTS = ["", "a", "A", "a ", "a\0b", "\0", "\u0001", '\u0001"a"', "\ud800", "\ufffd", "é", "e\u0301"];
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

  function put(
    store: SharedStore,
    text: string,
    expected: number | undefined,
    key = KEY,
  ): Promise<CredentialPutResult> {
    return store.credentials.put({ ...key, text, expected, now: clock.now() });
  }

  async function written(result: Promise<CredentialPutResult>): Promise<number> {
    const settled = await result;
    if (settled.kind !== "written") throw new Error("It was not written.");
    return settled.generation;
  }

  describe("credentials", () => {
    it("R-9: keep a text under its resource and name, with the generation that it was given", async () => {
      const store = await openStore();
      expect(await store.credentials.get(KEY)).toBeUndefined();
      const generation = await written(put(store, "sealed", undefined));
      const row = { ...KEY, generation, text: "sealed", updatedAt: clock.now() };
      expect(await store.credentials.get(KEY)).toEqual(row);
      expect(await store.credentials.get({ ...KEY, name: "other" })).toBeUndefined();
      expect(await store.credentials.get({ ...KEY, resource: "other" })).toBeUndefined();
    });

    it("R-9: are written only over the generation that was expected, and tell what is there instead", async () => {
      const store = await openStore();
      const first = await written(put(store, "first", undefined));
      const second = await written(put(store, "second", first));
      expect(second).toBeGreaterThan(first);
      const current = { ...KEY, generation: second, text: "second", updatedAt: clock.now() };
      expect(await put(store, "late", first)).toEqual({ kind: "conflict", current });
      expect(await put(store, "new", undefined)).toEqual({ kind: "conflict", current });
      expect(await put(store, "x", 1, { ...KEY, name: "none" })).toEqual({ kind: "conflict", current: undefined });
      expect(await store.credentials.get(KEY)).toEqual(current);
    });

    it("R-9: are removed only with the generation that failed, which never comes again", async () => {
      const store = await openStore();
      const failed = await written(put(store, "old", undefined));
      expect(await store.credentials.remove(KEY, failed)).toEqual({ kind: "removed" });
      expect(await store.credentials.remove(KEY, failed)).toEqual({ kind: "conflict", current: undefined });
      const fresh = await written(put(store, "new", undefined));
      expect(fresh).toBeGreaterThan(failed);
      expect(await store.credentials.remove(KEY, failed)).toMatchObject({
        kind: "conflict",
        current: { text: "new", generation: fresh },
      });
      expect((await store.credentials.get(KEY))?.text).toBe("new");
    });

    it("R-9: are listed by resource, ordered by name in code units", async () => {
      const store = await openStore();
      for (const name of ["b", "\u{1f600}", "\uffff", "a"]) await put(store, name, undefined, { ...KEY, name });
      await put(store, "x", undefined, { resource: "other", name: "a" });
      expect((await store.credentials.list(KEY.resource)).map(({ name }) => name)).toEqual([
        "a",
        "b",
        "\u{1f600}",
        "\uffff",
      ]);
      expect(await store.credentials.list("none")).toEqual([]);
    });

    it("R-9: keep texts apart, whichever characters they hold", async () => {
      const store = await openStore();
      for (const text of ODD_TEXTS) await put(store, text, undefined, { resource: text, name: text });
      for (const text of ODD_TEXTS) {
        expect(await store.credentials.get({ resource: text, name: text })).toMatchObject({ name: text, text });
      }
    });

    it("R-11: are bounded in number and in length, by options that the errors name", async () => {
      const store = await openStore({ maxCredentials: 2, maxCredentialBytes: 4 });
      const first = await written(put(store, "1234", undefined));
      await put(store, "b", undefined, { ...KEY, name: "b" });
      const third = put(store, "c", undefined, { ...KEY, name: "c" });
      await expect(third).rejects.toMatchObject({ code: "limit_exceeded", details: { option: "maxCredentials" } });
      const long = put(store, "ééé", first);
      await expect(long).rejects.toMatchObject({ code: "limit_exceeded", details: { option: "maxCredentialBytes" } });
      expect(await written(put(store, "5", first))).toBeGreaterThan(first);
      expect(await store.credentials.list(KEY.resource)).toHaveLength(2);
    });

    it("R-9: lose no update of concurrent writers who compare and set", async () => {
      const store = await openStore();
      await put(store, "0", undefined);
      const raise = async (): Promise<void> => {
        for (;;) {
          const row = await store.credentials.get(KEY);
          if ((await put(store, String(Number(row?.text) + 1), row?.generation)).kind === "written") return;
        }
      };
      await Promise.all(Array.from({ length: 20 }, raise));
      expect((await store.credentials.get(KEY))?.text).toBe("20");
    });
  });

  describe("leases", () => {
    const claim = (holder: string, now = clock.now(), ttlMs = 1_000, name = "refresh") => ({
      name,
      holder,
      ttlMs,
      now,
    });

    it("R-9: are held by one at a time, until their time is over", async () => {
      const { leases } = await openStore();
      const now = clock.now();
      expect(await leases.acquire(claim("a"))).toEqual({ kind: "held", until: now + 1_000 });
      expect(await leases.acquire(claim("b", now + 999))).toEqual({ kind: "taken", holder: "a", until: now + 1_000 });
      expect(await leases.acquire(claim("b", now, 1_000, "other"))).toMatchObject({ kind: "held" });
      expect(await leases.acquire(claim("b", now + 1_000))).toEqual({ kind: "held", until: now + 2_000 });
      expect(await leases.acquire(claim("a", now + 1_001))).toMatchObject({ kind: "taken", holder: "b" });
    });

    it("R-9: are made longer by their holder, and by nobody who lost them", async () => {
      const { leases } = await openStore();
      const now = clock.now();
      await leases.acquire(claim("a"));
      expect(await leases.renew(claim("a", now + 900))).toBe(true);
      expect(await leases.acquire(claim("b", now + 1_500))).toMatchObject({ kind: "taken", until: now + 1_900 });
      expect(await leases.acquire(claim("a", now + 1_500))).toEqual({ kind: "held", until: now + 2_500 });
      expect(await leases.renew(claim("b", now + 1_500))).toBe(false);
      expect(await leases.renew(claim("a", now + 9_000))).toBe(true);
      expect(await leases.acquire(claim("b", now + 20_000))).toMatchObject({ kind: "held" });
      expect(await leases.renew(claim("a", now + 20_000))).toBe(false);
    });

    it("R-9: are still those of a holder who comes back late, whatever else was taken meanwhile", async () => {
      const { leases } = await openStore();
      const now = clock.now();
      await leases.acquire(claim("a"));
      await leases.acquire(claim("b", now + 5_000, 1_000, "other"));
      await leases.acquire(claim("c", now - 60_000, 1_000, "third"));
      expect(await leases.renew(claim("a", now + 6_000))).toBe(true);
      expect(await leases.release("refresh", "a")).toBe(true);
    });

    it("R-11: go an hour after their time when another one is taken, also when the clock was set back", async () => {
      const { leases } = await openStore();
      const now = clock.now();
      const hour = 60 * 60_000;
      for (const later of [hour + 1_000, -hour - 1_000]) {
        await leases.acquire(claim("a"));
        await leases.acquire(claim("b", now + later - Math.sign(later), 1_000, "other"));
        expect(await leases.renew(claim("a"))).toBe(true);
        await leases.acquire(claim("b", now + later, 1_000, "other"));
        expect(await leases.renew(claim("a"))).toBe(false);
      }
    });

    it("R-9: are given back by their holder alone", async () => {
      const { leases } = await openStore();
      await leases.acquire(claim("a"));
      expect(await leases.release("refresh", "b")).toBe(false);
      expect(await leases.acquire(claim("b"))).toMatchObject({ kind: "taken" });
      expect(await leases.release("refresh", "a")).toBe(true);
      expect(await leases.release("refresh", "a")).toBe(false);
      expect(await leases.acquire(claim("b"))).toMatchObject({ kind: "held" });
    });

    it("R-9: pass on after twice their time at most when the clock was set back", async () => {
      const { leases } = await openStore();
      const now = clock.now();
      await leases.acquire(claim("a"));
      expect(await leases.acquire(claim("b", now - 1_000))).toMatchObject({ kind: "taken" });
      expect(await leases.acquire(claim("b", now - 1_001))).toMatchObject({ kind: "held" });
    });

    it.each([0, -1, 1.5, Infinity, Number.NaN])("refuse %s as their time", async (ttlMs) => {
      const { leases } = await openStore();
      const refused = { code: "invalid_argument", details: { argument: "ttlMs" } };
      await expect(leases.acquire(claim("a", clock.now(), ttlMs))).rejects.toMatchObject(refused);
      await expect(leases.renew(claim("a", clock.now(), ttlMs))).rejects.toMatchObject(refused);
    });
  });

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
