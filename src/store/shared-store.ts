import type { EraMemory } from "../connect/index.js";
import type { CredentialStore, LeaseStore } from "../oauth/index.js";

/**
 * What several processes of one user know together. Every method of its parts is one short transaction; a process that is
 * killed in the middle of one leaves nothing of it, and keeps nobody waiting.
 */
export interface SharedStore {
  /** Goes into `connect`'s option of the same name. Bounded, and eras that nobody asked for in a long time are forgotten. */
  readonly eraMemory: EraMemory;
  readonly credentials: CredentialStore;
  readonly leases: LeaseStore;
  /** Lets go of everything; what is asked for afterwards rejects with `store_unavailable`. Idempotent. */
  close(): Promise<void>;
}
