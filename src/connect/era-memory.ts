import { createHash } from "node:crypto";
import { countOption, refuseUnknownOptions } from "../options.js";
import type { Era } from "./mcp-client.js";

/** What was found out about a server. */
export interface EraRecord {
  readonly era: Era;
  /** Unix time in milliseconds. */
  readonly decidedAt: number;
}

/**
 * Where the eras of servers are remembered, so that no server has to be probed twice. What it throws or rejects with is a
 * diagnostic, and reads as nothing. Keys are opaque, and hold neither an address nor a secret in a readable form.
 */
export interface EraMemory {
  read(key: string): EraRecord | undefined | PromiseLike<EraRecord | undefined>;
  write(key: string, record: EraRecord): unknown;
  forget(key: string): unknown;
}

export interface EraMemoryOptions {
  /** Servers that are remembered; one more, and the one not asked about for the longest time is forgotten. Default 1,000. */
  readonly maxServers?: number | undefined;
}

/** An {@link EraMemory} for as long as the process lives. Throws `invalid_options`. */
export function createEraMemory(options: EraMemoryOptions = {}): EraMemory {
  refuseUnknownOptions(options, ["maxServers"]);
  const maxServers = countOption("maxServers", options.maxServers, 1_000);
  const records = new Map<string, EraRecord>();
  const put = (key: string, record: EraRecord): void => {
    records.delete(key);
    records.set(key, record);
  };
  return {
    read(key) {
      const record = records.get(key);
      if (record !== undefined) put(key, record);
      return record;
    },
    write(key, record) {
      put(key, record);
      for (const oldest of records.keys()) {
        if (records.size <= maxServers) break;
        records.delete(oldest);
      }
    },
    forget(key) {
      records.delete(key);
    },
  };
}

/** The key of a server: what it is reached by, and in whose name. */
export function eraKey(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
