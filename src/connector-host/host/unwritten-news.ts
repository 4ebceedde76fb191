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

/** A snapshot that could not be taken in. */
interface Unwritten {
  readonly epoch: string;
  readonly revision: bigint;
  readonly entries: ReadonlyMap<string, SnapshotEntry>;
  /** Fetches since then, in a row, that were older. */
  older: number;
}

/** As many as are accepted of snapshots that go backwards. */
const BELIEVED_COUNT = 3;

/**
 * What was learnt of an account's authorization and the store could not take in. It only denies: what it says is newer than the
 * rows, so that nothing may run by rows that it contradicts, whether the store can be written meanwhile or not. In memory, for
 * one scope epoch, and until a fetch that began later was applied or confirmed. The next epoch needs a snapshot of its own anyway.
 */
export class UnwrittenNews {
  #scopeEpoch: string | undefined;
  #snapshot: Unwritten | undefined;
  /** By connector: the last one of each. `isUnseen`: a fetch runs that had begun before it. */
  readonly #demanded = new Map<string, { readonly used: DemandedConnection; readonly isUnseen: boolean }>();

  noteSnapshot(scopeEpoch: string, { epoch, revision, entries }: Snapshot): void {
    this.#enter(scopeEpoch);
    if (this.#isBehind({ epoch, revision })) return;
    this.#snapshot = {
      epoch,
      revision,
      entries: new Map(entries.map((entry) => [entry.connectorKey, entry])),
      older: 0,
    };
  }

  /** `isFetching`: a fetch had begun by then. */
  noteDemand(scopeEpoch: string, used: DemandedConnection, isFetching: boolean): void {
    this.#enter(scopeEpoch);
    this.#demanded.set(used.connectorKey, { used, isUnseen: isFetching });
  }

  /** Whether nothing may run by this connection, of a connector that needs one. */
  denies(scopeEpoch: string, granted: GrantedConnection): boolean {
    if (scopeEpoch !== this.#scopeEpoch) return false;
    const { connectorKey, connectorVersion, connectionId, connectionVersion } = granted;
    const demanded = this.#demanded.get(connectorKey)?.used;
    if (demanded?.connectionId === connectionId && demanded?.connectionVersion === connectionVersion) return true;
    if (this.#snapshot === undefined) return false;
    const entry = this.#snapshot.entries.get(connectorKey);
    const isSame = entry?.connectionId === connectionId && entry?.connectorVersion === connectorVersion;
    return entry?.state !== "connected" || !isSame;
  }

  /** A fetch has ended without effect on the rows. */
  endFetch(): void {
    for (const [key, { used }] of this.#demanded) this.#demanded.set(key, { used, isUnseen: false });
  }

  /**
   * A fetch was applied or confirmed: the rows are as new again, but for what was demanded while it ran. One that is older than the
   * snapshot that could not be taken in, which the rows don't know of, is believed the third time in a row. Answers whether there
   * was anything.
   */
  settle(fetched: Pick<Snapshot, "epoch" | "revision">): boolean {
    const hadAny = this.#snapshot !== undefined || this.#demanded.size > 0;
    if (!this.#isBehind(fetched)) this.#snapshot = undefined;
    for (const [key, { isUnseen }] of this.#demanded) if (!isUnseen) this.#demanded.delete(key);
    this.endFetch();
    return hadAny;
  }

  /** There is a snapshot that the rows are behind. */
  get isAhead(): boolean {
    return this.#snapshot !== undefined;
  }

  /** The login has ended, and what was learnt in it. */
  clear(): void {
    this.#snapshot = undefined;
    this.#demanded.clear();
  }

  /** Counts a fetch. Whether it is older than what is known, and not believed for that reason. */
  #isBehind({ epoch, revision }: Pick<Snapshot, "epoch" | "revision">): boolean {
    const snapshot = this.#snapshot;
    if (snapshot === undefined || snapshot.epoch !== epoch || revision >= snapshot.revision) return false;
    snapshot.older += 1;
    return snapshot.older < BELIEVED_COUNT;
  }

  #enter(scopeEpoch: string): void {
    if (this.#scopeEpoch !== scopeEpoch) this.clear();
    this.#scopeEpoch = scopeEpoch;
  }
}
