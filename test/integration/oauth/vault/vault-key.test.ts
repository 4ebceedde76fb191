import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Keychain, openVaultKey, type VaultKeyOptions } from "../../../../src/oauth/vault/index.js";
import { damagedTexts } from "../../../support/damage.js";
import { fileKeychain } from "../../../support/file-keychain.js";

const PLACE = { resource: "https://mcp.example/mcp", name: "tokens@" };

describe("A-10: the key of a vault", () => {
  let root: string;
  let directory: string;
  let path: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "vault-key-"));
    directory = join(root, "vault");
    path = join(directory, "vault.key");
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  const open = (options: Partial<VaultKeyOptions> = {}) => openVaultKey({ directory, keychain: "never", ...options });
  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
  const keychainIn = (name: string) => async () => fileKeychain(join(root, name));
  const refused = (reason: string) => ({ code: "store_unavailable", details: { reason } });

  describe("in a file", () => {
    it("is made for its owner only, and is the same one from then on", async () => {
      const first = await open({ directory: join(directory, "deep") });
      const envelope = first.seal("text", PLACE);
      first.close();
      expect(await modeOf(directory)).toBe("700");
      expect(await modeOf(join(directory, "deep"))).toBe("700");
      expect(await modeOf(join(directory, "deep", "vault.key"))).toBe("600");
      expect(await readdir(join(directory, "deep"))).toEqual(["vault.key"]);
      const again = await open({ directory: join(directory, "deep") });
      expect([again.id, again.open(envelope, PLACE)]).toEqual([first.id, "text"]);
      expect((await open()).id).not.toBe(first.id);
    });

    it("leaves no copy of itself in the buffer that it was made in", async () => {
      const given: Uint8Array[] = [];
      const record = (size: number) => {
        const bytes = new Uint8Array(randomBytes(size));
        if (size === 32) given.push(bytes);
        return bytes;
      };
      await open({ randomBytes: record });
      expect(given).toEqual([new Uint8Array(32)]);
    });

    it("is refused when others may read it, when it is a link or no file, and is left as it is", async () => {
      const { id } = await open();
      await chmod(path, 0o640);
      await expect(open()).rejects.toMatchObject({ ...refused("loose_mode"), details: { path } });
      await chmod(path, 0o600);
      expect((await open()).id).toBe(id);
      await symlink(path, join(root, "link"));
      const other = join(root, "other");
      await mkdir(other, { mode: 0o700 });
      await symlink(path, join(other, "vault.key"));
      await expect(open({ directory: other })).rejects.toMatchObject(refused("symlink"));
      await rm(path);
      await mkdir(path, { mode: 0o700 });
      await expect(open()).rejects.toMatchObject(refused("not_a_file"));
    });

    it("is not looked for in a directory that others may enter, that is a link, or that can't be made", async () => {
      await open();
      await chmod(directory, 0o750);
      await expect(open()).rejects.toMatchObject(refused("loose_mode"));
      await chmod(directory, 0o700);
      await symlink(directory, join(root, "link"));
      await expect(open({ directory: join(root, "link") })).rejects.toMatchObject(refused("symlink"));
      await expect(open({ directory: path })).rejects.toMatchObject(refused("not_a_directory"));
      await expect(open({ directory: join(path, "x") })).rejects.toMatchObject(refused("ENOTDIR"));
    });

    it("is refused with any change and at any length, and never made anew then", async () => {
      await open();
      const text = await readFile(path, "utf8");
      const encoded = text.trim().split(" ").at(-1) ?? "";
      for (const damaged of damagedTexts(text, [1])) {
        if (damaged === text) continue;
        await writeFile(path, damaged);
        const error: unknown = await open().catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "store_unavailable" });
        expect(JSON.stringify(error) + String(error)).not.toContain(encoded.slice(0, 8));
      }
      expect(await readFile(path, "utf8")).not.toBe("");
    });
  });

  describe("in a keychain", () => {
    it("is there alone: the file says its id", async () => {
      const openKeychain = keychainIn("keychain");
      const key = await open({ keychain: "use", openKeychain, service: "some app" });
      const envelope = key.seal("text", PLACE);
      expect(await readFile(path, "utf8")).toBe(`remote-connector vault key 1\nkeychain ${key.id}\n`);
      expect(await readdir(join(root, "keychain"))).toEqual([`some%20app.${key.id}`]);
      const again = await open({ keychain: "require", openKeychain, service: "some app" });
      expect(again.open(envelope, PLACE)).toBe("text");
    });

    it("is never made a second time while that keychain is away, or when it was lost there", async () => {
      const openKeychain = keychainIn("keychain");
      const key = await open({ keychain: "use", openKeychain });
      const away = async (): Promise<Keychain> => {
        throw new Error("locked");
      };
      await expect(open({ keychain: "use", openKeychain: away })).rejects.toMatchObject(
        refused("keychain_unavailable"),
      );
      await expect(open({ keychain: "never" })).rejects.toMatchObject(refused("key_in_keychain"));
      const other = keychainIn("other");
      await expect(open({ keychain: "use", openKeychain: other })).rejects.toMatchObject(refused("key_missing"));
      const entry = join(root, "keychain", `remote-connector.${key.id}`);
      await writeFile(entry, randomBytes(32).toString("base64url"));
      await expect(open({ keychain: "use", openKeychain })).rejects.toMatchObject(refused("damaged"));
    });

    it.each<[string, (kept: Keychain) => Partial<Keychain>]>([
      ["can't be written", () => ({ set: () => Promise.reject(new Error("no")) })],
      ["can't be read", () => ({ get: () => Promise.reject(new Error("no")) })],
      ["forgets at once", () => ({ set: async () => {} })],
      [
        "changes what it is given",
        (kept) => ({ set: (service, account, value) => kept.set(service, account, `${value}x`) }),
      ],
    ])("that %s: the key goes into the file, or nowhere when a keychain is required", async (_, faults) => {
      const kept = fileKeychain(join(root, "keychain"));
      const openKeychain = async () => ({ ...kept, ...faults(kept) });
      const required = open({ keychain: "require", openKeychain });
      await expect(required).rejects.toMatchObject(refused("keychain_unavailable"));
      expect(await readdir(directory)).toEqual([]);
      const { id } = await open({ keychain: "use", openKeychain });
      expect((await open()).id).toBe(id);
      const later = open({ keychain: "require", openKeychain: async () => kept });
      await expect(later).rejects.toMatchObject(refused("key_in_file"));
    });

    it("is one when several processes start at once: the others' entries go again", async () => {
      const openKeychain = keychainIn("keychain");
      const keys = await Promise.all(Array.from({ length: 6 }, () => open({ keychain: "use", openKeychain })));
      expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
      expect(await readdir(join(root, "keychain"))).toEqual([`remote-connector.${keys[0]?.id ?? ""}`]);
    });

    it.skipIf(process.platform !== "linux")("is that of the system, or the file where there is none", async () => {
      const address = process.env["DBUS_SESSION_BUS_ADDRESS"];
      process.env["DBUS_SESSION_BUS_ADDRESS"] = `unix:path=${join(root, "nobody")}`;
      try {
        const required = openVaultKey({ directory, keychain: "require" });
        await expect(required).rejects.toMatchObject(refused("keychain_unavailable"));
        const { id } = await openVaultKey({ directory });
        expect(await readFile(path, "utf8")).toContain(`\nfile ${id} `);
      } finally {
        if (address === undefined) delete process.env["DBUS_SESSION_BUS_ADDRESS"];
        else process.env["DBUS_SESSION_BUS_ADDRESS"] = address;
      }
    });
  });

  it("is rotated by a line before the others: the new key seals, and both open", async () => {
    const before = await open();
    const envelope = before.seal("text", PLACE);
    const openKeychain = keychainIn("keychain");
    const elsewhere = join(root, "elsewhere");
    const { id } = await open({ directory: elsewhere, keychain: "use", openKeychain });
    const [head, line] = (await readFile(join(elsewhere, "vault.key"), "utf8")).split("\n");
    await writeFile(path, (await readFile(path, "utf8")).replace(`${head ?? ""}\n`, `${head ?? ""}\n${line ?? ""}\n`));
    const after = await open({ keychain: "use", openKeychain });
    expect([after.id, after.open(envelope, PLACE)]).toEqual([id, "text"]);
    expect(() => before.open(after.seal("text", PLACE), PLACE)).toThrow(
      expect.objectContaining({ code: "oauth_invalid" }),
    );
  });

  it.each<[Partial<VaultKeyOptions> & { readonly keychains?: string }, string]>([
    [{ directory: "" }, "directory"],
    [{ service: "" }, "service"],
    [{ keychains: "never" }, "keychains"],
  ])("refuses the options %o", async (options, option) => {
    await expect(open(options)).rejects.toMatchObject({ code: "invalid_options", details: { option } });
  });
});
