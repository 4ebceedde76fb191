import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryStore, openSqliteStore, type Store } from "remote-connector/store";

/** Where the rows are kept. */
export type StoreKind = "memory" | "sqlite";

/** A store of the benchmark's own, gone when it is closed. */
export interface BenchStore {
  readonly store: Store;
  close(): Promise<void>;
}

export async function openBenchStore(kind: StoreKind): Promise<BenchStore> {
  if (kind === "memory") {
    const store = createMemoryStore();
    return { store, close: () => store.close() };
  }
  const directory = await mkdtemp(join(tmpdir(), "remote-connector-bench-"));
  const store = await openSqliteStore({ directory });
  return {
    store,
    async close() {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
