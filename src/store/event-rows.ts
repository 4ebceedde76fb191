import type { EventRow, EventRows } from "../reconcile/index.js";
import { ColumnReader, integerColumn, textColumn } from "./columns.js";
import type { ColumnRow } from "./row-table.js";
import type { Transaction } from "./transaction.js";

/** The events inside the open transaction. Their rows are a number that the table gives out, a time, and a text. */
export interface EventTable {
  /** Returns the number. */
  append(at: number, fact: string): number;
  /** The number that was given out last; 0 before the first. */
  last(): number;
  /** Ordered by number. */
  list(after: number, limit: number): readonly ColumnRow[];
  prune(upTo: number): void;
}

/** The events of one transaction. */
export function eventRows(table: EventTable, transaction: Transaction): EventRows {
  return {
    async append(at, fact) {
      transaction.assertWritable();
      return table.append(integerColumn("at", at), textColumn(fact));
    },
    async last() {
      transaction.assertOpen();
      return table.last();
    },
    async list(after, limit) {
      transaction.assertOpen();
      // A limit below 0 would be none.
      return table.list(integerColumn("after", after), Math.max(0, integerColumn("limit", limit))).map(decode);
    },
    async prune(upTo) {
      transaction.assertWritable();
      table.prune(integerColumn("upTo", upTo));
    },
  };
}

function decode(columns: ColumnRow): EventRow {
  const read = new ColumnReader("event", columns);
  return { seq: read.integer(), at: read.integer(), fact: read.text() };
}
