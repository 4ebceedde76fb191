import type { SqliteConnection } from "./sqlite-connection.js";

/** Numbers reserved at a time. Those that are left when the process ends are never used. */
const BLOCK = 1_024;

const READ = "SELECT reserved FROM counter WHERE name = 'generation'";
const RESERVE =
  "INSERT INTO counter (name, reserved) VALUES ('generation', ?) ON CONFLICT (name) DO UPDATE SET reserved = excluded.reserved";

/**
 * The store's one counter. A number that was given out never comes again: not after a rollback, since the count itself is in
 * memory, and not after a restart, since numbers are reserved on disk before they are given out.
 *
 * A transaction that needs more than are left reserves them itself: those that it takes back with everything else can come again,
 * but only after a restart, when nothing that knew them is left.
 */
export class GenerationCounter {
  readonly #connection: SqliteConnection;
  /** Given out last. */
  #last: number;
  /** Everything up to this is reserved on disk, for good. */
  #reserved: number;
  /** Reserved by the open transaction; good if it is committed. */
  #reservedInside: number | undefined;

  /** Begins after all that was ever reserved. Throws `store_*`. */
  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#last = connection.number(READ);
    this.#reserved = this.#last;
  }

  /** Reserves more when few are left, in a transaction of its own. Throws `store_*`, and has reserved nothing then. */
  replenish(): void {
    if (this.#reserved - this.#last >= BLOCK / 2) return;
    const upTo = this.#last + BLOCK;
    this.#connection.transact("IMMEDIATE", () => this.#connection.run(RESERVE, [upTo]));
    this.#reserved = upTo;
  }

  /** The next number, inside the open transaction. Throws `store_*`. */
  next(): number {
    if (this.#last >= (this.#reservedInside ?? this.#reserved)) {
      const upTo = this.#last + BLOCK;
      this.#connection.run(RESERVE, [upTo]);
      this.#reservedInside = upTo;
    }
    this.#last += 1;
    return this.#last;
  }

  /** The open transaction has ended. */
  settle(committed: boolean): void {
    if (committed) this.#reserved = this.#reservedInside ?? this.#reserved;
    this.#reservedInside = undefined;
  }
}
