import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DocumentRow } from "../../../src/connector-host/documents/index.js";
import type { Store } from "../../../src/store/index.js";
import { memorySetup, sqliteSetup } from "./stores.js";

function row(kind: string, key: string, text = "{}"): DocumentRow {
  return { kind, key, text, updatedAt: 5 };
}

describe.each([memorySetup, sqliteSetup].map((setup) => ({ name: setup().name, setup })))(
  "documents in a $name store",
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

    const put = (...rows: readonly DocumentRow[]): Promise<void> =>
      store.write(async (tx) => {
        for (const each of rows) await tx.documents.put(each);
      });
    const get = (of: string, key: string) => store.read((tx) => tx.documents.get(of, key));
    const keys = async (of: string) => (await store.read((tx) => tx.documents.list(of))).map(({ key }) => key);

    it("R-9: are found by kind and key, replaced as a whole, and removed", async () => {
      await put(row("release", "a"), row("switch", "a", "off"));
      await put({ kind: "release", key: "a", text: "new", updatedAt: 6 });
      expect(await get("release", "a")).toEqual({ kind: "release", key: "a", text: "new", updatedAt: 6 });
      expect(await get("switch", "a")).toMatchObject({ text: "off" });
      await store.write((tx) => tx.documents.remove("release", "a"));
      await store.write((tx) => tx.documents.remove("release", "never there"));
      expect(await get("release", "a")).toBeUndefined();
      expect(await get("switch", "a")).toMatchObject({ text: "off" });
    });

    it("R-9: are listed by kind, in code units of their keys", async () => {
      await put(row("k", "\u{1f600}"), row("k", "\uffee"), row("k", ""), row("k", "b"), row("k2", "a"), row("", "c"));
      expect(await keys("k")).toEqual(["", "b", "\u{1f600}", "\uffee"]);
      expect(await keys("")).toEqual(["c"]);
      expect(await keys("none")).toEqual([]);
    });

    it.each(["", "a\0b", '\u0001"a"', "\ud800", "x".repeat(100_000)])("R-9: keep any text", async (text) => {
      await put(row(text, text, text));
      expect(await get(text, text)).toEqual(row(text, text, text));
    });

    it("R-9: are rolled back, and only a transaction that writes may change them", async () => {
      await put(row("k", "a", "before"));
      const failing = store.write(async (tx) => {
        await tx.documents.put(row("k", "a", "after"));
        await tx.documents.put(row("k", "b"));
        await tx.documents.remove("k", "a");
        expect(await tx.documents.get("k", "a")).toBeUndefined();
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await get("k", "a")).toMatchObject({ text: "before" });
      expect(await keys("k")).toEqual(["a"]);
      const ended = await store.read(async (tx) => {
        await expect(tx.documents.put(row("k", "c"))).rejects.toMatchObject({ code: "invalid_argument" });
        await expect(tx.documents.remove("k", "a")).rejects.toMatchObject({ code: "invalid_argument" });
        return tx;
      });
      await expect(ended.documents.get("k", "a")).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(ended.documents.list("k")).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(put({ ...row("k", "d"), updatedAt: 0.5 })).rejects.toMatchObject({ code: "invalid_argument" });
    });

    if (kind.reopen === undefined) return;

    it("R-9: are there after a restart", async () => {
      await put(row("k", "a", "kept"));
      await store.close();
      store = (await kind.reopen?.()) ?? store;
      expect(await get("k", "a")).toEqual(row("k", "a", "kept"));
    });
  },
);
