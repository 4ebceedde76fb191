/**
 * What this folder asks of a store: rows, and a unit of work to read and write them in.
 *
 * Every method is called inside `read` or `write` only, and nothing but these methods is awaited in there. Rows are
 * plain values: a store copies on the way in and on the way out. All times are epoch milliseconds.
 */

/** What an account may do with a connector. */
export type AuthorizationState = "connected" | "expired" | "disconnected";

/**
 * Why a snapshot's entry can't be used. Its connector counts as disconnected.
 *
 * `conflict` is the entry that repeats the id of another: neither is believed.
 */
export type QuarantineReason = "unknown_state" | "missing_member" | "invalid_member" | "conflict";

/**
 * One connector of one account, as the last applied snapshot had it. Key: (accountId, connectorKey).
 *
 * Local observations are not written here; they are rows of their own beside it.
 */
export interface ProjectionRow {
  readonly accountId: string;
  readonly connectorKey: string;
  /** The release that the snapshot names. `undefined` only where a quarantined entry did not say. */
  readonly connectorVersion: string | undefined;
  readonly state: AuthorizationState;
  /** Always there when `connected`. */
  readonly connectionId: string | undefined;
  /** 0 when the snapshot has no connection. Up to 2^64 - 1: stored as decimal text. */
  readonly connectionVersion: bigint;
  /** An {@link AppliedSnapshot.epoch}: that of the snapshot in which the row last changed. */
  readonly epoch: string;
  /**
   * Revision of that snapshot; how far the account is, its own row says ({@link AccountSyncRow.applied}). Stored as decimal text.
   */
  readonly revision: bigint;
  readonly quarantined: QuarantineReason | undefined;
  /** When the state or the identity last changed; not touched by a snapshot that says the same again. */
  readonly updatedAt: number;
}

/**
 * What was observed here against a connector's row, which it lowers and never overwrites. Key: (accountId, connectorKey), so
 * that there is one at most. It belongs to one connection version, and goes with it.
 */
export interface OverlayRow {
  readonly accountId: string;
  readonly connectorKey: string;
  /** The connection that the failing request used. */
  readonly connectionId: string | undefined;
  /** Stored as decimal text. */
  readonly connectionVersion: bigint;
  readonly state: "expired" | "disconnected";
  /** The account's {@link AccountSyncRow.syncSeq} at the observation: only a fetch with a greater number clears it. */
  readonly syncSeq: number;
  /**
   * - `standing`: the row counts as `state`.
   * - `clearing`: it does so until `heldUntil`; a fetch that counts has come already.
   * - `cleared`: it does not, and how long it was held is remembered in case it comes back.
   */
  readonly phase: "standing" | "clearing" | "cleared";
  /** How long it was held last, in milliseconds. 0: never. */
  readonly stepMs: number;
  /** Epoch milliseconds; `undefined` when it is not held. */
  readonly heldUntil: number | undefined;
}

/**
 * Where an authorization flow is.
 *
 * - `starting`: it is asked for, and its session is not known yet.
 * - `waiting`: its session is open; the person or the control plane is at work.
 * - `authorized`: its session has ended with a connection, which the snapshot does not show yet.
 * - `cancelling`: it is over here, and its session is still to be ended.
 * - `connected`: the snapshot shows its connection. It is over, like the next two.
 * - `failed`, `cancelled`: `reason` says why.
 */
export type FlowState = "starting" | "waiting" | "authorized" | "cancelling" | "connected" | "failed" | "cancelled";

/** Why a flow ended without a connection, or is about to. */
export type FlowReason =
  /** The session failed at the provider; its code is beside. */
  | "provider_failed"
  /** The session was ended by somebody else. */
  | "session_canceled"
  /** It was not done within ten minutes. */
  | "expired"
  /** The control plane refused it; its code is beside. */
  | "refused"
  /** The control plane could not be reached. */
  | "unreachable"
  /** The control plane's answer could not be read. */
  | "invalid_answer"
  /** The secret went with the process, or on its way, and is not sent a second time. */
  | "secret_lost"
  /** The session succeeded, and the snapshot does not show its connection. */
  | "connection_not_shown"
  /** It was cancelled here. */
  | "cancelled"
  /** Another flow took its place. */
  | "replaced"
  /** The connector was disconnected. */
  | "disconnected";

/**
 * One attempt of an account to authorize a connector. Key: (accountId, clientRequestId). No secret, no URL and no code for a
 * person is ever in it.
 */
