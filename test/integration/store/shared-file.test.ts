import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  openSharedStore,
  openSqliteStore,
  type SharedStore,
  type SharedStoreOptions,
} from "../../../src/store/index.js";
import { checkFormat } from "../../../src/store/file-format.js";
import { SHARED_FORMAT } from "../../../src/store/shared-format.js";
import { SqliteConnection } from "../../../src/store/sqlite-connection.js";

/** A shared store as format 1 was released. Never edit this: a file like it is on somebody's disk. */
const FORMAT_1 = `
  CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE credential (
    resource TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    text TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (resource, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE era (
    key TEXT NOT NULL PRIMARY KEY,
    era TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  INSERT INTO counter VALUES ('generation', 7);
  INSERT INTO credential VALUES ('https://mcp.example/mcp', 'tokens', 7, 'sealed', 1700000000000);
  INSERT INTO lease VALUES ('refresh', 'them', 1700000000000, 1700000060000);
  INSERT INTO era VALUES ('k', 'legacy', 1700000000000, 32503680000000);
  PRAGMA application_id = 1919119219;
  PRAGMA user_version = 1;
`;

const KEY = { resource: "https://mcp.example/mcp", name: "tokens" };

describe("the file of a shared store", () => {
  let directory: string;
  let path: string;
  const open: { close(): unknown }[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "shared-file-"));
    path = join(directory, "shared.db");
  });

  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function openStore(options: Partial<SharedStoreOptions> = {}): Promise<SharedStore> {
    const store = await openSharedStore({ directory, ...options });
    open.push(store);
    return store;
  }

  function put(store: SharedStore, text: string, expected?: number, name = KEY.name) {
    return store.credentials.put({ ...KEY, name, text, expected, now: 1 });
  }

  async function modeOf(file: string): Promise<string> {
    return ((await stat(file)).mode & 0o777).toString(8);
  }

  it("R-9: is made for its owner only, its directories too, and so is all that lies beside it", async () => {
    const folder = join(directory, "a", "b");
    const store = await openStore({ directory: folder });
    await put(store, "x");
    expect(await modeOf(join(directory, "a"))).toBe("700");
    expect(await modeOf(folder)).toBe("700");
    for (const file of await readdir(folder)) expect([file, await modeOf(join(folder, file))]).toEqual([file, "600"]);
  });

  it("R-9: takes rights of others away from a file that is there already", async () => {
    await writeFile(path, "", { mode: 0o644 });
    await openStore();
    expect(await modeOf(path)).toBe("600");
  });

  it("R-9: lies beside that of a host, and neither is taken for the other", async () => {
    open.push(await openSqliteStore({ directory }));
    const store = await openStore();
    await put(store, "x");
    await store.close();
    const refused = { code: "store_unavailable", details: { reason: "another_program" } };
    await expect(openSqliteStore({ directory, fileName: "shared.db" })).rejects.toMatchObject(refused);
    await open[0]?.close();
    await expect(openStore({ fileName: "host.db" })).rejects.toMatchObject(refused);
    await expect(openSqliteStore({ directory }).then((host) => host.close())).resolves.toBeUndefined();
  });

  it("R-9: is used by several stores at once, each of which sees what the others wrote", async () => {
    const [first, second] = [await openStore(), await openStore()];
    const result = await put(first, "x");
    expect(await second.credentials.get(KEY)).toMatchObject({ text: "x" });
    await first.close();
    expect(await put(second, "y", result.kind === "written" ? result.generation : 0)).toMatchObject({
      kind: "written",
    });
    expect(await (await openStore()).credentials.get(KEY)).toMatchObject({ text: "y" });
  });

  it("R-9: of format 1 is read as it was written", async () => {
    const file = new Database(path);
    file.exec(FORMAT_1);
    file.close();
    const store = await openStore();
    const row = { ...KEY, generation: 7, text: "sealed", updatedAt: 1_700_000_000_000 };
    expect(await store.credentials.get(KEY)).toEqual(row);
    expect(await put(store, "new", 7)).toEqual({ kind: "written", generation: 8 });
    const claim = { name: "refresh", holder: "us", ttlMs: 1, now: 1_700_000_000_001 };
    expect(await store.leases.acquire(claim)).toEqual({ kind: "taken", holder: "them", until: 1_700_000_060_000 });
    expect(await store.eraMemory.read("k")).toEqual({ era: "legacy", decidedAt: 1_700_000_000_000 });
  });

  it("R-9: is made in the form in which it was released", async () => {
    const released = join(directory, "released.db");
    const file = new Database(released);
    file.exec(FORMAT_1);
    file.close();
    await (await openStore()).close();
    expect(schemaOf(path)).toEqual(schemaOf(released));
  });

  it("R-9: of a newer format is refused, also when it became so while it was open", async () => {
    const store = await openStore();
    await put(store, "x");
    setFormat(99);
    const refused = { code: "store_newer_format", details: { path, found: 99, known: 1 } };
    await expect(store.credentials.get(KEY)).rejects.toMatchObject(refused);
    await expect(put(store, "y", 1)).rejects.toMatchObject(refused);
    await expect(openStore()).rejects.toMatchObject(refused);
    setFormat(1);
    expect(await store.credentials.get(KEY)).toMatchObject({ text: "x" });
  });

  it.each([
    [{ directory: "" }, "directory"],
    [{ fileName: "../shared.db" }, "fileName"],
    [{ maxFileBytes: 1 }, "maxFileBytes"],
    [{ busyTimeoutMs: -1 }, "busyTimeoutMs"],
  ])("refuses the options %o", async (options, option) => {
    await expect(openStore(options)).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });

  it("R-9: is store_unavailable below a file", async () => {
    await writeFile(join(directory, "file"), "");
    const below = openStore({ directory: join(directory, "file", "x") });
    await expect(below).rejects.toMatchObject({ code: "store_unavailable", details: { reason: "ENOTDIR" } });
  });

  it("R-9: is not taken for that of another program while another process makes it", async () => {
    const maker = new Database(path);
    open.push({ close: () => maker.close() });
    maker.exec("PRAGMA journal_mode = WAL");
    class Watched extends Database {
      constructor(file: string) {
        super(file);
        const prepare = this.prepare.bind(this);
        const value = (sql: string) => {
          // Between two of the questions.
          if (sql.includes("sqlite_schema")) maker.exec(`BEGIN IMMEDIATE; ${FORMAT_1} COMMIT`);
          return prepare(sql);
        };
        Object.defineProperty(this, "prepare", { value });
      }
    }
    const connection = new SqliteConnection(Watched, path);
    open.push(connection);
    checkFormat(connection, SHARED_FORMAT);
    expect(connection.number("PRAGMA user_version")).toBe(1);
  });

  it("R-9: that was deleted or replaced is store_unavailable: others would not see what is written", async () => {
    const moved = { code: "store_unavailable", details: { path, reason: "moved" } };
    const first = await openStore();
    await put(first, "x");
    for (const file of await readdir(directory)) await rm(join(directory, file));
    await expect(put(first, "y", 1)).rejects.toMatchObject(moved);
    const second = await openStore();
    await expect(first.leases.acquire({ name: "a", holder: "b", ttlMs: 1, now: 1 })).rejects.toMatchObject(moved);
    expect(await put(second, "z")).toMatchObject({ kind: "written" });
  });

  it("R-10: that is full is store_full, with nothing half-written, and goes on", async () => {
    const store = await openStore({ maxFileBytes: 128 * 1024 });
    const large = "x".repeat(20_000);
    const generations: number[] = [];
    const fill = async (): Promise<void> => {
      for (let count = 0; ; count += 1) {
        const result = await put(store, large, undefined, `k${String(count)}`);
        if (result.kind === "written") generations.push(result.generation);
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "store_full", details: { path } });
    expect(generations.length).toBeGreaterThan(2);
    expect(await store.credentials.list(KEY.resource)).toHaveLength(generations.length);
    expect(await store.credentials.get({ ...KEY, name: `k${String(generations.length)}` })).toBeUndefined();
    expect(await put(store, "small", generations[0], "k0")).toMatchObject({ kind: "written" });
    expect(await put(store, "after", undefined, "after")).toMatchObject({ kind: "written" });
  });

  it("R-10: that another one keeps locked is store_in_use after busyTimeoutMs, and is as good as before then", async () => {
    const store = await openStore({ busyTimeoutMs: 50 });
    await put(store, "x");
    const other = new Database(path);
    open.push({ close: () => other.close() });
    other.exec("BEGIN IMMEDIATE");
    const refused = { code: "store_in_use", details: { path } };
    await expect(put(store, "y", 1)).rejects.toMatchObject(refused);
    await expect(store.credentials.get(KEY)).rejects.toMatchObject(refused);
    await expect(store.leases.acquire({ name: "a", holder: "b", ttlMs: 1, now: 1 })).rejects.toMatchObject(refused);
    other.exec("COMMIT");
    expect(await store.credentials.get(KEY)).toMatchObject({ text: "x", generation: 1 });
    expect(await put(store, "y", 1)).toEqual({ kind: "written", generation: 2 });
    const seen = await (await openStore()).credentials.get(KEY);
    expect(seen).toMatchObject({ text: "y" });
  });

  it("R-9: waits for its turn without keeping the process from other things", async () => {
    const store = await openStore();
    const other = new Database(path);
    open.push({ close: () => other.close() });
    other.exec("BEGIN IMMEDIATE");
    const waiting = put(store, "x");
    const ended = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100, "other things"))]);
    expect(ended).toBe("other things");
    other.exec("COMMIT");
    expect(await waiting).toMatchObject({ kind: "written" });
  });

  function setFormat(format: number): void {
    const database = new Database(path);
    database.exec(`PRAGMA user_version = ${String(format)}`);
    database.close();
  }
});

function schemaOf(file: string): unknown {
  const database = new Database(file);
  const tables = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name").raw().all();
  const numbers = ["application_id", "user_version"].map((name) => database.prepare(`PRAGMA ${name}`).raw().all());
  database.close();
  return JSON.stringify([tables, numbers]).replaceAll(/(?:\s|\\n)+/g, " ");
}
