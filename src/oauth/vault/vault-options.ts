import { durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { type Clock, systemClock } from "../../transport/index.js";
import { type RandomBytes, systemRandomBytes } from "./random-bytes.js";
import { LIMIT_NAMES, resolveVaultLimits, type VaultBounds, type VaultLimits } from "./store-limits.js";
import type { VaultKey } from "./vault-key.js";

/** Where a store of files is, and what it holds at most. */
export interface FileStoreOptions extends VaultLimits {
  /** Made if it is not there, with its parents, for its owner only (0700). One that others may enter is refused. */
  readonly directory: string;
  /** Seals the entries. It stays the caller's: the store does not close it. */
  readonly key: VaultKey;
  /** How long a transaction waits for its turn among processes before it is `store_in_use`. 5,000. */
  readonly busyTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Unix time in milliseconds. Default `Date.now`. */
  readonly wallNow?: (() => number) | undefined;
  /** Default: the system's. */
  readonly randomBytes?: RandomBytes | undefined;
}

/** {@link FileStoreOptions} with nothing left open. */
export interface FileStoreConfig {
  readonly directory: string;
  readonly key: VaultKey;
  readonly bounds: VaultBounds;
  readonly busyTimeoutMs: number;
  readonly clock: Clock;
  readonly wallNow: () => number;
  readonly randomBytes: RandomBytes;
}

/** The options with their defaults. Throws `invalid_options`. */
export function resolveFileStoreOptions(options: FileStoreOptions): FileStoreConfig {
  const names = ["busyTimeoutMs", "clock", "directory", "key", "randomBytes", "wallNow", ...LIMIT_NAMES];
  refuseUnknownOptions(options, names);
  return {
    directory: directoryOption(options.directory),
    key: options.key,
    bounds: resolveVaultLimits(options),
    busyTimeoutMs: durationOption("busyTimeoutMs", options.busyTimeoutMs, 5_000),
    clock: options.clock ?? systemClock,
    wallNow: functionOption("wallNow", options.wallNow, Date.now),
    randomBytes: functionOption("randomBytes", options.randomBytes, systemRandomBytes),
  };
}

/** Throws `invalid_options` for what is no path. */
export function directoryOption(directory: string): string {
  if (typeof directory === "string" && directory !== "") return directory;
  return refuseOption("directory", "must be a path");
}
