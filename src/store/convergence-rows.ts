import type { ConvergenceRow, ConvergenceRows, Observed, Readiness } from "../reconcile/index.js";
import { ColumnReader, flagColumn, integerColumn, textColumn, type Column, type Words } from "./columns.js";
import { inCodeUnits, type ColumnRow, type RowTable, type TableSpec } from "./row-table.js";
import type { Transaction } from "./transaction.js";

/** Where convergence rows are kept. */
export const CONVERGENCE_TABLE: TableSpec = {
  name: "convergence",
  keyLength: 2,
  columns: [
    "scope",
    "key",
    "desired_generation",
    "desired_enabled",
    "desired_identity",
    "observed_generation",
    "observed_epoch",
    "observed_enabled",
    "observed_identity",
    "observed_readiness",
    "observed_since",
    "attempts",
    "failures",
    "next_attempt_at",
    "not_before",
    "run_token",
    "error_code",
    "error_message",
    "updated_at",
  ],
};

const READINESS: Words<Readiness> = { ready: true, degraded: true, off: true, failed: true };

/** The convergence rows of one transaction. `nextGeneration` is the store's counter. */
export function convergenceRows(
  table: RowTable,
  nextGeneration: () => number,
  transaction: Transaction,
): ConvergenceRows {
  return {
    async get(scope, key) {
      transaction.assertOpen();
      const row = table.get(textColumn(scope), textColumn(key));
      return row && decode(row);
    },
    async put(row) {
      transaction.assertWritable();
      table.put(encode(row));
    },
    async remove(scope, key) {
      transaction.assertWritable();
      table.remove(textColumn(scope), textColumn(key));
    },
    async listScope(scope) {
      transaction.assertOpen();
      return inCodeUnits(table.list(textColumn(scope)).map(decode), (row) => row.key);
    },
    async listKeys(scope) {
      transaction.assertOpen();
      return table.keys(textColumn(scope)).map((key) => new ColumnReader(CONVERGENCE_TABLE.name, [key]).text());
    },
    async listScopes() {
      transaction.assertOpen();
      return table.firsts().map((scope) => new ColumnReader(CONVERGENCE_TABLE.name, [scope]).text());
    },
    async nextGeneration() {
      transaction.assertWritable();
      return nextGeneration();
    },
  };
}

function encode(row: ConvergenceRow): ColumnRow {
  const { desired, observed, lastError } = row;
  return [
    textColumn(row.scope),
    textColumn(row.key),
    integerColumn("desired.generation", desired.generation),
    flagColumn(desired.enabled),
    textColumn(desired.identity),
    ...(observed === undefined ? [null, null, null, null, null, null] : encodeObserved(observed)),
    integerColumn("attempts", row.attempts),
    integerColumn("failures", row.failures),
    optionalInteger("nextAttemptAt", row.nextAttemptAt),
    optionalInteger("notBefore", row.notBefore),
    optionalInteger("runToken", row.runToken),
    lastError === undefined ? null : textColumn(lastError.code),
    lastError === undefined ? null : textColumn(lastError.message),
    integerColumn("updatedAt", row.updatedAt),
  ];
}

function encodeObserved(observed: Observed): readonly Column[] {
  return [
    integerColumn("observed.generation", observed.generation),
    textColumn(observed.epoch),
    flagColumn(observed.enabled),
    textColumn(observed.identity),
    observed.readiness,
    integerColumn("observed.since", observed.since),
  ];
}

function optionalInteger(column: string, value: number | undefined): Column {
  return value === undefined ? null : integerColumn(column, value);
}

function decode(columns: ColumnRow): ConvergenceRow {
  const read = new ColumnReader(CONVERGENCE_TABLE.name, columns);
  return {
    scope: read.text(),
    key: read.text(),
    desired: { generation: read.integer(), enabled: read.flag(), identity: read.text() },
    observed: decodeObserved(read),
    attempts: read.integer(),
    failures: read.integer(),
    nextAttemptAt: read.optionalInteger(),
    notBefore: read.optionalInteger(),
    runToken: read.optionalInteger(),
    lastError: decodeError(read),
    updatedAt: read.integer(),
  };
}

function decodeObserved(read: ColumnReader): Observed | undefined {
  const generation = read.optionalInteger();
  if (generation === undefined) {
    read.skip(5);
    return undefined;
  }
  return {
    generation,
    epoch: read.text(),
    enabled: read.flag(),
    identity: read.text(),
    readiness: read.word(READINESS),
    since: read.integer(),
  };
}

function decodeError(read: ColumnReader): ConvergenceRow["lastError"] {
  const code = read.optionalText();
  const message = read.optionalText();
  return code === undefined ? undefined : { code, message: message ?? "" };
}
