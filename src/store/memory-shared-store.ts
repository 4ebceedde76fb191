import { MemoryTable, type Undo } from "./memory-table.js";
import { CREDENTIAL_TABLE, sharedCredentials } from "./shared-credentials.js";
import { type SharedEngine, type SharedTables, storeClosed } from "./shared-engine.js";
import { ERA_TABLE, sharedEras } from "./shared-eras.js";
import { LEASE_TABLE, sharedLeases } from "./shared-leases.js";
import { resolveSharedStoreLimits, type SharedStoreLimits } from "./shared-options.js";
import type { SharedStore } from "./shared-store.js";

/** A shared store of one process, which forgets everything with it. It obeys the same contract. Throws `invalid_options`. */
export function createMemorySharedStore(limits: SharedStoreLimits = {}): SharedStore {
  const bounds = resolveSharedStoreLimits(limits);
  const engine = new MemorySharedEngine();
  return {
    eraMemory: sharedEras(engine, bounds),
    credentials: sharedCredentials(engine, bounds),
    leases: sharedLeases(engine),
    close: () => engine.close(),
  };
}

class MemorySharedEngine implements SharedEngine {
  readonly #changes: Undo[] = [];
  readonly #tables: SharedTables;
  #generation = 0;
  #isClosed = false;

  constructor() {
    this.#tables = {
      credentials: new MemoryTable(CREDENTIAL_TABLE, this.#changes),
      leases: new MemoryTable(LEASE_TABLE, this.#changes),
      eras: new MemoryTable(ERA_TABLE, this.#changes),
      nextGeneration: () => (this.#generation += 1),
    };
  }

  async transact<T>(work: (tables: SharedTables) => T): Promise<T> {
    if (this.#isClosed) throw storeClosed("memory");
    try {
      const result = work(this.#tables);
      this.#changes.length = 0;
      return result;
    } catch (error) {
      for (const undo of this.#changes.splice(0).toReversed()) undo();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
