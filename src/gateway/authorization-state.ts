/** How an account stands to a connector, in the words of the contract. */
export type ConnectionState = "connected" | "reauth_required" | "disconnected";

/** What can happen to it. */
export type AuthorizationChange =
  /** Connects, or gives the connection a new credential. */
  | { readonly kind: "grant" }
  | { readonly kind: "revoke" }
  /** The account has to authorize again. With a version, only if the connection still has it. */
  | { readonly kind: "expire"; readonly connectionVersion?: bigint | undefined }
  /** A further connection, beside the one that is used. */
  | { readonly kind: "add" }
  /** Another connection is used: the one that is named, else the oldest of the others, else a new one. */
  | { readonly kind: "switch"; readonly connectionId?: string | undefined };

/** An account's connection to one connector: the one that is used when it has several. */
export interface Connection {
  readonly state: ConnectionState;
  readonly connectionId: string;
  /** Rises with every grant and every switch: each brings another credential. */
  readonly connectionVersion: bigint;
  /** Ids of the account's other connections to the connector, the oldest first. The snapshot does not tell of them. */
  readonly others: readonly string[];
}

/** Everything that is known of one account. */
export interface AccountAuthorizations {
  /** Names the history in which `revision` counts. Another one begins when the account's store starts anew or goes back. */
  readonly epoch: string;
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
 * Where a gateway keeps authorizations. Changes of one account are applied one after the other, and their promises resolve in
 * that order; a read sees every change whose promise has resolved. No credential goes through here.
 */
export interface AuthorizationState {
  /** The epoch of accounts of which nothing is known yet. */
  readonly epoch: string;
  read(accountId: string): Promise<AccountAuthorizations>;
  /** The account as it was at a revision of its epoch, or `undefined` when that is not remembered. */
  readAt(accountId: string, revision: bigint): Promise<AccountAuthorizations | undefined>;
  change(accountId: string, connectorId: string, change: AuthorizationChange): Promise<ChangeOutcome>;
  /**
   * Goes back to how things were at a revision, under an epoch that was never used; what came after is forgotten. Without
   * an account every one goes back to the latest of its revisions that is not greater. False, and nothing happens, when
   * that is not remembered.
   */
  restore(accountId: string | undefined, revision: bigint): Promise<boolean>;
  /** Gives the account, or all of them, an epoch that was never used, in which the revisions count from 1 again. */
  resetEpoch(accountId: string | undefined): Promise<void>;
}

/**
 * The connection after a change, or `undefined` when the change leaves things as they are. Pure.
 *
 * A grant always changes: it connects, and raises the version. After `disconnected` the connection is another one, with
 * an id of its own; otherwise the id stays. Only what is connected can expire or be switched; only what is not
 * disconnected can be revoked, which ends the other connections too. What is added where nothing is connected is used.
 */
export function decideChange(
  current: Connection | undefined,
  change: AuthorizationChange,
  newConnectionId: () => string,
): Connection | undefined {
  const isApart = current === undefined || current.state === "disconnected";
  const connectionVersion = (current?.connectionVersion ?? 0n) + 1n;
  switch (change.kind) {
    case "grant":
      if (isApart) return { state: "connected", connectionId: newConnectionId(), connectionVersion, others: [] };
      return { ...current, state: "connected", connectionVersion };
    case "revoke":
      return isApart ? undefined : { ...current, state: "disconnected", others: [] };
    case "expire":
      if (current?.state !== "connected") return undefined;
      if ((change.connectionVersion ?? current.connectionVersion) !== current.connectionVersion) return undefined;
      return { ...current, state: "reauth_required" };
    case "add":
      if (isApart) return { state: "connected", connectionId: newConnectionId(), connectionVersion, others: [] };
      return { ...current, others: [...current.others, newConnectionId()] };
    case "switch": {
      if (current?.state !== "connected") return undefined;
      const { connectionId: before, others } = current;
      const next = change.connectionId ?? others[0] ?? newConnectionId();
      const isKnown = change.connectionId === undefined || others.includes(change.connectionId);
      if (!isKnown) return undefined;
      const rest = others.filter((id) => id !== next);
      return { state: "connected", connectionId: next, connectionVersion, others: [...rest, before] };
    }
  }
}
