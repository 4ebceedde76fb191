/** How an account stands to a connector, in the words of the contract. */
export type ConnectionState = "connected" | "reauth_required" | "disconnected";

/** What can happen to it. */
export type AuthorizationChange = "grant" | "revoke" | "expire";

/** An account's connection to one connector. */
export interface Connection {
  readonly state: ConnectionState;
  readonly connectionId: string;
  /** Rises with every grant: each brings a new credential. */
  readonly connectionVersion: bigint;
}

/** Everything that is known of one account. */
export interface AccountAuthorizations {
  /** Rises with every change of the account, and only then. Never 0. */
  readonly revision: bigint;
  /** By connector. A connector that was never granted has no entry. */
  readonly connections: ReadonlyMap<string, Connection>;
}

/** What a change came to. */
export interface ChangeOutcome {
  readonly revision: bigint;
  /** False when the account already stood so; the revision is then the one before. */
  readonly changed: boolean;
  readonly connection: Connection | undefined;
}

/**
 * Where a gateway keeps authorizations. Changes of one account are applied one after the other; a read sees every change
 * whose promise has resolved.
 */
export interface AuthorizationState {
  /** Names this history of revisions: a store that starts anew has another one. */
  readonly epoch: string;
  read(accountId: string): Promise<AccountAuthorizations>;
  change(accountId: string, connectorId: string, change: AuthorizationChange): Promise<ChangeOutcome>;
}

/**
 * The connection after a change, or `undefined` when the change leaves things as they are. Pure.
 *
 * A grant always changes: it connects, and raises the version. After `disconnected` the connection is another one, with
 * an id of its own; otherwise the id stays. Only what is connected can expire; only what is not disconnected can be
 * revoked.
 */
export function decideChange(
  current: Connection | undefined,
  change: AuthorizationChange,
  newConnectionId: () => string,
): Connection | undefined {
  const isApart = current === undefined || current.state === "disconnected";
  if (change === "grant") {
    const connectionId = isApart ? newConnectionId() : current.connectionId;
    return { state: "connected", connectionId, connectionVersion: (current?.connectionVersion ?? 0n) + 1n };
  }
  if (change === "revoke") return isApart ? undefined : { ...current, state: "disconnected" };
  return current?.state === "connected" ? { ...current, state: "reauth_required" } : undefined;
}
