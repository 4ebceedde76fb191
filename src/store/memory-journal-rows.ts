import { randomBytes } from "node:crypto";
import type { JournalRow, JournalRows, PruneStep, RowChanges, RowCounts } from "../connector-host/journal/index.js";
import type { Column } from "./columns.js";
import { integerColumn, textColumn } from "./columns.js";
import { BEGUN_COLUMNS, decodeCall, encodeBegun, encodeEnd, END_COLUMNS } from "./journal-columns.js";
import { storeClosed } from "./shared-engine.js";

const EPOCH = BEGUN_COLUMNS.indexOf("epoch");
const STARTED_AT = BEGUN_COLUMNS.indexOf("started_at");
const VERDICT = BEGUN_COLUMNS.length;
const SUPERSEDED = VERDICT + END_COLUMNS.length;
const ACKNOWLEDGED_AT = SUPERSEDED + 1;
const NO_END: readonly Column[] = END_COLUMNS.map(() => null);

/** A journal of requests that is forgotten with the process. It obeys the same contract as the one on disk. */
export function createMemoryJournalRows(): JournalRows {
  return new MemoryJournalRows();
}

class MemoryJournalRows implements JournalRows {
  readonly key: Uint8Array = randomBytes(32);
  /** By number, from the least to the greatest: rows are only ever added at the end. */
  readonly #calls = new Map<number, Column[]>();
  #isClosed = false;

  lastSeq(): number {
    return [...this.#open().keys()].at(-1) ?? 0;
  }

  write({ begun, superseded, ended }: RowChanges): void {
    const calls = this.#open();
    // All that could fail comes first.
    const rows = begun.map((row): [number, Column[]] => [row.seq, [...encodeBegun(row), ...NO_END, 0, null]]);
    const ends = ended.map(({ seq, end }) => [integerColumn("seq", seq), encodeEnd(end)] as const);
    for (const seq of superseded) integerColumn("seq", seq);
    for (const [seq, columns] of rows) calls.set(seq, columns);
    for (const seq of superseded) {
      const call = this.#running(seq);
      if (call !== undefined) call[SUPERSEDED] = 1;
    }
    for (const [seq, columns] of ends) {
      const call = this.#running(seq);
      if (call !== undefined) calls.set(seq, [...call.slice(0, VERDICT), ...columns, ...call.slice(SUPERSEDED)]);
    }
  }

  endLost(epoch: string): number {
    const own = textColumn(epoch);
    const lost = [...this.#open().values()].filter(
      (call) => call[VERDICT] === null && call[SUPERSEDED] === 0 && call[EPOCH] !== own,
    );
    for (const call of lost) call[VERDICT] = "unknown";
    return lost.length;
  }

  page(before: number | undefined, limit: number): readonly JournalRow[] {
    return this.#latest(limit, (seq) => before === undefined || seq < before);
  }

  unknowns(limit: number): readonly JournalRow[] {
    return this.#latest(limit, (_seq, call) => isUnknown(call));
  }

  acknowledge(seqs: readonly number[], at: number): number {
    const calls = this.#open();
    let count = 0;
    for (const seq of seqs) {
      const call = calls.get(seq);
      if (call === undefined || !isUnknown(call)) continue;
      call[ACKNOWLEDGED_AT] = at;
      count += 1;
    }
    return count;
  }

  counts(): RowCounts {
    const calls = this.#open();
    return { rows: calls.size, unknowns: [...calls.values()].filter(isUnknown).length };
  }

  prune({ settled, old, unknowns }: PruneStep): number {
    const calls = this.#open();
    const before = calls.size;
    this.#remove(settled, isSettled);
    const oldest = [...calls].filter(([, call]) => isSettled(call)).slice(0, old.count);
    for (const [seq, call] of oldest) if (Number(call[STARTED_AT]) < old.before) calls.delete(seq);
    this.#remove(unknowns, isUnknown);
    return before - calls.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #running(seq: number): Column[] | undefined {
    const call = this.#calls.get(seq);
    return call?.[VERDICT] === null ? call : undefined;
  }

  #latest(limit: number, matches: (seq: number, call: readonly Column[]) => boolean): readonly JournalRow[] {
    return [...this.#open()]
      .filter(([seq, call]) => matches(seq, call))
      .toReversed()
      .slice(0, limit)
      .map(([, call]) => decodeCall(call));
  }

  #remove(count: number, matches: (call: readonly Column[]) => boolean): void {
    let left = count;
    for (const [seq, call] of this.#calls) {
      if (left === 0) return;
      if (!matches(call)) continue;
      this.#calls.delete(seq);
      left -= 1;
    }
  }

  #open(): Map<number, Column[]> {
    if (this.#isClosed) throw storeClosed("memory");
    return this.#calls;
  }
}

function isUnknown(call: readonly Column[]): boolean {
  return call[VERDICT] === "unknown" && call[ACKNOWLEDGED_AT] === null;
}

function isSettled(call: readonly Column[]): boolean {
  return call[SUPERSEDED] === 1 || (call[VERDICT] !== null && !isUnknown(call));
}
