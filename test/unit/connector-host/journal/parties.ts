import type { CallSubject, JournalEnd, JournalEntry } from "../../../../src/connector-host/aggregation/index.js";
import {
  type JournalIncident,
  type JournalOptions,
  type JournalRows,
  RequestJournal,
  resolveJournalOptions,
  type RowChanges,
} from "../../../../src/connector-host/journal/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { createMemoryJournalRows } from "../../../../src/store/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

export const SUBJECT: CallSubject = {
  kind: "tool",
  nativeName: "search",
  exposedName: "docs_search",
  argumentsText: '{"q":"x"}',
  binding: {
    workspaceId: "w",
    agentSessionId: "s",
    invocation: undefined,
    login: { accountId: "ada", generation: 1 },
  },
};

export const START_MS = 1_700_000_000_000;

export function entryOf(subject: Partial<CallSubject> = {}): JournalEntry {
  return { subject: { ...SUBJECT, ...subject }, connectorKey: "docs", scope: "account:ada", generation: 4 };
}

export function resultOf(text = '{"content":[]}'): JournalEnd {
  return { kind: "result", raw: new TextEncoder().encode(text), resultType: "complete", isError: false };
}

/** Rows that can be made to fail, and that tell what was written together. */
export class WatchedRows implements JournalRows {
  readonly inner = createMemoryJournalRows();
  readonly key = this.inner.key;
  readonly writes: RowChanges[] = [];
  /** Whether a transaction fails. */
  fails: (changes: RowChanges) => boolean = () => false;

  write(changes: RowChanges): void {
    if (this.fails(changes)) throw new RemoteConnectorError("store_full", { message: "full", details: { path: "m" } });
    this.inner.write(changes);
    this.writes.push(changes);
  }

  lastSeq = () => this.inner.lastSeq();
  endLost = (epoch: string) => this.inner.endLost(epoch);
  page = (before: number | undefined, limit: number) => this.inner.page(before, limit);
  unknowns = (limit: number) => this.inner.unknowns(limit);
  acknowledge = (seqs: readonly number[], at: number) => this.inner.acknowledge(seqs, at);
  counts = () => this.inner.counts();
  prune: JournalRows["prune"] = (step) => this.inner.prune(step);
  close = () => this.inner.close();
}

/** A journal of which the turns of the loop, and time, pass when they are told to. */
export class Journaling {
  readonly clock: FakeClock;
  readonly incidents: JournalIncident[] = [];
  readonly rows: WatchedRows;
  readonly journal: RequestJournal;
  #deferred: (() => void)[] = [];

  constructor(options: JournalOptions = {}, rows = new WatchedRows(), epoch = "now", startMs = START_MS) {
    this.clock = new FakeClock(startMs);
    this.rows = rows;
    this.journal = new RequestJournal({
      rows,
      config: resolveJournalOptions(options),
      epoch,
      clock: this.clock,
      wallClock: this.clock,
      report: (incident) => this.incidents.push(incident),
      defer: (run) => this.#deferred.push(run),
    });
  }

  /** The turn of the loop is over. */
  async turn(): Promise<void> {
    for (const run of this.#deferred.splice(0)) run();
    await Promise.resolve();
    await this.clock.advance(0);
  }

  /** Begins a request, and lets its turn pass. */
  async begin(entry = entryOf()) {
    const [call] = await Promise.all([this.journal.begin(entry), this.turn()]);
    return call;
  }

  get kinds(): string[] {
    return this.incidents.map(({ kind }) => kind);
  }
}
