import type { ConnectorStatus } from "./connector-status.js";
import { EventTeller } from "./event-teller.js";

/** A connector is at something else: another state, another reason, or another time of the next attempt. */
export interface StatusChange {
  /** 1 for the first change that the host told of, and one more each time. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** `not_installed` for a connector that there is no more. */
  readonly status: ConnectorStatus;
  /** What was told before; `undefined` for a connector that is new. */
  readonly previous: ConnectorStatus | undefined;
}

export type StatusListener = (change: StatusChange) => void;

export interface StatusFeedOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Calls back later. The returned function prevents it. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
  /**
   * What a connector is at by what is known at once, without the store; `undefined` when that says nothing of it.
   */
  readonly presume: (connectorKey: string) => ConnectorStatus | undefined;
  /** What the connectors are at. One that is missing in the answer is not there any more. */
  readonly read: (connectorKeys: readonly string[]) => Promise<readonly ConnectorStatus[]>;
  readonly onListenerFailure: (error: unknown) => void;
  /** What connectors are at could not be read; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

/** Connectors that are read at once. */
const READ_AT_ONCE = 256;
/** From one reading to the next: what many connectors at boot are at is not worth a reading of the store for each step of each. */
const PAUSE_MS = 20;
/** After one that failed. */
const RETRY_MS = 1_000;

/**
 * Turns hints that something may have changed into changes, each told once, in order.
 *
 * Level is the truth: whatever is hinted at is read, and told of if it is not what was told last. What is known before the
 * store knows it is presumed, and told first: a reading that had begun before then is not believed.
 */
export class StatusFeed {
  readonly #options: StatusFeedOptions;
  readonly #teller: EventTeller<StatusChange>;
  readonly #told = new Map<string, ConnectorStatus>();
  /** Connectors to be read, and the number of the last hint about each. It stays until a reading was begun after it. */
  readonly #hinted = new Map<string, number>();
  /** Connectors of which something is known that was not told. */
  readonly #presumed = new Set<string>();
  #hints = 0;
  #seq = 0;
  #isReading = false;
  #isClosed = false;
  /** Set while the next reading waits. */
  #cancelPause: (() => void) | undefined;

  constructor(options: StatusFeedOptions) {
    this.#options = options;
    this.#teller = new EventTeller(options.onListenerFailure);
  }

  /** Calls `listener` with every change from now on, synchronously, until the returned function is called. */
  subscribe(listener: StatusListener): () => void {
    return this.#teller.subscribe(listener);
  }

  /** These are what connectors are at to begin with. Nobody is told. */
  begin(rows: Iterable<ConnectorStatus>): void {
    for (const row of rows) this.#told.set(row.connectorKey, row);
  }

  /** Something about these connectors may have changed. */
  hint(connectorKeys: Iterable<string>): void {
    if (this.#isClosed) return;
    for (const key of connectorKeys) {
      // At the end: one that changes all the time must not keep others from their turn.
      this.#hinted.delete(key);
      this.#hinted.set(key, (this.#hints += 1));
    }
    void this.#read();
  }

  /**
   * Something about these connectors is known at once. It is told before any promise of others goes on for long: in a microtask, or
   * earlier with `flush`; by then all that belongs to it is known.
   */
  presume(connectorKeys: Iterable<string>): void {
    if (this.#isClosed) return;
    const keys = [...connectorKeys];
    if (this.#presumed.size === 0 && keys.length > 0) queueMicrotask(() => this.flush());
    for (const key of keys) this.#presumed.add(key);
    this.hint(keys);
  }

  /** Tells of what is known at once, now. */
  flush(): void {
    if (this.#presumed.size === 0) return;
    const keys = [...this.#presumed];
    this.#presumed.clear();
    for (const key of keys) {
      const row = this.#options.presume(key);
      if (row !== undefined) this.#tell(row);
    }
  }

  /** Tells of what is known at once, and of nothing any more afterwards. */
  close(): void {
    this.flush();
    this.#isClosed = true;
    this.#hinted.clear();
    this.#cancelPause?.();
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#cancelPause !== undefined) return;
    this.#isReading = true;
    // Hints come in groups.
    await Promise.resolve();
    let pauseMs = PAUSE_MS;
    try {
      do await this.#readSome();
      while (this.#hinted.size >= READ_AT_ONCE);
    } catch (error) {
      if (!this.#isClosed) this.#options.onTrouble(error);
      pauseMs = RETRY_MS;
    }
    this.#isReading = false;
    if (this.#isClosed) return;
    this.#cancelPause = this.#options.schedule(pauseMs, () => {
      this.#cancelPause = undefined;
      if (this.#hinted.size > 0) void this.#read();
    });
  }

  async #readSome(): Promise<void> {
    const asked = [...this.#hinted].slice(0, READ_AT_ONCE);
    const rows = await this.#options.read(asked.map(([key]) => key));
    const byKey = new Map(rows.map((row) => [row.connectorKey, row]));
    for (const [key, hint] of asked) {
      // What was read is older than the last hint, or the feed was closed.
      if (this.#hinted.get(key) !== hint) continue;
      this.#hinted.delete(key);
      this.#tell(byKey.get(key) ?? notInstalled(key));
    }
  }

  #tell(status: ConnectorStatus): void {
    const { connectorKey } = status;
    const previous = this.#told.get(connectorKey);
    const isGone = status.state === "not_installed";
    if (this.#isClosed || isSame(previous, status) || (previous === undefined && isGone)) return;
    if (isGone) this.#told.delete(connectorKey);
    else this.#told.set(connectorKey, status);
    this.#teller.tell({ seq: (this.#seq += 1), at: this.#options.now(), status, previous });
  }
}

/** The row of a connector that there is no more. */
export function notInstalled(connectorKey: string): ConnectorStatus {
  return { connectorKey, state: "not_installed", reason: undefined, since: undefined, nextAttemptAt: undefined };
}

/** `since` follows from the rest. */
function isSame(one: ConnectorStatus | undefined, { state, reason, nextAttemptAt }: ConnectorStatus): boolean {
  return one?.state === state && one.reason === reason && one.nextAttemptAt === nextAttemptAt;
}
