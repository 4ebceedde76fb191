/** Where rows are kept: in memory, or in a file that one process holds. */
export { createMemoryStore } from "./memory-store.js";
export type { SqliteStoreOptions } from "./sqlite-options.js";
export { openSqliteStore } from "./sqlite-store.js";
export type { Store, StoreTx } from "./store.js";
