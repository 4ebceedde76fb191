/**
 * What this folder asks of a store: credentials that several processes use, and leases by which one of them at a time does
 * what must be done once.
 *
 * Each method is one short transaction by itself: it has happened as a whole, or not at all. All times are epoch milliseconds
 * and come from the caller, whose clock is the machine's. Rows are plain values. Every method rejects with `store_in_use` when
 * others keep the store busy for too long, with `store_full`, `store_newer_format` or `store_unavailable`; nothing was written
 * then, but for a `store_unavailable` whose disk failed in the middle.
 */

/** Where a credential is. */
export interface CredentialKey {
  /** The protected resource, verbatim. */
  readonly resource: string;
  /** What it is and for whom, among all that is kept for the resource: made by this folder, opaque to a store. */
  readonly name: string;
}

/** A credential as it is kept. */
export interface Credential extends CredentialKey {
  /**
   * A number that no other text of the store ever had, greater than all before it: also after the row was removed and
   * written again. Whoever has seen it can tell whether the text is still the same one.
   */
  readonly generation: number;
  /**
   * Opaque. A store keeps it as it is given, without encrypting it, unless it says that it seals: the file's mode (0600, in a directory of
   * 0700) is all that protects it. `sealedStore` seals the texts of any store.
   */
  readonly text: string;
  /** When it was written. */
  readonly updatedAt: number;
}

/** A credential to be written. */
export interface CredentialPut extends CredentialKey {
  readonly text: string;
  /** The generation that this text replaces; `undefined`: there is no row. */
  readonly expected: number | undefined;
  readonly now: number;
}

/** Somebody else was faster: what is there now, to be adopted; `undefined`: nothing is. Nothing was changed. */
export interface CredentialConflict {
  readonly kind: "conflict";
  readonly current: Credential | undefined;
}

export type CredentialPutResult = { readonly kind: "written"; readonly generation: number } | CredentialConflict;

export type CredentialRemoveResult = { readonly kind: "removed" } | CredentialConflict;

/**
 * The credentials. Key: (resource, name).
 *
 * A store that seals has entries that can't be opened: damaged ones, and those of a lost key. `get` rejects with `oauth_invalid` about a
 * `credential` then, and so do `put` and `remove` where they would have to show it; `list` leaves it out. `put` with nothing expected writes
 * over it.
 */
export interface CredentialStore {
  get(key: CredentialKey): Promise<Credential | undefined>;
  /** All of one resource, ordered by `name` in code units. */
  list(resource: string): Promise<readonly Credential[]>;
  /**
   * Compares and sets: writes the text if the row has the expected generation. Rejects with `limit_exceeded` for a text that
   * is too long, or a row too many.
   */
  put(put: CredentialPut): Promise<CredentialPutResult>;
  /** Removes the row if it has this generation, so that only the credential that failed is cleared. */
  remove(key: CredentialKey, expected: number): Promise<CredentialRemoveResult>;
}

/** Who wants a lease, and for how long. */
export interface LeaseClaim {
  /** What is to be done by one at a time. */
  readonly name: string;
  /** Whoever claims: a text that nobody else uses, such as a random UUID for each piece of work. */
  readonly holder: string;
  /** Milliseconds: a whole number above zero. */
  readonly ttlMs: number;
  readonly now: number;
}

/** `held`: the claimer has it until then. `taken`: somebody else has, until then unless they give it back or make it longer. */
export type LeaseResult =
  | { readonly kind: "held"; readonly until: number }
  | { readonly kind: "taken"; readonly holder: string; readonly until: number };

/**
 * Rights to do something alone, which end by themselves when their holder is killed.
 *
 * A lease keeps out those who ask for it, and nobody else: who held one for too long still has to compare and set. A clock that
 * was set back keeps a lease for no longer than twice its time.
 */
export interface LeaseStore {
  /** Takes the lease if nobody has it, or its time is over. Who holds it already gets it for longer. */
  acquire(claim: LeaseClaim): Promise<LeaseResult>;
  /**
   * Makes one's own lease longer, for an hour also when its time is over, if nobody took it meanwhile. Answers `false` when it is
   * not one's own any more: what it was for may be going on elsewhere.
   */
  renew(claim: LeaseClaim): Promise<boolean>;
  /** Gives one's own lease back. Answers `false` when it was not one's own any more. */
  release(name: string, holder: string): Promise<boolean>;
}