export interface FlowRow {
  readonly accountId: string;
  /** Ours, a text that was never used before. A repeated request with it is the same one to the control plane. */
  readonly clientRequestId: string;
  readonly connectorKey: string;
  /** The release that the authorization is for. */
  readonly connectorVersion: string;
  /** Whether the control plane ends another session of the connector for it. */
  readonly replaces: boolean;
  /** The connection that there was when it began: what the snapshot shows beside it is not this flow's. */
  readonly priorConnectionId: string | undefined;
  /** The control plane's; `undefined` before its first answer. */
  readonly sessionId: string | undefined;
  /** What the person has to do; `undefined` for nothing, or before it is known. */
  readonly nextAction: "redirect" | "submit_secret" | undefined;
  readonly state: FlowState;
  /** Its result. Always there when `authorized` or `connected`. */
  readonly connectionId: string | undefined;
  /** Always there when `failed`, `cancelled` or `cancelling`. */
  readonly reason: FlowReason | undefined;
  /** The control plane's or the provider's own code for the reason: data, never logic. */
  readonly errorCode: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The snapshot that an account's rows come from. */
export interface AppliedSnapshot {
  /**
   * `"="` and the server's epoch, or `"-"` for a snapshot without one. Absent is an epoch like any other, and this form
   * compares with `===`, in JSON and in SQL alike. Made by `epochKey`; opaque to a store.
   */
  readonly epoch: string;
  /** Stored as decimal text. */
  readonly revision: bigint;
  /** SHA-256 of the body, lower-case hex. */
  readonly digest: string;
}

/** Snapshots in a row that went backwards and were not applied. */
export interface HoldStreak {
  /** The epoch of all of them, in the form of {@link AppliedSnapshot.epoch}. */
  readonly epoch: string;
  /** Revision of the latest; none of the streak is smaller than the one before. Stored as decimal text. */
  readonly revision: bigint;
  /** 1 or more. */
  readonly count: number;
  /** When the first of them was held. */
  readonly since: number;
}

/** How far an account's projection is. Key: accountId. */
export interface AccountSyncRow {
  readonly accountId: string;
  /** Fetches started, ever. A safe integer. */
  readonly syncSeq: number;
  /** `undefined` before the first snapshot, and after a reset by hand. */
  readonly applied: AppliedSnapshot | undefined;
  /** Epochs left behind, the latest first; at most four. */
  readonly pastEpochs: readonly string[];
  readonly hold: HoldStreak | undefined;
  /** When a fetch last started for this account. */
  readonly seenAt: number;
}

/** The rows of this folder. */
export interface ProjectionRows {
  account(accountId: string): Promise<AccountSyncRow | undefined>;
  /** Every account that has a row, ordered by `accountId` in code units. */
  listAccounts(): Promise<readonly AccountSyncRow[]>;
  /** Inserts or replaces. */
  putAccount(row: AccountSyncRow): Promise<void>;
  /** Removes the account's own row if it is there; its other rows stay. */
  removeAccount(accountId: string): Promise<void>;
  /**
   * Raises the account's `syncSeq` by one, sets its `seenAt` to `at`, and answers the new number. An account without a row
   * gets one (`applied` and `hold` undefined, no past epochs) and answers 1.
   */
  nextSyncSeq(accountId: string, at: number): Promise<number>;
  get(accountId: string, connectorKey: string): Promise<ProjectionRow | undefined>;
  /** All rows of the account, ordered by `connectorKey` in code units. */
  list(accountId: string): Promise<readonly ProjectionRow[]>;
  /** Inserts or replaces. */
  put(row: ProjectionRow): Promise<void>;
  /** Removes the row if it is there. */
  remove(accountId: string, connectorKey: string): Promise<void>;
}

/** The local observations, each beside its row. */
export interface OverlayRows {
  get(accountId: string, connectorKey: string): Promise<OverlayRow | undefined>;
  /** All of the account, ordered by `connectorKey` in code units. */
  list(accountId: string): Promise<readonly OverlayRow[]>;
  /** Inserts or replaces. */
  put(row: OverlayRow): Promise<void>;
  /** Removes the row if it is there. */
  remove(accountId: string, connectorKey: string): Promise<void>;
}

/** The authorization flows. */
export interface FlowRows {
  get(accountId: string, clientRequestId: string): Promise<FlowRow | undefined>;
  /** All of the account, ordered by `clientRequestId` in code units. */
  list(accountId: string): Promise<readonly FlowRow[]>;
  /** Inserts or replaces. */
  put(row: FlowRow): Promise<void>;
  /** Removes the row if it is there. */
  remove(accountId: string, clientRequestId: string): Promise<void>;
}

/** What a transaction must offer to this folder. A store's own transaction offers more. */
export interface ProjectionTx {
  readonly projections: ProjectionRows;
  readonly overlays: OverlayRows;
  readonly flows: FlowRows;
}

/**
 * Serialized transactions. `write` commits when `work` resolves and rolls back when it rejects; either way the promise
 * settles after the end of the transaction. `read` sees one state throughout.
 */
export interface UnitOfWork<Tx> {
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}
