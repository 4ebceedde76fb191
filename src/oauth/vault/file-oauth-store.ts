import { join } from "node:path";
import { isRemoteConnectorError } from "../../errors.js";
import type { OAuthStore } from "../oauth-options.js";
import { FileLock } from "./file-lock.js";
import { FileRows } from "./file-rows.js";
import { makePrivateDirectory, vaultError } from "./private-files.js";
import { type FileStoreConfig, type FileStoreOptions, resolveFileStoreOptions } from "./vault-options.js";
import { storeOnRows, type VaultEngine, type VaultRows } from "./vault-rows.js";

/** Pauses between tries: short at first, since transactions are. */
const LONGEST_PAUSE_MS = 50;

/**
 * Opens a store of sealed files, one for each entry, that several processes of one user on one machine use at once. It needs no SQLite.
 * Files are 0600; each is there as a whole, the old one or the new one, also when a process is killed or the power is lost.
 *
 * An entry that can't be opened makes `get` reject with `oauth_invalid` about a `credential`, and so do `put` and `remove` where they would
 * have to show it; `list`, which reads one entry after another, leaves it out. `put` with nothing expected writes over it.
 *
 * A process that is stopped for 30 s in the midst of a write is succeeded by others, and its write fails; only if it stood still
 * between its last look at the lock and the next system call, two writes meet, of which the later one stays.
 *
 * Rejects with `invalid_options`; `store_in_use` when others keep the store busy for `busyTimeoutMs`; `store_full`; `store_newer_format`;
 * `store_unavailable`, with `loose_mode`, `symlink`, `damaged` or a code of the file system as its `reason`.
 */
export async function openFileStore(options: FileStoreOptions): Promise<OAuthStore> {
  const config = resolveFileStoreOptions(options);
  const lock = new FileLock(join(config.directory, "lock"), config.wallNow, config.randomBytes);
  const rows = new FileRows(config, lock);
  const engine = new FileEngine(config, lock, rows);
  // Without the lock, which has no room on a full disk: what is there can be read all the same.
  await engine.read(() => {
    makePrivateDirectory(config.directory);
    rows.tidy();
    rows.lastGeneration();
  });
  return storeOnRows(engine, config.bounds);
}

class FileEngine implements VaultEngine {
  readonly #config: FileStoreConfig;
  readonly #lock: FileLock;
  readonly #rows: FileRows;

  constructor(config: FileStoreConfig, lock: FileLock, rows: FileRows) {
    this.#config = config;
    this.#lock = lock;
    this.#rows = rows;
  }

  async read<T>(work: (rows: VaultRows) => T): Promise<T> {
    try {
      return work(this.#rows);
    } catch (error) {
      throw vaultError(error, this.#config.directory);
    }
  }

  /** Tries again while others are at work, until that was waited for long enough; the process goes on with other things meanwhile. */
  async transact<T>(work: (rows: VaultRows) => T): Promise<T> {
    const { busyTimeoutMs, clock } = this.#config;
    let waitedMs = 0;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await this.read((rows) => this.#lock.run(() => work(rows)));
      } catch (error) {
        if (!isRemoteConnectorError(error, "store_in_use") || waitedMs >= busyTimeoutMs) throw error;
      }
      // Counted, not measured: a clock that is set back must not make this wait forever.
      waitedMs += pauseMs;
      await new Promise<void>((resolve) => clock.schedule(pauseMs, resolve));
    }
  }
}
