/**
 * Whether an account's authorization is known well enough to publish by it. In memory only, on purpose: rows from an
 * earlier run or an earlier scope epoch say what was true, not what is.
 */
export class Readiness {
  readonly #accounts = new Map<string, { readonly scopeEpoch: string; ready: boolean }>();

  /** Begins a scope epoch of the account. It is not ready, and no other epoch of it counts any more. */
  open(accountId: string, scopeEpoch: string): void {
    this.#accounts.set(accountId, { scopeEpoch, ready: false });
  }

  /**
   * Notes that a snapshot was applied or confirmed in this scope epoch. Answers whether that made the account ready:
   * `false` the second time, and for an epoch that is not the open one.
   */
  confirm(accountId: string, scopeEpoch: string): boolean {
    const account = this.#accounts.get(accountId);
    if (account === undefined || account.scopeEpoch !== scopeEpoch || account.ready) return false;
    account.ready = true;
    return true;
  }

  isReady(accountId: string, scopeEpoch: string): boolean {
    const account = this.#accounts.get(accountId);
    return account !== undefined && account.scopeEpoch === scopeEpoch && account.ready;
  }

  /** Ends a scope epoch, if it is still the open one. */
  shut(accountId: string, scopeEpoch: string): void {
    if (this.#accounts.get(accountId)?.scopeEpoch === scopeEpoch) this.#accounts.delete(accountId);
  }
}
