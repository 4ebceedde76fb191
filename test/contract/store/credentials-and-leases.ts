import { describe, expect, it } from "vitest";
import type { CredentialKey, CredentialPutResult, OAuthStore } from "../../../src/oauth/index.js";
import type { FakeClock } from "../../support/fake-clock.js";

const KEY: CredentialKey = {
  resource: "https://mcp.example/mcp",
  name: '["tokens","https://issuer.example","client"]',
};
/** Texts that a store could take for one another, or lose. */
const ODD_TEXTS = ["", "a", "A", "a ", "a\0b", "\0", "\u0001", '\u0001"a"', "\ud800", "\ufffd", "é", "e\u0301"];

interface Limits {
  readonly maxCredentials?: number;
  readonly maxCredentialBytes?: number;
}

/** What every implementation of the ports does. `openStore` opens an empty store that is its own of each test. */
export function describeCredentialsAndLeases(
  clock: FakeClock,
  openStore: (limits?: Limits) => Promise<OAuthStore>,
): void {
  function put(store: OAuthStore, text: string, expected: number | undefined, key = KEY): Promise<CredentialPutResult> {
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
}
