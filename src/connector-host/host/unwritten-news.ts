import type { Snapshot, SnapshotEntry } from "../../auth-projection/index.js";

/** A connection that something is to run by. */
export interface GrantedConnection {
  readonly connectorKey: string;
  /** The release that it is for. */
  readonly connectorVersion: string | undefined;
  readonly connectionId: string | undefined;
  readonly connectionVersion: bigint;
}

/** A connection of which its gateway said that it is not good any more. */
export type DemandedConnection = Omit<GrantedConnection, "connectorVersion">;

/**
 * What was learnt of an account's authorization and the store could not take in. It only denies: what it says is newer than the
 * rows, so that nothing may run by rows that it contradicts, whether the store can be written meanwhile or not. In memory, for
 * one scope epoch, and until a fetch was applied or confirmed. The next epoch needs a snapshot of its own anyway.
 */
export class UnwrittenNews {
  #scopeEpoch: string | undefined;
  #entries: ReadonlyMap<string, SnapshotEntry> | undefined;
  /** By connector: the last one of each. */
  readonly #demanded = new Map<string, DemandedConnection>();

  noteSnapshot(scopeEpoch: string, { entries }: Snapshot): void {
    this.#enter(scopeEpoch);
    this.#entries = new Map(entries.map((entry) => [entry.connectorKey, entry]));
  }

  noteDemand(scopeEpoch: string, used: DemandedConnection): void {
    this.#enter(scopeEpoch);
    this.#demanded.set(used.connectorKey, used);
  }

  /** Whether nothing may run by this connection, of a connector that needs one. */
  denies(scopeEpoch: string, granted: GrantedConnection): boolean {
    if (scopeEpoch !== this.#scopeEpoch) return false;
    const { connectorKey, connectorVersion, connectionId, connectionVersion } = granted;
    const demanded = this.#demanded.get(connectorKey);
    if (demanded?.connectionId === connectionId && demanded?.connectionVersion === connectionVersion) return true;
    if (this.#entries === undefined) return false;
    const entry = this.#entries.get(connectorKey);
    const isSame = entry?.connectionId === connectionId && entry?.connectorVersion === connectorVersion;
    return entry?.state !== "connected" || !isSame;
  }

  /** The rows are as new again. Answers whether there was anything. */
  clear(): boolean {
    const hadAny = this.#entries !== undefined || this.#demanded.size > 0;
    this.#entries = undefined;
    this.#demanded.clear();
    return hadAny;
  }

  #enter(scopeEpoch: string): void {
    if (this.#scopeEpoch !== scopeEpoch) this.clear();
    this.#scopeEpoch = scopeEpoch;
  }
}
