import { createHash, randomBytes } from "node:crypto";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createVaultKey, openFileStore, openVaultKey } from "../../../../src/oauth/vault/index.js";
import { bundleVault, saidBy, type VaultPrograms } from "./vault-programs.js";

const PLACE = { resource: "https://mcp.example/mcp", name: "tokens@" };
const SECRET = createHash("sha256").update("a key of tests").digest();

/** A store of files in a program, opened with the key of these tests. */
const OPEN = `
  const key = vault.createVaultKey({ keys: [Buffer.from("${SECRET.toString("hex")}", "hex")] });
  const place = ${JSON.stringify(PLACE)};
  const { credentials, leases } = await vault.openFileStore({ directory: args[0], key });
`;

describe("A-10: a vault among processes", () => {
  const key = createVaultKey({ keys: [SECRET] });
  let programs: VaultPrograms;
  let root: string;
  let directory: string;

  beforeAll(async () => {
    programs = await bundleVault();
  });
  afterAll(() => programs.remove());

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "vault-processes-"));
    directory = join(root, "vault");
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const put = async (folder: string, text: string, expected?: number): Promise<number> => {
    const { credentials } = await openFileStore({ directory: folder, key });
    const result = await credentials.put({ ...PLACE, text, expected, now: 1 });
    if (result.kind !== "written") throw new Error("It was not written.");
    return result.generation;
  };

  describe("that make a key", () => {
    it("agree on one when several start at once, and each opens what another sealed", async () => {
      const body = `
        await say("ready");
        process.stdin.once("data", async () => {
          const key = await vault.openVaultKey({ directory: args[0], keychain: "never" });
          await say(key.seal("text", { resource: "r", name: "n" }));
        });`;
      const children = await Promise.all(Array.from({ length: 4 }, () => programs.start(body, directory)));
      for (const { ready } of children) await ready;
      for (const child of children) child.send("go");
      for (const { ended } of children) await ended;
      const own = await openVaultKey({ directory, keychain: "never" });
      for (const { lines } of children) expect(own.open(lines[1] ?? "", { resource: "r", name: "n" })).toBe("text");
      expect(await readdir(directory)).toEqual(["vault.key"]);
    });

    it("make none halfway on a full disk", async () => {
      const body = `
        const error = await vault.openVaultKey({ directory: args[0], keychain: "never" }).catch((reason) => reason);
        await say(error.code);`;
      expect(await saidBy(programs.startLimited(0, body, directory))).toEqual(["store_full"]);
      expect(await readdir(directory)).toEqual([]);
    });
  });

  describe("that write files", () => {
    it("lose no update when they compare and set, use no number twice, and give a lease to one of them", async () => {
      await put(directory, "0");
      const body = `${OPEN}
        const claim = { name: "refresh", holder: args[1], ttlMs: 60_000, now: 1 };
        await say((await leases.acquire(claim)).kind);
        for (let done = 0; done < 8; ) {
          const row = await credentials.get(place);
          const text = String(Number(row.text) + 1);
          const result = await credentials.put({ ...place, text, expected: row.generation, now: 1 });
          if (result.kind !== "written") continue;
          done += 1;
          await say(result.generation);
        }`;
      const said = await Promise.all(["a", "b", "c"].map((holder) => saidBy(programs.start(body, directory, holder))));
      const { credentials } = await openFileStore({ directory, key });
      expect((await credentials.get(PLACE))?.text).toBe("24");
      expect(said.filter(([lease]) => lease === "held")).toHaveLength(1);
      expect(new Set(said.flatMap(([, ...generations]) => generations)).size).toBe(24);
      expect((await readdir(directory)).filter((name) => /lock|tmp/.test(name))).toEqual([]);
    });

    it("each get their turn when they are many, and nothing that was written is lost", async () => {
      await put(directory, "0");
      const body = `${OPEN}
        for (let i = 0; i < 20; i += 1) {
          const result = await credentials.put({ ...place, name: args[1] + i, text: args[1], expected: undefined, now: 1 });
          await say(result.kind === "written" ? result.generation : result.kind);
        }`;
      const names = "abcdefghij".split("");
      const said = await Promise.all(names.map((name) => saidBy(programs.start(body, directory, name))));
      expect(new Set(said.flat().map(Number)).size).toBe(200);
      const { credentials } = await openFileStore({ directory, key });
      const texts = (await credentials.list(PLACE.resource)).map(({ text }) => text).toSorted();
      expect(texts).toEqual(["0", ...names.flatMap((name) => Array.from({ length: 20 }, () => name))]);
    });

    it("leave the old entry when the disk is full, and can be read then", async () => {
      const generation = await put(directory, "old");
      const body = `${OPEN}
        await say((await credentials.get(place)).text);
        const long = { ...place, text: "x".repeat(1_000), expected: ${String(generation)}, now: 1 };
        await say((await credentials.put(long).catch((reason) => reason)).code);
        await say((await credentials.get(place)).text);`;
      for (const blocks of [0, 1]) {
        expect(await saidBy(programs.startLimited(blocks, body, directory))).toEqual(["old", "store_full", "old"]);
      }
      expect((await readdir(directory)).filter((name) => /lock|tmp/.test(name))).toEqual([]);
      expect(await put(directory, "new", generation)).toBeGreaterThan(generation);
    });
  });

  describe("that are killed", () => {
    /** Kills the program right before one of its changes of the file system; with 0 it says how many there are. */
    const KILLED = `
      import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      let changes = 0;
      const arm = (last) => {
        for (const name of ["linkSync", "openSync", "renameSync", "rmSync", "writeFileSync"]) {
          const call = fs[name];
          fs[name] = (...given) => {
            if (name !== "openSync" || given[1] === "wx") changes += 1;
            if (changes === last) process.kill(process.pid, "SIGKILL");
            return call(...given);
          };
        }
        syncBuiltinESMExports();
      };
      ${OPEN}
      arm(Number(args[1]));
      const result = await credentials.put({ ...place, text: "new", expected: Number(args[2]), now: 2 });
      await say(changes);`;

    /** One more: the write, in a copy of the directory, ended before change `last`. */
    async function killAt(template: string, last: number, generation: number): Promise<string | undefined> {
      const folder = join(root, `killed-${String(last)}`);
      await cp(template, folder, { recursive: true, mode: 0 });
      const child = await programs.start(KILLED, folder, String(last), String(generation));
      expect(await child.ended).toBe("SIGKILL");
      const { credentials } = await openFileStore({ directory: folder, key, busyTimeoutMs: 1 });
      const row = await credentials.get(PLACE);
      const after = await put(folder, "after", row?.generation);
      expect(after).toBeGreaterThan(Math.max(generation, row?.generation ?? 0));
      await rm(folder, { recursive: true });
      return row?.text;
    }

    it("before any change of a write leave the old entry or the new one, and keep nobody waiting", async () => {
      const generation = await put(directory, "old");
      // Somebody was killed before: the write begins by succeeding them.
      const holder = { id: "0".repeat(24), pid: 2 ** 22 + 1, host: hostname(), since: Date.now() };
      await writeFile(join(directory, "lock"), JSON.stringify(holder), { mode: 0o600 });
      const whole = join(root, "whole");
      await cp(directory, whole, { recursive: true });
      const [count] = await saidBy(programs.start(KILLED, whole, "0", String(generation)));
      const points = Array.from({ length: Number(count) }, (_, i) => i + 1);
      expect(points.length).toBeGreaterThan(15);
      const found: (string | undefined)[] = [];
      for (let at = 0; at < points.length; at += 4) {
        const batch = points.slice(at, at + 4);
        found.push(...(await Promise.all(batch.map((last) => killAt(directory, last, generation)))));
      }
      const firstNew = found.indexOf("new");
      expect(firstNew).toBeGreaterThan(0);
      expect(found).toEqual(points.map((_, i) => (i < firstNew ? "old" : "new")));
    });
  });

  it("keeps its keys apart: a store of another one's key shows nothing", async () => {
    await put(directory, "text");
    const other = await openFileStore({ directory, key: createVaultKey({ keys: [randomBytes(32)] }) });
    const refused = { code: "oauth_invalid", details: { reason: "is sealed with a key that is not here" } };
    await expect(other.credentials.get(PLACE)).rejects.toMatchObject(refused);
  });
});
