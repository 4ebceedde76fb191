import type { ChangeOutcome } from "./authorization-state.js";
import type { Fault, GatewayFault } from "./faults.js";

/** The faults that a gateway has yet to play; what `/admin/faults` does. */
export interface GatewayFaults {
  /** Throws `invalid_argument` for what is no fault. */
  add(fault: GatewayFault): void;
  clear(): void;
  list(): readonly Fault[];
}

/**
 * A gateway that serves. What its operator does rejects with `invalid_argument` for an account or connector that it does not have,
 * for a connector that needs no authorization, and for a secret that the upstream can't be given.
 */
export interface Gateway {
  /** Where the public side listens: `http://127.0.0.1:1234`, without a path. */
  readonly origin: string;
  /** Where the admin side listens; `undefined` without an admin bearer. */
  readonly adminOrigin: string | undefined;
  readonly faults: GatewayFaults;
  /**
   * What `POST /admin/grant` does: connects an account, or gives its connection a new credential. `secret` goes to the
   * upstream with the account's requests; without one the upstream gets none, or still the one before.
   */
  grant(accountId: string, connectorId: string, secret?: string): Promise<ChangeOutcome>;
  /** What `POST /admin/revoke` does. Calls under way end with `-33001`. */
  revoke(accountId: string, connectorId: string): Promise<ChangeOutcome>;
  /** What `POST /admin/expire` does: the account has to authorize again. Calls under way end with `-33002`. */
  expire(accountId: string, connectorId: string): Promise<ChangeOutcome>;
  /**
   * What `POST /admin/add-connection` does: the account gets a further connection to the connector, which is not in use unless
   * there is no other. Resolves to its id.
   */
  addConnection(accountId: string, connectorId: string, secret?: string): Promise<string>;
  /**
   * What `POST /admin/switch-connection` does: another connection of the account is used from now on, the one that is named,
   * else the oldest of the others, else a new one. It stays connected; calls under way end as they would have.
   */
  switchConnection(accountId: string, connectorId: string, connectionId?: string): Promise<ChangeOutcome>;
  /**
   * What `POST /admin/restore` does: the account, or all of them, stand again as they did at a revision, under a new epoch, and
   * their hint connections end. False when the revision is not remembered. Of connections that were over since, the
   * credentials are gone.
   */
  restore(to: { readonly accountId?: string | undefined; readonly revision: bigint }): Promise<boolean>;
  /** What `POST /admin/reset-epoch` does: revisions count from 1 again, under a new epoch. Hint connections end. */
  resetEpoch(accountId?: string): Promise<void>;
  /** What `POST /admin/drop-hint-connections` does: those of the account, or all, end without a word. Throws, does not reject. */
  dropHintConnections(accountId?: string): void;
  /** Ends everything, child processes included. Credentials are overwritten. May be called again. */
  close(): Promise<void>;
}
