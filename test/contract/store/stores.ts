import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryStore, openSqliteStore, type Store } from "../../../src/store/index.js";

/** One implementation of the store, as the suite uses it. */
export interface StoreSetup {
  readonly name: string;
  /** An empty store. */
  open(): Promise<Store>;
  /** The same rows again, after the last store was closed. `undefined`: this kind forgets. */
  readonly reopen: (() => Promise<Store>) | undefined;
  cleanUp(): Promise<void>;
}

export function memorySetup(): StoreSetup {
  return {
    name: "memory",
    open: async () => createMemoryStore(),
    reopen: undefined,
    cleanUp: async () => {},
  };
}

export function sqliteSetup(): StoreSetup {
  let directory = "";
  return {
    name: "sqlite",
    async open() {
      directory = await mkdtemp(join(tmpdir(), "store-contract-"));
      return openSqliteStore({ directory });
    },
    reopen: () => openSqliteStore({ directory }),
    cleanUp: () => rm(directory, { recursive: true, force: true }),
  };
}
