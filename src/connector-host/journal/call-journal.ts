import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { CallJournal, JournaledCall, JournalEnd, JournalEntry } from "../aggregation/index.js";
import { type BodyRules, describeBegun, describeEnd } from "./describe-rows.js";
import type { JournalConfig } from "./journal-options.js";
import { JournalReader } from "./journal-reader.js";
import type { BegunRow, JournalRows } from "./journal-rows.js";
import { planPruning } from "./plan-retention.js";
import { type JournalIncident, RowCommits } from "./row-commits.js";

/** Rows between two looks at how many there are. */
const PRUNE_EVERY = 256;
const PRUNE_INTERVAL_MS = 60 * 60_000;

export interface RequestJournalOptions {
  /** They belong to the journal, which closes them. */
  readonly rows: JournalRows;
  readonly config: JournalConfig;
  /** Of this process; never one of another. */
  readonly epoch: string;
  readonly clock: Clock;
  readonly wallClock: { now(): number };
  /** Must not throw. */
  readonly report: (incident: JournalIncident) => void;
  /** Runs `run` when this turn of the loop is over. Default `setImmediate`. */
  readonly defer?: ((run: () => void) => void) | undefined;
}

/**
 * Writes every request down before it is sent. The rows that a turn of the loop brings are committed together; what becomes of them is
 * written with those that come next, or a moment later, and nobody waits for it.
 */
export class RequestJournal implements CallJournal {
  /** What is asked of it. */
  readonly reader: JournalReader;
  readonly #options: RequestJournalOptions;
  readonly #rules: BodyRules;
  readonly #commits: RowCommits;
  readonly #defer: (run: () => void) => void;
  #lastSeq: number;
  #running = 0;
  #sincePruning = PRUNE_EVERY;
  #isPruning = false;
  #cancelPruning: () => void = ignore;
  #closing: Promise<void> | undefined;

  /** What earlier processes left open reads `unknown` from here on. Throws `store_*`. */
  constructor(options: RequestJournalOptions) {
    const { rows, config, epoch, clock, wallClock, report, defer = setImmediate } = options;
    this.#options = options;
    this.#defer = defer;
    this.#rules = { key: rows.key, redact: config.redact, maxBodyBytes: config.maxBodyBytes };
    rows.endLost(epoch);
    // By time, so that the number of a row that is gone does not come again, also in a file that was made anew.
    this.#lastSeq = Math.max(rows.lastSeq(), Math.floor(wallClock.now() * 1_000));
    this.#commits = new RowCommits({
      rows,
      clock,
      maxUnwritten: config.maxUnwritten,
      defer: this.#defer,
      report,
      onCommit: (begun) => this.#onCommit(begun),
    });
    this.reader = new JournalReader({
      rows,
      epoch,
      wallClock,
      defer: this.#defer,
      flush: () => this.#commits.flush(),
      pending: () => ({ running: this.#running, unwritten: this.#commits.unwritten }),
    });
    this.#pruneLater();
    this.#pruneHourly();
  }

  async begin(entry: JournalEntry): Promise<JournaledCall> {
    const { config, epoch, wallClock } = this.#options;
    const seq = this.#nextSeq();
    const place = { seq, firstSeq: seq, attempt: 1, epoch, startedAt: Math.round(wallClock.now()) };
    const row = describeBegun(entry, place, this.#rules);
    try {
      await this.#commits.begin(row);
    } catch (error) {
      if (config.mayGoOn) return UNWRITTEN;
      throw unavailable(error);
    }
    return this.#follow(row);
  }

  /** Writes what became of the requests that have ended, and closes the rows. Whatever has not ended reads `unknown` later. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #follow(begun: BegunRow): JournaledCall {
    const { clock, wallClock, config } = this.#options;
    let row = begun;
    let startedAt = clock.now();
    let attempts = 0;
    let hasEnded = false;
    this.#running += 1;
    return {
      admit: () => {
        attempts += 1;
        if (attempts === 1) return undefined;
        const next = { ...row, seq: this.#nextSeq(), attempt: row.attempt + 1, startedAt: Math.round(wallClock.now()) };
        try {
          this.#commits.supersede(row.seq, next);
        } catch {
          return config.mayGoOn ? undefined : "journal_unavailable";
        }
        row = next;
        startedAt = clock.now();
        return undefined;
      },
      end: (end: JournalEnd) => {
        if (hasEnded) return;
        hasEnded = true;
        this.#running -= 1;
        const times = { endedAt: Math.round(wallClock.now()), durationMs: clock.now() - startedAt };
        const bytes = end.kind === "result" ? end.raw.length : 0;
        this.#commits.end({ seq: row.seq, bytes, describe: () => describeEnd(end, times, this.#rules) });
      },
    };
  }

  #nextSeq(): number {
    return (this.#lastSeq += 1);
  }

  #onCommit(begun: number): void {
    this.#sincePruning += begun;
    if (this.#sincePruning >= PRUNE_EVERY) this.#pruneLater();
  }

  #pruneHourly(): void {
    this.#cancelPruning = this.#options.clock.schedule(PRUNE_INTERVAL_MS, () => {
      this.#pruneHourly();
      this.#pruneLater();
    });
  }

  #pruneLater(): void {
    if (this.#isPruning || this.#closing !== undefined) return;
    this.#isPruning = true;
    this.#defer(() => {
      this.#isPruning = false;
      this.#prune();
    });
  }

  /** One step, and the next in a later turn, until there is nothing to do. */
  #prune(): void {
    const { rows, config, wallClock } = this.#options;
    if (this.#closing !== undefined) return;
    this.#sincePruning = 0;
    try {
      if (rows.prune(planPruning(rows.counts(), config, Math.round(wallClock.now()))) > 0) this.#pruneLater();
    } catch {
      // What can't be removed now is looked at again after as many rows; that the file fails is told of where it matters.
    }
  }

  async #close(): Promise<void> {
    this.#cancelPruning();
    await this.#commits.close();
    await this.#options.rows.close();
  }
}

/** Stands for a request that was sent without a row. */
const UNWRITTEN: JournaledCall = { admit: () => undefined, end: ignore };

function unavailable(error: unknown): RemoteConnectorError<"journal_unavailable"> {
  return new RemoteConnectorError("journal_unavailable", {
    message: "The request could not be written down, and was not sent.",
    delivery: "not_sent",
    details: { reason: isRemoteConnectorError(error) ? error.code : "failed" },
    cause: error,
  });
}

function ignore(): void {}
