import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventRow } from "../../../src/reconcile/index.js";
import type { Store, StoreTx } from "../../../src/store/index.js";
import { memorySetup, sqliteSetup } from "./stores.js";

describe.each([memorySetup, sqliteSetup].map((setup) => ({ name: setup().name, setup })))(
  "events in a $name store",
  ({ setup }) => {
    const kind = setup();
    let store: Store;

    beforeEach(async () => {
      store = await kind.open();
    });

    afterEach(async () => {
      await store.close();
      await kind.cleanUp();
    });

    const append = (...facts: readonly string[]): Promise<readonly number[]> =>
      store.write(async (tx) => {
        const numbers: number[] = [];
        for (const fact of facts) numbers.push(await tx.events.append(5, fact));
        return numbers;
      });
    const last = (): Promise<number> => store.read((tx) => tx.events.last());
    const list = (after = 0, limit = 1_000): Promise<readonly EventRow[]> =>
      store.read((tx) => tx.events.list(after, limit));
    const numbers = async (after?: number, limit?: number): Promise<readonly number[]> =>
      (await list(after, limit)).map(({ seq }) => seq);
    const failing = async (work: (tx: StoreTx) => Promise<unknown>): Promise<void> => {
      const write = store.write(async (tx) => {
        await work(tx);
        throw new Error("no");
      });
      await expect(write).rejects.toThrow("no");
    };

    it("R-8: have numbers from 1 on, one more each time, and are listed in that order", async () => {
      expect(await last()).toBe(0);
      expect(await list()).toEqual([]);
      expect(await append("a", "b")).toEqual([1, 2]);
      expect(await append("c")).toEqual([3]);
      expect(await list()).toEqual([
        { seq: 1, at: 5, fact: "a" },
        { seq: 2, at: 5, fact: "b" },
        { seq: 3, at: 5, fact: "c" },
      ]);
      expect(await last()).toBe(3);
    });

    it.each(["", "a\0b", "\u0001", '\u0001"a"', "\ud800", "\u{1f600}", "x".repeat(100_000)])(
      "R-8: keep any text and any whole number as a time",
      async (fact) => {
        await store.write((tx) => tx.events.append(-(2 ** 53) + 1, fact));
        expect(await list()).toEqual([{ seq: 1, at: -(2 ** 53) + 1, fact }]);
      },
    );

    it("R-8: are listed after a place, and no more than were asked for", async () => {
      await append("a", "b", "c", "d");
      expect(await numbers(2)).toEqual([3, 4]);
      expect(await numbers(0, 3)).toEqual([1, 2, 3]);
      expect(await numbers(4)).toEqual([]);
      expect(await numbers(40)).toEqual([]);
      expect(await numbers(-7, 2)).toEqual([1, 2]);
      expect(await numbers(0, 0)).toEqual([]);
      expect(await numbers(0, -1)).toEqual([]);
    });

    it("R-8: see their own transaction, and nobody else sees it before its end", async () => {
      await append("a");
      await store.write(async (tx) => {
        expect(await tx.events.append(5, "b")).toBe(2);
        expect(await tx.events.last()).toBe(2);
        expect((await tx.events.list(1, 9)).map(({ fact }) => fact)).toEqual(["b"]);
        await tx.events.prune(1);
        expect((await tx.events.list(0, 9)).map(({ fact }) => fact)).toEqual(["b"]);
      });
      expect(await numbers()).toEqual([2]);
    });

    it("R-8: are rolled back with everything else: what came, what went, and the numbers", async () => {
      await append("a", "b");
      await failing(async (tx) => {
        await tx.events.append(5, "c");
        await tx.events.prune(1);
        await tx.events.append(5, "d");
        await tx.events.prune(4);
        expect(await tx.events.last()).toBe(4);
      });
      expect(await numbers()).toEqual([1, 2]);
      expect(await last()).toBe(2);
      expect(await append("e")).toEqual([3]);
      expect((await list(2)).map(({ fact }) => fact)).toEqual(["e"]);
    });

    it("R-8: go up to a number, and no number comes again though nothing is left", async () => {
      await append("a", "b", "c");
      await store.write((tx) => tx.events.prune(0));
      expect(await numbers()).toEqual([1, 2, 3]);
      await store.write((tx) => tx.events.prune(2));
      await store.write((tx) => tx.events.prune(1));
      expect(await numbers()).toEqual([3]);
      await store.write((tx) => tx.events.prune(1_000));
      expect(await numbers()).toEqual([]);
      expect(await last()).toBe(3);
      expect(await append("d")).toEqual([4]);
      expect(await numbers()).toEqual([4]);
    });

    it("R-8: refuse what is no whole number, and the wrong transaction", async () => {
      await append("a");
      for (const odd of [0.5, Number.NaN, Infinity]) {
        await failing(async ({ events }) => {
          const refused = { code: "invalid_argument" };
          await expect(events.append(odd, "x")).rejects.toMatchObject({ ...refused, details: { argument: "at" } });
          await expect(events.list(odd, 1)).rejects.toMatchObject({ ...refused, details: { argument: "after" } });
          await expect(events.list(0, odd)).rejects.toMatchObject({ ...refused, details: { argument: "limit" } });
          await expect(events.prune(odd)).rejects.toMatchObject({ ...refused, details: { argument: "upTo" } });
        });
      }
      const kept = await store.read(async (tx) => {
        await expect(tx.events.append(5, "x")).rejects.toMatchObject({ code: "invalid_argument" });
        await expect(tx.events.prune(1)).rejects.toMatchObject({ code: "invalid_argument" });
        return tx;
      });
      await expect(kept.events.last()).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(kept.events.list(0, 1)).rejects.toMatchObject({ code: "invalid_argument" });
      expect(await numbers()).toEqual([1]);
    });

    if (kind.reopen === undefined) return;

    it("R-8: are there after a restart, and numbers go on, also when everything is gone", async () => {
      await append("a", "b", "c");
      for (const upTo of [1, 3]) {
        await store.write((tx) => tx.events.prune(upTo));
        const before = await list();
        await store.close();
        store = (await kind.reopen?.()) ?? store;
        expect(await list()).toEqual(before);
        expect(await last()).toBe(3);
      }
      expect(await append("d")).toEqual([4]);
    });
  },
);
