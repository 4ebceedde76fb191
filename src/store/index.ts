/** Where rows are kept: in memory, in a file that one process holds, and in one that several processes use. */
export type {
  Credential,
  CredentialConflict,
  CredentialKey,
  CredentialPut,
  CredentialPutResult,
  CredentialRemoveResult,
  CredentialStore,
  LeaseClaim,
  LeaseResult,
  LeaseStore,
} from "../oauth/index.js";
export { createMemoryJournalRows } from "./memory-journal-rows.js";
export { createMemorySharedStore } from "./memory-shared-store.js";
export { createMemoryStore } from "./memory-store.js";
export type { SharedStoreClock, SharedStoreLimits, SharedStoreOptions } from "./shared-options.js";
export type { SharedStore } from "./shared-store.js";
export { openSharedStore } from "./sqlite-shared-store.js";
export { openSqliteJournalRows } from "./sqlite-journal-rows.js";
export type { SqliteStoreOptions } from "./sqlite-options.js";
export { openSqliteStore } from "./sqlite-store.js";
export type { Store, StoreTx } from "./store.js";
