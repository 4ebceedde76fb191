import { join } from "node:path";
import { choiceOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { KEY_BYTES, keyIdOf } from "./envelope.js";
import { type KeyPlace, parseKey, parseKeyFile, writeKey, writeKeyFile } from "./key-file.js";
import { type Keychain, openSystemKeychain } from "./keychain.js";
import { createWhole, makePrivateDirectory, readPrivateFile, unusable, vaultError } from "./private-files.js";
import { type RandomBytes, randomName, systemRandomBytes } from "./random-bytes.js";
import { createVaultKey, type VaultKey } from "./vault-key.js";
import { directoryOption } from "./vault-options.js";

/** What {@link openVaultKey} can be told. */
export interface VaultKeyOptions {
  /** Where `vault.key` is. Made if it is not there, with its parents, for its owner only (0700). One that others may enter is refused. */
  readonly directory: string;
  /** What people see in their keychain. `remote-connector`. */
  readonly service?: string | undefined;
  /**
   * `use`: a new key goes into the keychain, or into the file where there is no keychain. `never`: into the file. `require`: into the
   * keychain alone. Default `use`.
   */
  readonly keychain?: "use" | "never" | "require" | undefined;
  /** Default: that of the system. */
  readonly openKeychain?: (() => Promise<Keychain>) | undefined;
  /** Default: the system's. */
  readonly randomBytes?: RandomBytes | undefined;
}

interface VaultKeyConfig {
  readonly directory: string;
  readonly service: string;
  readonly keychain: "use" | "never" | "require";
  readonly openKeychain: () => Promise<Keychain>;
  readonly randomBytes: RandomBytes;
}

/**
 * The key of a directory: made when there is none yet, and then always the same one, for each process of the user. The file `vault.key`
 * (0600) says where it is, and is the key itself when that is not in the keychain. It is there as a whole or not at all: of processes that
 * start at once one makes the key, and a full disk or a killed process leaves none.
 *
 * Where a key is, is decided once: a keychain that is locked later on never leads to a second key.
 *
 * Rejects with `invalid_options`; `store_full`; `store_unavailable`, whose `reason` is `loose_mode`, `symlink`, `damaged` or `newer_format` for
 * a file or directory that is not used, `keychain_unavailable`, `key_missing` for a keychain that does not have the key any more, `key_in_file`
 * or `key_in_keychain` for one that is where `keychain` forbids, or a code of the file system.
 */
export async function openVaultKey(options: VaultKeyOptions): Promise<VaultKey> {
  const config = resolveVaultKeyOptions(options);
  const path = join(config.directory, "vault.key");
  try {
    makePrivateDirectory(config.directory);
    const text = readPrivateFile(path) ?? (await makeKey(path, config));
    return await load(parseKeyFile(text, path), path, config);
  } catch (error) {
    throw vaultError(error, path);
  }
}

function resolveVaultKeyOptions(options: VaultKeyOptions): VaultKeyConfig {
  refuseUnknownOptions(options, ["directory", "keychain", "openKeychain", "randomBytes", "service"]);
  const { service = "remote-connector" } = options;
  if (typeof service !== "string" || service === "") return refuseOption("service", "must be a name");
  return {
    directory: directoryOption(options.directory),
    service,
    keychain: choiceOption("keychain", options.keychain, ["use", "never", "require"]),
    openKeychain: functionOption("openKeychain", options.openKeychain, openSystemKeychain),
    randomBytes: functionOption("randomBytes", options.randomBytes, systemRandomBytes),
  };
}

/** The text of the key file: that of whoever was first. */
async function makeKey(path: string, config: VaultKeyConfig): Promise<string> {
  const key = config.randomBytes(KEY_BYTES);
  const id = keyIdOf(key);
  try {
    const keychain = config.keychain === "never" ? undefined : await keep(id, key, path, config);
    const place: KeyPlace = keychain === undefined ? { kind: "file", id, key } : { kind: "keychain", id };
    const mine = writeKeyFile([place]);
    let isFirst = false;
    try {
      isFirst = createWhole(path, mine, `${path}.${randomName(config.randomBytes)}.tmp`);
    } finally {
      // Under its own id, so that nobody else's is touched.
      if (!isFirst) await keychain?.delete(config.service, id).catch(() => {});
    }
    return isFirst ? mine : (readPrivateFile(path) ?? mine);
  } finally {
    key.fill(0);
  }
}

/** Puts the key into the keychain, and looks whether it is there. `undefined`: there is no keychain, and the file will do. */
async function keep(id: string, key: Uint8Array, path: string, config: VaultKeyConfig): Promise<Keychain | undefined> {
  try {
    const keychain = await config.openKeychain();
    const value = writeKey(key);
    await keychain.set(config.service, id, value);
    if ((await keychain.get(config.service, id)) === value) return keychain;
  } catch (error) {
    if (config.keychain === "require") throw unusable(path, "keychain_unavailable", error);
    return undefined;
  }
  if (config.keychain === "require") throw unusable(path, "keychain_unavailable");
  return undefined;
}

async function load(places: readonly KeyPlace[], path: string, config: VaultKeyConfig): Promise<VaultKey> {
  const keys: Uint8Array[] = [];
  try {
    for (const place of places) {
      keys.push(place.kind === "file" ? place.key : await fromKeychain(place.id, path, config));
      if (place.kind === "file" && config.keychain === "require") throw unusable(path, "key_in_file");
    }
    return createVaultKey({ keys, randomBytes: config.randomBytes });
  } finally {
    for (const key of keys) key.fill(0);
  }
}

async function fromKeychain(id: string, path: string, config: VaultKeyConfig): Promise<Uint8Array> {
  if (config.keychain === "never") throw unusable(path, "key_in_keychain");
  let value: string | undefined;
  try {
    value = await (await config.openKeychain()).get(config.service, id);
  } catch (error) {
    throw unusable(path, "keychain_unavailable", error);
  }
  if (value === undefined) throw unusable(path, "key_missing");
  const key = parseKey(value, id);
  if (key === undefined) throw unusable(path, "damaged");
  return key;
}
