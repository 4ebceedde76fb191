import { RemoteConnectorError } from "../errors.js";
import type { Store, StoreTx } from "./store.js";
import { Transaction, type TransactionMode } from "./transaction.js";

/** Where rows are kept. Everything is synchronous, and one transaction is open at a time. */
export interface StoreEngine {
  /** What the engine's rows are called in errors: a path, or a word. */
  readonly name: string;
  /** Begins, and returns the accessors, which obey `transaction`. Throws `store_*`, and then nothing was begun. */
  begin(transaction: Transaction): StoreTx;
  /** Throws `store_*`; `rollback` is called then. */
  commit(mode: TransactionMode): void;
  /** Undoes everything since `begin`. Does not throw. */
  rollback(mode: TransactionMode): void;
  close(): void;
}

/** A store over an engine: whose turn it is, and how a transaction ends. */
export class SerialStore implements Store {
  readonly #engine: StoreEngine;
  /** Settles when all that was asked for so far has ended; never rejects. */
  #tail: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(engine: StoreEngine) {
    this.#engine = engine;
  }

  write<T>(work: (tx: StoreTx) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#run("write", work));
  }

  read<T>(work: (tx: StoreTx) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#run("read", work));
  }

  close(): Promise<void> {
    this.#closing ??= this.#tail.then(() => this.#engine.close());
    return this.#closing;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(this.#closedError());
    const turn = this.#tail.then(run);
    this.#tail = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #run<T>(mode: TransactionMode, work: (tx: StoreTx) => Promise<T>): Promise<T> {
    const transaction = new Transaction(mode);
    const tx = this.#engine.begin(transaction);
    let result: T;
    try {
      result = await work(tx);
      transaction.seal();
      this.#engine.commit(mode);
    } catch (error) {
      transaction.seal();
      this.#engine.rollback(mode);
      settleQuietly(transaction);
      throw error;
    }
    transaction.settle("committed");
    return result;
  }

  #closedError(): RemoteConnectorError<"store_unavailable"> {
    return new RemoteConnectorError("store_unavailable", {
      message: "The store is closed.",
      details: { path: this.#engine.name, reason: "closed" },
    });
  }
}

/** What ended the transaction matters more than what one who was told of it threw. */
function settleQuietly(transaction: Transaction): void {
  try {
    transaction.settle("rolled_back");
  } catch {
    // The caller gets the error that ended the transaction.
  }
}
