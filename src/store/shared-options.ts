import { countOption, durationOption, refuseUnknownOptions } from "../options.js";
import { resolveFilePlace, type SqliteStoreConfig } from "./sqlite-options.js";

/** What a shared store holds at most. */
export interface SharedStoreLimits {
  /** Servers whose era is remembered; one more, and the one not asked about for the longest time is forgotten. 1,000. */
  readonly maxServers?: number | undefined;
  /** An era that nobody asked about for this long is forgotten. 90 days. */
  readonly forgetErasAfterMs?: number | undefined;
  /** Credentials, of all resources together. 1,000. */
  readonly maxCredentials?: number | undefined;
  /** Bytes of one credential's text in UTF-8. 64 KiB. */
  readonly maxCredentialBytes?: number | undefined;
  readonly clock?: SharedStoreClock | undefined;
}

/** Where a shared store is, and what it holds at most. */
export interface SharedStoreOptions extends SharedStoreLimits {
  /** Made if it is not there, with its parents, for its owner only. That of a host will do. */
  readonly directory: string;
  /** A plain name inside `directory`. `shared.db`. */
  readonly fileName?: string | undefined;
  /** The file does not grow beyond this many bytes through this process; what has no room is `store_full`. No limit. */
  readonly maxFileBytes?: number | undefined;
  /** How long a transaction, or the opening, waits for its turn among processes before it is `store_in_use`. 5,000. */
  readonly busyTimeoutMs?: number | undefined;
}

/** Time as the shared store needs it: the machine's, in epoch milliseconds, and one-shot timers. */
export interface SharedStoreClock {
  now(): number;
  /** Runs `run` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, run: () => void): () => void;
}

/** {@link SharedStoreLimits} with nothing left open. */
export interface SharedStoreBounds {
  readonly maxServers: number;
  readonly forgetErasAfterMs: number;
  readonly maxCredentials: number;
  readonly maxCredentialBytes: number;
  readonly clock: SharedStoreClock;
}

/** {@link SharedStoreOptions} with nothing left open. */
export interface SharedStoreConfig extends SqliteStoreConfig {
  readonly busyTimeoutMs: number;
  readonly bounds: SharedStoreBounds;
}

const LIMIT_NAMES = ["clock", "forgetErasAfterMs", "maxCredentialBytes", "maxCredentials", "maxServers"] as const;
const DAY_MS = 24 * 60 * 60_000;

const systemSharedClock: SharedStoreClock = {
  now: () => Date.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The limits with their defaults. Throws `invalid_options`. */
export function resolveSharedStoreLimits(limits: SharedStoreLimits): SharedStoreBounds {
  refuseUnknownOptions(limits, LIMIT_NAMES);
  return {
    maxServers: countOption("maxServers", limits.maxServers, 1_000),
    forgetErasAfterMs: durationOption("forgetErasAfterMs", limits.forgetErasAfterMs, 90 * DAY_MS),
    maxCredentials: countOption("maxCredentials", limits.maxCredentials, 1_000),
    maxCredentialBytes: countOption("maxCredentialBytes", limits.maxCredentialBytes, 64 * 1024),
    clock: limits.clock ?? systemSharedClock,
  };
}

/** The options with their defaults. Throws `invalid_options`. */
export function resolveSharedStoreOptions(options: SharedStoreOptions): SharedStoreConfig {
  refuseUnknownOptions(options, ["busyTimeoutMs", "directory", "fileName", "maxFileBytes", ...LIMIT_NAMES]);
  const { directory, fileName, maxFileBytes, busyTimeoutMs, ...limits } = options;
  return {
    ...resolveFilePlace({ directory, fileName, maxFileBytes }, "shared.db"),
    busyTimeoutMs: durationOption("busyTimeoutMs", busyTimeoutMs, 5_000),
    bounds: resolveSharedStoreLimits(limits),
  };
}
