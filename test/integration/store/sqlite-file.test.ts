import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConvergenceRow } from "../../../src/reconcile/index.js";
import { openSqliteStore, type Store } from "../../../src/store/index.js";

function row(key: string, identity = ""): ConvergenceRow {
  return {
    scope: "device",
    key,
    desired: { generation: 1, enabled: true, identity },
    observed: undefined,
    attempts: 0,
    failures: 0,
    nextAttemptAt: undefined,
    notBefore: undefined,
    runToken: undefined,
    lastError: undefined,
    updatedAt: 0,
  };
}

describe("the file of a store", () => {
  let directory: string;
  const open: Store[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "store-file-"));
  });

  afterEach(async () => {
    for (const store of open.splice(0)) await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function openIn(folder: string, limits: { fileName?: string; maxFileBytes?: number } = {}): Promise<Store> {
    const store = await openSqliteStore({ directory: folder, ...limits });
    open.push(store);
    return store;
  }

  async function modeOf(path: string): Promise<string> {
    return ((await stat(path)).mode & 0o777).toString(8);
  }

  it("R-9: is made for its owner only, its directories too, and so is its log", async () => {
    const folder = join(directory, "a", "b");
    const store = await openIn(folder);
    await store.write((tx) => tx.convergence.put(row("k")));
    expect(await modeOf(join(directory, "a"))).toBe("700");
    expect(await modeOf(folder)).toBe("700");
    expect(await readdir(folder)).toEqual(["host.db", "host.db-wal"]);
    expect(await modeOf(join(folder, "host.db"))).toBe("600");
    expect(await modeOf(join(folder, "host.db-wal"))).toBe("600");
  });

  it("R-9: takes rights of others away from a file that is there already", async () => {
    await writeFile(join(directory, "host.db"), "", { mode: 0o644 });
    await openIn(directory);
    expect(await modeOf(join(directory, "host.db"))).toBe("600");
  });

  it("leaves one file behind when it is closed, and can be opened again at once", async () => {
    const first = await openIn(directory, { fileName: "other.db" });
    await first.write((tx) => tx.convergence.put(row("k")));
    await first.close();
    expect(await readdir(directory)).toEqual(["other.db"]);
    const second = await openIn(directory, { fileName: "other.db" });
    expect(await second.read((tx) => tx.convergence.get("device", "k"))).toEqual(row("k"));
  });

  it("R-5: is refused to a second store of the same process, and stays usable for the first", async () => {
    const first = await openIn(directory);
    const path = join(directory, "host.db");
    await expect(openIn(directory)).rejects.toMatchObject({ code: "store_in_use", details: { path } });
    await expect(openIn(directory)).rejects.toMatchObject({ code: "store_in_use" });
    await first.write((tx) => tx.convergence.put(row("k")));
    await first.close();
    const second = await openIn(directory);
    expect(await second.read((tx) => tx.convergence.get("device", "k"))).toEqual(row("k"));
  });

  it("R-9: is store_unavailable below a file", async () => {
    const file = join(directory, "file");
    await writeFile(file, "");
    await expect(openIn(join(file, "store"))).rejects.toMatchObject({
      code: "store_unavailable",
      details: { path: join(file, "store", "host.db"), reason: "ENOTDIR" },
    });
  });

  it("R-9: is store_unavailable where nothing can be made, or where a directory is in the way", async () => {
    await expect(openIn("/proc/no-such-folder")).rejects.toMatchObject({ code: "store_unavailable" });
    await mkdir(join(directory, "host.db"));
    await expect(openIn(directory)).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("R-9: is store_unavailable when it is no database, and is left as it is", async () => {
    const path = join(directory, "host.db");
    await writeFile(path, "not a database ".repeat(1_000));
    await expect(openIn(directory)).rejects.toMatchObject({
      code: "store_unavailable",
      details: { path, reason: "SQLITE_NOTADB" },
    });
    expect(await readFile(path, "utf8")).toBe("not a database ".repeat(1_000));
  });

  it("R-9: is store_unavailable when it is the database of another program", async () => {
    const other = new Database(join(directory, "host.db"));
    other.exec("CREATE TABLE theirs (a TEXT)");
    other.close();
    await expect(openIn(directory)).rejects.toMatchObject({
      code: "store_unavailable",
      details: { reason: "another_program" },
    });
  });

  it("R-9: is refused when its format is newer, and opens again when it is not", async () => {
    await (await openIn(directory)).close();
    const path = join(directory, "host.db");
    setFormat(path, 99);
    await expect(openIn(directory)).rejects.toMatchObject({
      code: "store_newer_format",
      details: { path, found: 99, known: 4 },
    });
    setFormat(path, 4);
    await openIn(directory);
  });

  it("R-5: that was deleted or replaced is store_unavailable, since nothing that is written can be found again", async () => {
    const path = join(directory, "host.db");
    const moved = { code: "store_unavailable", details: { path, reason: "moved" } };
    const first = await openIn(directory);
    await first.write((tx) => tx.convergence.put(row("k")));
    for (const file of await readdir(directory)) await rm(join(directory, file));
    const seen: string[] = [];
    const late = first.write(async (tx) => {
      // The work has to run: what it revokes is fenced whatever becomes of the transaction.
      tx.onSettled((outcome) => seen.push(outcome));
      await tx.convergence.put(row("l"));
    });
    await expect(late).rejects.toMatchObject(moved);
    expect(seen).toEqual(["rolled_back"]);
    const second = await openIn(directory);
    await expect(first.read((tx) => tx.convergence.get("device", "k"))).rejects.toMatchObject(moved);
    await second.write((tx) => tx.convergence.put(row("m")));
    await first.close();
    await second.close();
    const third = await openIn(directory);
    expect(await third.read((tx) => tx.convergence.listKeys("device"))).toEqual(["m"]);
  });

  it.each([
    [{ directory: "" }, "directory"],
    [{ directory: "x", fileName: "../host.db" }, "fileName"],
    [{ directory: "x", fileName: "" }, "fileName"],
    [{ directory: "x", fileName: Object(5) }, "fileName"],
    [{ directory: "x", fileName: ".." }, "fileName"],
    [{ directory: "x", maxFileBytes: 1 }, "maxFileBytes"],
  ])("refuses the options %o", async (options, option) => {
    await expect(openSqliteStore(options)).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });

  it("names the right option for a misspelt one", async () => {
    const options = { directory: "x", filename: "y" };
    await expect(openSqliteStore(options)).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "filename", suggestion: "fileName" },
    });
  });

  describe("that is full", () => {
    const LARGE = "x".repeat(20_000);

    async function fill(store: Store): Promise<number> {
      for (let count = 0; ; count += 1) {
        try {
          await store.write((tx) => tx.convergence.put(row(`k${String(count)}`, LARGE)));
        } catch (error) {
          expect(error).toMatchObject({ code: "store_full", details: { path: join(directory, "host.db") } });
          return count;
        }
      }
    }

    it("R-10: is store_full, with nothing half-written, and goes on", async () => {
      const store = await openIn(directory, { maxFileBytes: 256 * 1024 });
      const count = await fill(store);
      expect(count).toBeGreaterThan(2);
      const failing = store.write(async (tx) => {
        await tx.convergence.put(row("small"));
        await tx.convergence.put(row("large", LARGE));
      });
      await expect(failing).rejects.toMatchObject({ code: "store_full" });
      expect(await store.read((tx) => tx.convergence.get("device", "small"))).toBeUndefined();
      expect(await store.read((tx) => tx.convergence.listScope("device"))).toHaveLength(count);
      await store.write((tx) => tx.convergence.remove("device", "k0"));
      await store.write((tx) => tx.convergence.put(row("after", "small")));
      expect(await store.read((tx) => tx.convergence.get("device", "after"))).toEqual(row("after", "small"));
    });

    it("R-10: keeps nothing of a transaction whose work went on after that", async () => {
      const store = await openIn(directory, { maxFileBytes: 256 * 1024 });
      const count = await fill(store);
      const carefree = store.write(async (tx) => {
        await tx.convergence.put(row("large", LARGE)).catch(() => undefined);
        await tx.convergence.put(row("small"));
        await tx.events.append(1, "fact");
      });
      await expect(carefree).rejects.toMatchObject({ code: "store_full" });
      expect(await store.read((tx) => tx.convergence.get("device", "small"))).toBeUndefined();
      expect(await store.read((tx) => tx.events.last())).toBe(0);
      expect(await store.read((tx) => tx.convergence.listScope("device"))).toHaveLength(count);
      await store.write((tx) => tx.convergence.remove("device", "k0"));
    });

    it("R-10: tells those who wait for the end of a transaction that it was rolled back", async () => {
      const store = await openIn(directory, { maxFileBytes: 256 * 1024 });
      await fill(store);
      const outcomes: string[] = [];
      const failing = store.write(async (tx) => {
        tx.onSettled((outcome) => outcomes.push(outcome));
        await tx.convergence.put(row("large", LARGE));
      });
      await expect(failing).rejects.toMatchObject({ code: "store_full" });
      expect(outcomes).toEqual(["rolled_back"]);
    });

    it("R-10: still reads, still lets rows be changed, and still gives numbers", async () => {
      const store = await openIn(directory, { maxFileBytes: 256 * 1024 });
      await store.write((tx) => tx.convergence.put(row("small")));
      await fill(store);
      const generation = await store.write(async (tx) => {
        await tx.convergence.put({ ...row("small"), attempts: 5 });
        return tx.convergence.nextGeneration();
      });
      expect(generation).toBeGreaterThan(0);
      expect(await store.read((tx) => tx.convergence.get("device", "small"))).toEqual({ ...row("small"), attempts: 5 });
    });

    it("R-10: can be opened again", async () => {
      const limits = { maxFileBytes: 64 * 1024 };
      const store = await openIn(directory, limits);
      const count = await fill(store);
      await store.close();
      const again = await openIn(directory, limits);
      expect(await again.read((tx) => tx.convergence.listScope("device"))).toHaveLength(count);
    });
  });

  function setFormat(path: string, format: number): void {
    const database = new Database(path);
    database.exec(`PRAGMA user_version = ${String(format)}`);
    database.close();
  }
});
