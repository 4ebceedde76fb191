import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CredentialStore, OAuthStore } from "../../../../src/oauth/index.js";
import { FileLock, LOCK_STALE_AFTER_MS, type LockHolder } from "../../../../src/oauth/vault/file-lock.js";
import { FileRows } from "../../../../src/oauth/vault/file-rows.js";
import { createVaultKey, type FileStoreOptions, openFileStore } from "../../../../src/oauth/vault/index.js";
import { resolveFileStoreOptions } from "../../../../src/oauth/vault/vault-options.js";
import { damagedTexts } from "../../../support/damage.js";

const RESOURCE = "https://mcp.example/mcp";
const [ADA, BOB] = [
  { resource: RESOURCE, name: "tokens@ada" },
  { resource: RESOURCE, name: "tokens@bob" },
];
const TEXT = '{"access_token":"secret-token"}';
const START = 1_700_000_000_000;

describe("A-10: a store of sealed files", () => {
  const key = createVaultKey({ keys: [createHash("sha256").update("a key of tests").digest()] });
  let directory: string;

  beforeEach(async () => {
    directory = join(await mkdtemp(join(tmpdir(), "file-store-")), "vault");
  });
  afterEach(() => rm(join(directory, ".."), { recursive: true, force: true }));

  const open = (options: Partial<FileStoreOptions> = {}): Promise<OAuthStore> =>
    openFileStore({ directory, key, ...options });
  const unavailable = (reason: string) => ({ code: "store_unavailable", details: { reason } });
  const entries = async () => (await readdir(directory)).filter((name) => name.endsWith(".entry"));

  async function write(store: CredentialStore, place: typeof ADA, text = TEXT, expected?: number): Promise<number> {
    const result = await store.put({ ...place, text, expected, now: 1 });
    if (result.kind !== "written") throw new Error("It was not written.");
    return result.generation;
  }

  /** The path of the only entry. */
  async function onlyEntry(): Promise<string> {
    const [name = "", ...others] = await entries();
    expect(others).toEqual([]);
    return join(directory, name);
  }

  it("is for its owner only, and shows no token in any byte, nor a URL in a name", async () => {
    const { credentials, leases } = await open();
    await write(credentials, ADA);
    await leases.acquire({ name: "refresh", holder: "us", ttlMs: 1_000, now: 1 });
    expect(((await stat(directory)).mode & 0o777).toString(8)).toBe("700");
    for (const name of await readdir(directory)) {
      expect(((await stat(join(directory, name))).mode & 0o777).toString(8)).toBe("600");
      expect(await readFile(join(directory, name), "utf8")).not.toContain("secret-token");
    }
    expect(await onlyEntry()).toMatch(/\/[0-9a-f]{32}-[0-9a-f]{32}\.entry$/);
    expect((await readdir(directory)).toSorted().slice(-2)).toEqual(["leases.json", "store.json"]);
  });

  it("is there again for those who open it later", async () => {
    const first = await open();
    const generation = await write(first.credentials, ADA);
    await first.leases.acquire({ name: "refresh", holder: "us", ttlMs: 1_000, now: 1 });
    const later = await open();
    expect(await later.credentials.get(ADA)).toEqual({ ...ADA, text: TEXT, generation, updatedAt: 1 });
    expect(await later.leases.acquire({ name: "refresh", holder: "them", ttlMs: 1, now: 2 })).toMatchObject({
      kind: "taken",
      holder: "us",
    });
    expect(await later.credentials.remove(ADA, generation)).toEqual({ kind: "removed" });
    expect(await write((await open()).credentials, ADA)).toBeGreaterThan(generation);
  });

  it("refuses an entry with any change and at any length, while other accounts go on", async () => {
    const { credentials } = await open();
    await write(credentials, ADA);
    const path = await onlyEntry();
    await write(credentials, BOB, "of bob");
    const text = await readFile(path, "utf8");
    for (const damaged of damagedTexts(text, [1])) {
      if (damaged === text) continue;
      await writeFile(path, damaged);
      const error: unknown = await credentials.get(ADA).catch((reason: unknown) => reason);
      expect([damaged, error]).toMatchObject([
        damaged,
        { code: "oauth_invalid", details: { subject: "credential", url: RESOURCE, member: ADA.name } },
      ]);
      expect(JSON.stringify(error) + String(error)).not.toContain("secret-token");
    }
    expect(await credentials.get(BOB)).toMatchObject({ text: "of bob" });
    expect(await credentials.list(RESOURCE)).toMatchObject([{ name: BOB.name }]);
    await expect(credentials.remove(ADA, 1)).rejects.toMatchObject({ code: "oauth_invalid" });
    await expect(write(credentials, ADA, TEXT, 1)).rejects.toMatchObject({ code: "oauth_invalid" });
    expect(await write(credentials, ADA, "a new sign-in")).toBeGreaterThan(2);
    expect(await credentials.get(ADA)).toMatchObject({ text: "a new sign-in" });
  });

  it("refuses an entry that was moved into the file of another one, its first line changed or not", async () => {
    const { credentials } = await open();
    await write(credentials, ADA);
    const ofAda = await onlyEntry();
    await write(credentials, BOB);
    const ofBob = join(directory, (await entries()).find((name) => !ofAda.endsWith(name)) ?? "");
    const text = await readFile(ofAda, "utf8");
    await rename(ofAda, ofBob);
    const refused = { code: "oauth_invalid", details: { member: BOB.name } };
    await expect(credentials.get(BOB)).rejects.toMatchObject(refused);
    await writeFile(ofBob, text.replace(ADA.name, BOB.name));
    await expect(credentials.get(BOB)).rejects.toMatchObject(refused);
    expect(await credentials.get(ADA)).toBeUndefined();
  });

  it("refuses files and directories that others may use, or that are links", async () => {
    const { credentials } = await open();
    await write(credentials, ADA);
    const path = await onlyEntry();
    await chmod(path, 0o644);
    await expect(credentials.get(ADA)).rejects.toMatchObject(unavailable("loose_mode"));
    await chmod(path, 0o600);
    await rename(path, join(directory, "elsewhere"));
    await symlink(join(directory, "elsewhere"), path);
    await expect(credentials.get(ADA)).rejects.toMatchObject(unavailable("symlink"));
    await chmod(directory, 0o755);
    await expect(open()).rejects.toMatchObject(unavailable("loose_mode"));
    await expect(open({ directory: join(path, "below") })).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("refuses a newer format, and a counter that was damaged or lost beside entries", async () => {
    const { credentials } = await open();
    const generation = await write(credentials, ADA);
    const counter = join(directory, "store.json");
    const text = await readFile(counter, "utf8");
    await writeFile(counter, text.replace('"format":1', '"format":7'));
    const newer = { code: "store_newer_format", details: { path: counter, found: 7, known: 1 } };
    await expect(open()).rejects.toMatchObject(newer);
    await expect(write(credentials, ADA, TEXT, generation)).rejects.toMatchObject(newer);
    for (const damaged of [
      "",
      "{}",
      "[]",
      text.slice(0, -1),
      '{"format":1,"generation":-1}',
      '{"format":1,"generation":0.5}',
    ]) {
      await writeFile(counter, damaged);
      await expect(open()).rejects.toMatchObject(unavailable("damaged"));
    }
    await rm(counter);
    await expect(open()).rejects.toMatchObject(unavailable("missing"));
    expect(await credentials.get(ADA)).toMatchObject({ text: TEXT, generation });
  });

  it("begins with no lease where they can't be read", async () => {
    const { leases } = await open();
    const claim = { name: "refresh", holder: "us", ttlMs: 1_000, now: 1 };
    for (const damaged of [
      "",
      "null",
      '{"leases":1}',
      '{"leases":[null,{"name":"refresh","holder":"them","until":9e9}]}',
    ]) {
      await writeFile(join(directory, "leases.json"), damaged, { mode: 0o600 });
      expect(await leases.acquire(claim)).toMatchObject({ kind: "held" });
    }
  });

  it("is closed with its key, which stays the caller's", async () => {
    const own = createVaultKey({ keys: [randomBytes(32)] });
    const { credentials } = await open({ key: own });
    await write(credentials, ADA);
    own.close();
    await expect(credentials.get(ADA)).rejects.toMatchObject(unavailable("closed"));
    await expect(credentials.list(RESOURCE)).rejects.toMatchObject(unavailable("closed"));
    await expect(write(credentials, BOB)).rejects.toMatchObject(unavailable("closed"));
  });

  it.each<[Partial<FileStoreOptions> & { readonly busyTimeout?: number }, string]>([
    [{ directory: "" }, "directory"],
    [{ busyTimeoutMs: 0 }, "busyTimeoutMs"],
    [{ busyTimeout: 1 }, "busyTimeout"],
  ])("refuses the options %o", async (options, option) => {
    await expect(open(options)).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });

  describe("and its lock", () => {
    /** A process that goes on for as long as this one. */
    const OTHER: LockHolder = { id: "0".repeat(24), pid: process.ppid, host: hostname(), since: START };
    const holdBy = (holder: unknown, name = "lock") =>
      writeFile(join(directory, name), JSON.stringify(holder), { mode: 0o600 });

    it("that another process holds is store_in_use after busyTimeoutMs; reading goes on", async () => {
      const { credentials } = await open({ busyTimeoutMs: 5, wallNow: () => START });
      const generation = await write(credentials, ADA);
      await holdBy(OTHER);
      await expect(write(credentials, ADA, "new", generation)).rejects.toMatchObject({
        code: "store_in_use",
        details: { path: join(directory, "lock") },
      });
      expect(await credentials.get(ADA)).toMatchObject({ text: TEXT });
      expect(await credentials.list(RESOURCE)).toHaveLength(1);
      await rm(join(directory, "lock"));
      expect(await write(credentials, ADA, "new", generation)).toBeGreaterThan(generation);
    });

    it("is waited for without keeping the process busy", async () => {
      const { credentials } = await open({ wallNow: () => START });
      await holdBy(OTHER);
      const writing = write(credentials, ADA);
      await rm(join(directory, "lock"));
      expect(await writing).toBe(1);
    });

    it.each<[string, object]>([
      ["that has ended", { ...OTHER, pid: 2 ** 22 + 1 }],
      ["that stands still for 30 s", { ...OTHER, since: START - LOCK_STALE_AFTER_MS }],
      ["of which a loss of power left nothing", {}],
    ])("of a process %s is taken over, also when the one that took it over was killed", async (_, holder) => {
      const { credentials } = await open({ busyTimeoutMs: 1, wallNow: () => START });
      await holdBy(holder);
      await utimes(join(directory, "lock"), 0, 0);
      const id = "id" in holder ? OTHER.id : "unreadable";
      await holdBy({ ...OTHER, id: "1".repeat(24), pid: 2 ** 22 + 1 }, `lock.${id}`);
      await write(credentials, ADA);
      expect((await readdir(directory)).filter((name) => name.startsWith("lock"))).toEqual([]);
    });

    it("is not taken over while another process does just that", async () => {
      const { credentials } = await open({ busyTimeoutMs: 1, wallNow: () => START });
      await holdBy({ ...OTHER, pid: 2 ** 22 + 1 });
      await holdBy({ ...OTHER, id: "1".repeat(24) }, `lock.${OTHER.id}`);
      await expect(write(credentials, ADA)).rejects.toMatchObject({ code: "store_in_use" });
      expect(await readFile(join(directory, "lock"), "utf8")).toContain(OTHER.id);
    });

    it("that was taken over lets nothing more be changed, and stays its new holder's", async () => {
      await open();
      const lock = new FileLock(join(directory, "lock"), () => START, randomBytes);
      const states: string[] = [];
      lock.run(() => {
        lock.assertHeld();
        states.push("held");
      });
      expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: "store_in_use" }));
      const late = new FileLock(join(directory, "lock"), () => START + LOCK_STALE_AFTER_MS, randomBytes);
      lock.run(() => {
        late.run(() => {
          expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: "store_in_use" }));
          late.assertHeld();
          states.push("taken over");
        });
      });
      expect(states).toEqual(["held", "taken over"]);
      expect((await readdir(directory)).filter((name) => name.startsWith("lock"))).toEqual([]);
    });

    it("that was taken over stops each change that was under way, at its last moment", async () => {
      const { credentials } = await open({ wallNow: () => START });
      const generation = await write(credentials, ADA);
      const before = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name))));
      const path = join(directory, "lock");
      const config = resolveFileStoreOptions({ directory, key, wallNow: () => START });
      const lock = new FileLock(path, () => START, randomBytes);
      const late = new FileLock(path, () => START + LOCK_STALE_AFTER_MS, randomBytes);
      const rows = new FileRows(config, lock);
      const changes = [
        () => rows.put({ ...ADA, generation, text: "late", updatedAt: 2 }),
        () => rows.remove(ADA),
        () => rows.nextGeneration(),
        () => rows.keepLeases(new Map()),
      ];
      lock.run(() =>
        late.run(() => {
          for (const change of changes) expect(change).toThrow(expect.objectContaining({ code: "store_in_use" }));
        }),
      );
      const after = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name))));
      expect(after).toEqual(before);
    });

    it("of a process that has ended is not taken from the one that took it over a moment ago", async () => {
      await open();
      await holdBy({ ...OTHER, pid: 2 ** 22 + 1 });
      const theirs = JSON.stringify({ ...OTHER, id: "2".repeat(24) });
      let names = 0;
      // Names: of the holder, of its file, and, once the dead one was seen, of the file of the succession.
      const late = new FileLock(
        join(directory, "lock"),
        () => START,
        (size) => {
          names += 1;
          if (names === 3) writeFileSync(join(directory, "lock"), theirs);
          return randomBytes(size);
        },
      );
      expect(() => late.run(() => undefined)).toThrow(expect.objectContaining({ code: "store_in_use" }));
      expect(names).toBe(3);
      expect(await readFile(join(directory, "lock"), "utf8")).toBe(theirs);
      expect(await readdir(directory)).toEqual(["lock"]);
    });

    it("leaves nothing behind for long: what killed processes left goes when it is opened", async () => {
      await open();
      for (const name of ["lock.1", "x.entry.2.tmp"]) {
        await writeFile(join(directory, name), "");
        await utimes(join(directory, name), START / 1_000, START / 1_000);
      }
      await open({ wallNow: () => START + 59_000 });
      expect(await readdir(directory)).toEqual(["lock.1", "x.entry.2.tmp"]);
      await open({ wallNow: () => START + 60_000 });
      expect(await readdir(directory)).toEqual([]);
    });
  });
});
