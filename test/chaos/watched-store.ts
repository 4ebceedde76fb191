import type { HostStore, HostTx } from "remote-connector/connector-host";
import { Changes } from "./changes.js";
import type { Generations } from "./generations.js";
import type { Journal } from "./journal.js";
import type { KillPoint } from "./kill-points.js";
import { watchTx } from "./watch-tx.js";

export interface WatchedStoreOptions {
  readonly store: HostStore;
  readonly journal: Pick<Journal, "write">;
  /** Told of every place that the store comes to. */
  readonly at: (point: KillPoint) => void;
  /** Sees every row that is read or written. */
  readonly generations: Generations;
}

/** A store that writes everything down that it does, and can be ended at each step of it. */
export class WatchedStore implements HostStore {
  readonly #options: WatchedStoreOptions;
  #writes = 0;

  constructor(options: WatchedStoreOptions) {
    this.#options = options;
  }

  async write<T>(work: (tx: HostTx) => Promise<T>): Promise<T> {
    const { store, at } = this.#options;
    const result = await store.write((tx) => this.#within(tx, work));
    at("returned");
    return result;
  }

  read<T>(work: (tx: HostTx) => Promise<T>): Promise<T> {
    const { store, at } = this.#options;
    return store.read((tx) => {
      at("read");
      return work(tx);
    });
  }

  close(): Promise<void> {
    return this.#options.store.close();
  }

  async #within<T>(tx: HostTx, work: (tx: HostTx) => Promise<T>): Promise<T> {
    const { journal, at, generations } = this.#options;
    const number = (this.#writes += 1);
    const changes = new Changes(tx, generations);
    const end = (): void => {
      journal.write({ t: "end", tx: number });
      at("settled");
    };
    journal.write({ t: "begin", tx: number });
    at("begin");
    // The first to be told: what follows from the commit comes after it in the journal.
    tx.onSettled((outcome) => {
      const applied = changes.applied ?? null;
      if (outcome === "committed") journal.write({ t: "commit", tx: number, applied });
      else journal.write({ t: "rollback", tx: number, applied });
      if (outcome === "committed") at("committed");
    });
    const watched = watchTx(tx, {
      at,
      onCall: (table, method, args) => at(changes.note(table, method, args)),
      onResult: (table, method, args, result) => changes.noteResult(table, method, args, result),
      onRow: generations.note,
    });
    let result: T;
    try {
      result = await work(watched);
    } catch (error) {
      tx.onSettled(end);
      throw error;
    }
    journal.write({ t: "write", tx: number, rows: await changes.read() });
    tx.onSettled(end);
    at("done");
    at("commit");
    return result;
  }
}
