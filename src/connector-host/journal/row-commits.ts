import type { Clock } from "../../transport/index.js";
import type { BegunRow, JournalRows, RowEnd } from "./journal-rows.js";

/**
 * So long a verdict waits for a row that it is committed with: a transaction of its own would cost as much as that of the row did. A
 * process that is killed meanwhile leaves a row that reads `unknown`.
 */
const RIDE_MS = 20;
/** What waits so beyond this does not wait for more: it is committed when the turn of the loop is over. */
const MAX_RIDING = 256;
const MAX_RIDING_BYTES = 1024 * 1024;
/** Verdicts that could not be written are tried again after this. */
const RETRY_MS = 1_000;
const CLOSING_RETRY_MS = 50;
const CLOSING_TRIES = 20;

/** Something about the journal that somebody should know. */
export type JournalIncident =
  /** From now on something can't be written. Told once, until it can. */
  | { readonly kind: "unavailable"; readonly error: unknown }
  /** Everything can be written again. */
  | { readonly kind: "available" }
  /** Verdicts were given up; their rows read `unknown` after the next start. */
  | { readonly kind: "verdicts_lost"; readonly count: number };

export interface RowCommitsOptions {
  readonly rows: JournalRows;
  readonly clock: Clock;
  readonly maxUnwritten: number;
  /** Runs `run` when everything that this turn of the loop brings was taken in. */
  readonly defer: (run: () => void) => void;
  /** Must not throw. */
  readonly report: (incident: JournalIncident) => void;
  /** Told after each commit. */
  readonly onCommit: (begun: number) => void;
}

/** Rows that are committed together, and the one promise of all who wait for them. */
interface Batch {
  readonly begun: BegunRow[];
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface UnwrittenEnd {
  readonly seq: number;
  readonly end: RowEnd;
}

/** A row of which it is known what became, and not described yet: digests are made when the answers are on their way. */
export interface EndingRow {
  readonly seq: number;
  /** What it holds until it is described. */
  readonly bytes: number;
  /** Called once. */
  readonly describe: () => RowEnd;
}

/** Commits the rows that one turn of the loop brings in one transaction, and the verdicts that wait with them. */
export class RowCommits {
  readonly #options: RowCommitsOptions;
  #batch: Batch | undefined;
  #ending: EndingRow[] = [];
  #endingBytes = 0;
  /** Verdicts that a transaction did not take in. */
  #unwritten: UnwrittenEnd[] = [];
  /** A flush will come when this turn is over. */
  #isDeferred = false;
  #cancelRide: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: RowCommitsOptions) {
    this.#options = options;
  }

  /** Verdicts that wait to be written. */
  get unwritten(): number {
    return this.#unwritten.length + this.#ending.length;
  }

  /** Resolves when the row was committed. Rejects with `store_*`. */
  begin(row: BegunRow): Promise<void> {
    this.#batch ??= createBatch();
    this.#batch.begun.push(row);
    this.#flushLater();
    return this.#batch.written;
  }

  /** Commits a row in place of the one before it at once. Throws `store_*`. */
  supersede(seq: number, row: BegunRow): void {
    // Rows come in the order of their numbers.
    this.flush();
    try {
      this.#options.rows.write({ begun: [row], superseded: [seq], ended: [] });
    } catch (error) {
      this.#fail(error);
      throw error;
    }
    this.#options.onCommit(1);
  }

  /** What became of a row: it is committed with the next rows, or a moment later. */
  end(row: EndingRow): void {
    if (this.#isClosed) return;
    this.#ending.push(row);
    this.#endingBytes += row.bytes;
    if (this.#ending.length >= MAX_RIDING || this.#endingBytes >= MAX_RIDING_BYTES) this.#flushLater();
    else this.#rideLater();
  }

  /** Commits what waits, in one transaction; what fails of it is refused, or tried again. Does not throw. */
  flush(): void {
    const batch = this.#batch;
    this.#batch = undefined;
    const ended = this.#unwritten;
    for (const { seq, describe } of this.#ending) ended.push({ seq, end: describe() });
    this.#ending = [];
    this.#endingBytes = 0;
    if (batch === undefined && ended.length === 0) return;
    try {
      this.#write(batch?.begun ?? [], ended);
      batch?.resolve();
      return;
    } catch (error) {
      this.#fail(error);
      batch?.reject(error);
    }
    // What rows need room for, what became of others may not.
    if (batch === undefined || !this.#hasWritten(ended)) this.#retryLater();
  }

  /** Commits what waits, trying for about a second. Afterwards nothing is written any more. Never rejects. */
  async close(): Promise<void> {
    const { clock, report } = this.#options;
    for (let tries = 1; ; tries += 1) {
      this.flush();
      if (this.unwritten === 0 || tries === CLOSING_TRIES) break;
      await new Promise<void>((resolve) => clock.schedule(CLOSING_RETRY_MS, resolve));
    }
    this.#isClosed = true;
    this.#cancelRide?.();
    this.#cancelRetry?.();
    if (this.unwritten > 0) report({ kind: "verdicts_lost", count: this.unwritten });
    this.#unwritten = [];
  }

  #hasWritten(ended: readonly UnwrittenEnd[]): boolean {
    if (ended.length === 0) return true;
    try {
      this.#write([], ended);
      return true;
    } catch {
      return false;
    }
  }

  #write(begun: readonly BegunRow[], ended: readonly UnwrittenEnd[]): void {
    const { rows, report, onCommit } = this.#options;
    rows.write({ begun, superseded: [], ended });
    this.#unwritten = [];
    this.#cancelRetry?.();
    // That ends can be written says nothing of rows: a file that can't grow takes in the former alone.
    if (this.#isFailing && begun.length > 0) {
      this.#isFailing = false;
      report({ kind: "available" });
    }
    onCommit(begun.length);
  }

  #fail(error: unknown): void {
    if (this.#isFailing || this.#isClosed) return;
    this.#isFailing = true;
    this.#options.report({ kind: "unavailable", error });
  }

  #retryLater(): void {
    const { clock, maxUnwritten, report } = this.#options;
    const tooMany = this.#unwritten.length - maxUnwritten;
    if (tooMany > 0) {
      this.#unwritten.splice(0, tooMany);
      report({ kind: "verdicts_lost", count: tooMany });
    }
    if (this.#unwritten.length === 0 || this.#cancelRetry !== undefined) return;
    const cancel = clock.schedule(RETRY_MS, () => {
      this.#cancelRetry = undefined;
      this.flush();
    });
    this.#cancelRetry = () => {
      this.#cancelRetry = undefined;
      cancel();
    };
  }

  /** What has gone by then leaves nothing to do: cancelling would cost each row more. */
  #rideLater(): void {
    this.#cancelRide ??= this.#options.clock.schedule(RIDE_MS, () => {
      this.#cancelRide = undefined;
      this.flush();
    });
  }

  #flushLater(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#options.defer(() => {
      this.#isDeferred = false;
      this.flush();
    });
  }
}

function createBatch(): Batch {
  let resolve: () => void = ignore;
  let reject: (error: unknown) => void = ignore;
  const written = new Promise<void>((onWritten, onFailed) => {
    resolve = onWritten;
    reject = onFailed;
  });
  return { begun: [], written, resolve, reject };
}

function ignore(): void {}
