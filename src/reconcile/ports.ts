/**
 * What this folder asks of a store and of the machine: rows, a unit of work to read and write them in, time, and chance.
 *
 * The methods of {@link ConvergenceRows} and {@link EventRows} are called inside `read` or `write` only, and nothing but
 * methods of the transaction is awaited in there. Rows are plain values: a store copies on the way in and on the way out.
 */

/** Wall time, because what is stored must mean the same after a restart, and one-shot timers. */
export interface Clock {
  /** Epoch milliseconds. May be set back by its owner; nothing here breaks when it is. */
  now(): number;
  /** Runs `run` once after `delayMs`; the returned function cancels it and may be called at any time. */
  schedule(delayMs: number, run: () => void): () => void;
}

/** A number in [0, 1). */
export type Random = () => number;

/** What should be. */
export interface Desired {
  /** From {@link ConvergenceRows.nextGeneration}: every change of what should be has a number of its own. */
  readonly generation: number;
  readonly enabled: boolean;
  /** Opaque: equal means that nothing would have to be done again. */
  readonly identity: string;
}

/**
 * How well it went.
 *
 * - `ready`, `degraded`: enabled, and it works; or it is there but can't do all of its work.
 * - `off`: disabled, and everything of it is gone.
 * - `failed`: it can't be had. Not tried again until something else is desired, or the scope has another epoch.
 */
export type Readiness = "ready" | "degraded" | "off" | "failed";

/** What was last seen. */
export interface Observed {
  /** The generation that was converged on. */
  readonly generation: number;
  /** The epoch of the scope in which that was. An observation of another epoch counts for nothing. */
  readonly epoch: string;
  readonly enabled: boolean;
  readonly identity: string;
  readonly readiness: Readiness;
  /** Since when it is observed like this. */
  readonly since: number;
}

/** Why the last try failed, fit for a status page. */
export interface LastError {
  readonly code: string;
  /** At most 512 characters, without control characters. */
  readonly message: string;
}

/** Everything that is known of one key of one scope. Times are epoch milliseconds. */
export interface ConvergenceRow {
  readonly scope: string;
  readonly key: string;
  readonly desired: Desired;
  readonly observed: Observed | undefined;
  /** Tries that failed since the last healthy minute of what is desired. */
  readonly attempts: number;
  /** Those of them that count against the failure budget. */
  readonly failures: number;
  /** No try before this, unless a call needs the key. */
  readonly nextAttemptAt: number | undefined;
  /** The peer asked to be left alone until then; a call that needs the key waits too. */
  readonly notBefore: number | undefined;
  /** The run that may still write its result here; from {@link ConvergenceRows.nextGeneration}. */
  readonly runToken: number | undefined;
  readonly lastError: LastError | undefined;
  readonly updatedAt: number;
}

/** The rows of this folder. Key: (scope, key). */
export interface ConvergenceRows {
  get(scope: string, key: string): Promise<ConvergenceRow | undefined>;
  /** Inserts or replaces. */
  put(row: ConvergenceRow): Promise<void>;
  /** Removes the row if it is there. */
  remove(scope: string, key: string): Promise<void>;
  /** All rows of the scope, ordered by `key` in code units. */
  listScope(scope: string): Promise<readonly ConvergenceRow[]>;
  /** The keys of all rows of the scope, in no order. */
  listKeys(scope: string): Promise<readonly string[]>;
  /** The scopes that have a row, in no order. */
  listScopes(): Promise<readonly string[]>;
  /**
   * The next number of the store's one counter: a safe integer of at least 1, greater than every one before it. A number
   * never comes again, not after a rollback and not after a restart.
   */
  nextGeneration(): Promise<number>;
}

/** An event as it is kept. */
export interface EventRow {
  /** At least 1. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Opaque to the store. */
  readonly fact: string;
}

/** What is kept of events, in one order for the whole store. */
export interface EventRows {
  /**
   * Keeps an event and returns its number: 1 for the first of the store, and one more each time. A number that was committed
   * never comes again, not after a restart and not when the event is gone; that of an event that was rolled back does.
   */
  append(at: number, fact: string): Promise<number>;
  /** The number of the last event, also when it is gone; 0 before the first. */
  last(): Promise<number>;
  /** Events with a greater number than `after`, ordered by number, `limit` at most. */
  list(after: number, limit: number): Promise<readonly EventRow[]>;
  /** Removes the events with this number or a smaller one. */
  prune(upTo: number): Promise<void>;
}

/** How a transaction ended. */
export type TxOutcome = "committed" | "rolled_back";

/** What a transaction must offer to this folder. A store's own transaction offers more. */
export interface ConvergenceTx {
  readonly convergence: ConvergenceRows;
  readonly events: EventRows;
  /**
   * Runs `run` synchronously when the transaction has ended, whichever way, also when the commit itself failed; in the
   * order of registration, before anything else learns of the end. `run` does not throw.
   */
  onSettled(run: (outcome: TxOutcome) => void): void;
}

/**
 * Serialized transactions. `write` commits when `work` resolves and rolls back when it rejects; either way the promise
 * settles after the end of the transaction. `read` sees one state throughout, and writes nothing.
 */
export interface UnitOfWork<Tx> {
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}
