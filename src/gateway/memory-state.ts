import { randomUUID } from "node:crypto";
import {
  type AccountAuthorizations,
  type AuthorizationChange,
  type AuthorizationState,
  type ChangeOutcome,
  decideChange,
} from "./authorization-state.js";

/** How many revisions of an account are remembered, the present one included: so far can it be restored. */
const MAX_REVISIONS = 100;

/** Authorizations in memory, with an epoch of their own: they are gone with the process. */
export function createMemoryState(randomId: () => string = randomUUID): AuthorizationState {
  return new MemoryState(randomId);
}

class MemoryState implements AuthorizationState {
  readonly #randomId: () => string;
  /** The revisions of each account, the oldest first; the last is the present. Never empty. */
  readonly #histories = new Map<string, readonly AccountAuthorizations[]>();
  #epoch: string;

  constructor(randomId: () => string) {
    this.#randomId = randomId;
    this.#epoch = randomId();
  }

  get epoch(): string {
    return this.#epoch;
  }

  read(accountId: string): Promise<AccountAuthorizations> {
    return Promise.resolve(this.#present(accountId));
  }

  readAt(accountId: string, revision: bigint): Promise<AccountAuthorizations | undefined> {
    return Promise.resolve(this.#history(accountId).find((account) => account.revision === revision));
  }

  change(accountId: string, connectorId: string, change: AuthorizationChange): Promise<ChangeOutcome> {
    const before = this.#present(accountId);
    const current = before.connections.get(connectorId);
    const connection = decideChange(current, change, () => `connection-${this.#randomId()}`);
    if (connection === undefined) {
      return Promise.resolve({ revision: before.revision, changed: false, connection: current });
    }
    const revision = before.revision + 1n;
    const connections = new Map([...before.connections, [connectorId, connection]]);
    const history = [...this.#history(accountId), { epoch: before.epoch, revision, connections }];
    this.#histories.set(accountId, history.slice(-MAX_REVISIONS));
    return Promise.resolve({ revision, changed: true, connection });
  }

  restore(accountId: string | undefined, revision: bigint): Promise<boolean> {
    const accounts = accountId === undefined ? [...this.#histories.keys()] : [accountId];
    const kept = accounts.map((account) => {
      const history = this.#history(account).filter((known) => known.revision <= revision);
      const isRemembered = accountId === undefined || history.at(-1)?.revision === revision;
      return [account, isRemembered ? history : []] as const;
    });
    if (kept.some(([, history]) => history.length === 0)) return Promise.resolve(false);
    const epoch = this.#randomId();
    if (accountId === undefined) this.#epoch = epoch;
    for (const [account, history] of kept) {
      this.#histories.set(
        account,
        history.map((known) => ({ ...known, epoch })),
      );
    }
    return Promise.resolve(true);
  }

  resetEpoch(accountId: string | undefined): Promise<void> {
    const epoch = this.#randomId();
    const accounts = accountId === undefined ? [...this.#histories.keys()] : [accountId];
    if (accountId === undefined) this.#epoch = epoch;
    for (const account of accounts) {
      this.#histories.set(account, [{ ...this.#present(account), epoch, revision: 1n }]);
    }
    return Promise.resolve();
  }

  #present(accountId: string): AccountAuthorizations {
    return this.#history(accountId).at(-1) ?? this.#nothing();
  }

  #history(accountId: string): readonly AccountAuthorizations[] {
    return this.#histories.get(accountId) ?? [this.#nothing()];
  }

  #nothing(): AccountAuthorizations {
    return { epoch: this.#epoch, revision: 1n, connections: new Map() };
  }
}
