import type { AccountSyncRow, ProjectionRow, UnitOfWork } from "../../../src/auth-projection/index.js";
import { createMemoryStore, type StoreTx } from "../../../src/store/index.js";

/** A store in memory that can be told to fail, and shows what it holds. */
export class AccountStore implements UnitOfWork<StoreTx> {
  /** Thrown by the next writes, one each, in place of their work. */
  readonly failures: Error[] = [];
  /** The same for reads. */
  readonly readFailures: Error[] = [];
  readonly #store = createMemoryStore();

  write<T>(work: (tx: StoreTx) => Promise<T>): Promise<T> {
    const failure = this.failures.shift();
    return failure === undefined ? this.#store.write(work) : Promise.reject(failure);
  }

  read<T>(work: (tx: StoreTx) => Promise<T>): Promise<T> {
    const failure = this.readFailures.shift();
    return failure === undefined ? this.#store.read(work) : Promise.reject(failure);
  }

  rows(accountId: string): Promise<readonly ProjectionRow[]> {
    return this.read((tx) => tx.projections.list(accountId));
  }

  account(accountId: string): Promise<AccountSyncRow | undefined> {
    return this.read((tx) => tx.projections.account(accountId));
  }
}
