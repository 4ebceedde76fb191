import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openVaultKey, sealedStore } from "../../../../src/oauth/vault/index.js";
import { openSharedStore, type SharedStore } from "../../../../src/store/index.js";

const KEY = { resource: "https://mcp.example/mcp", name: "tokens@" };
const TOKENS = ["access-4f1b9c", "refresh-77aa02"];
const TEXT = JSON.stringify({ accessToken: TOKENS[0], refreshToken: TOKENS[1] });

describe("A-10: tokens in shared.db", () => {
  let root: string;
  let directory: string;
  let shared: SharedStore;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "sealed-shared-"));
    directory = join(root, "state");
    shared = await openSharedStore({ directory });
  });

  afterEach(async () => {
    await shared.close();
    await rm(root, { recursive: true, force: true });
  });

  /** Which tokens the bytes of the database hold, and of what lies beside it. */
  async function seen(): Promise<readonly string[]> {
    const files = (await readdir(directory)).filter((name) => name.startsWith("shared.db"));
    expect(files).toEqual(expect.arrayContaining(["shared.db", "shared.db-wal"]));
    const bytes = Buffer.concat(await Promise.all(files.map((name) => readFile(join(directory, name)))));
    return TOKENS.filter((token) => bytes.includes(token));
  }

  it("are in no byte of it once they are sealed, and in its log without", async () => {
    const key = await openVaultKey({ directory, keychain: "never" });
    const store = sealedStore(shared, key);
    await store.credentials.put({ ...KEY, text: TEXT, expected: undefined, now: 1 });
    expect(await seen()).toEqual([]);
    expect(await store.credentials.get(KEY)).toMatchObject({ text: TEXT });
    key.close();
    await shared.close();
    shared = await openSharedStore({ directory });
    const again = sealedStore(shared, await openVaultKey({ directory, keychain: "never" }));
    expect(await again.credentials.get(KEY)).toMatchObject({ text: TEXT });
    expect(await again.leases.acquire({ name: "refresh", holder: "us", ttlMs: 1, now: 1 })).toMatchObject({
      kind: "held",
    });
    await shared.credentials.put({ ...KEY, name: "unsealed", text: TEXT, expected: undefined, now: 1 });
    expect(await seen()).toEqual(TOKENS);
  });

  it("of two accounts go on when one of them is damaged", async () => {
    const { credentials } = sealedStore(shared, await openVaultKey({ directory, keychain: "never" }));
    const [ada, bob] = [
      { ...KEY, name: "tokens@ada" },
      { ...KEY, name: "tokens@bob" },
    ];
    for (const place of [ada, bob]) {
      await credentials.put({ ...place, text: `of ${place.name}`, expected: undefined, now: 1 });
    }
    const row = await shared.credentials.get(ada);
    await shared.credentials.put({ ...ada, text: row?.text.slice(0, -1) ?? "", expected: row?.generation, now: 2 });
    const refused = { code: "oauth_invalid", details: { subject: "credential", member: ada.name } };
    await expect(credentials.get(ada)).rejects.toMatchObject(refused);
    expect(await credentials.get(bob)).toMatchObject({ text: "of tokens@bob" });
    expect(await credentials.list(KEY.resource)).toMatchObject([{ name: bob.name }]);
  });
});
