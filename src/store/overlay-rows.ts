import type { OverlayRow, OverlayRows } from "../auth-projection/index.js";
import { bigintColumn, ColumnReader, integerColumn, optionalTextColumn, textColumn, type Words } from "./columns.js";
import { inCodeUnits, type ColumnRow, type RowTable, type TableSpec } from "./row-table.js";
import type { Transaction } from "./transaction.js";

/** Where local observations are kept. */
export const OVERLAY_TABLE: TableSpec = {
  name: "projection_overlay",
  keyLength: 2,
  columns: [
    "account_id",
    "connector_key",
    "connection_id",
    "connection_version",
    "state",
    "sync_seq",
    "phase",
    "step_ms",
    "held_until",
  ],
};

const STATES: Words<OverlayRow["state"]> = { expired: true, disconnected: true };
const PHASES: Words<OverlayRow["phase"]> = { standing: true, clearing: true, cleared: true };

/** The local observations of one transaction. */
export function overlayRows(table: RowTable, transaction: Transaction): OverlayRows {
  return {
    async get(accountId, connectorKey) {
      transaction.assertOpen();
      const row = table.get(textColumn(accountId), textColumn(connectorKey));
      return row && decode(row);
    },
    async list(accountId) {
      transaction.assertOpen();
      return inCodeUnits(table.list(textColumn(accountId)).map(decode), (row) => row.connectorKey);
    },
    async put(row) {
      transaction.assertWritable();
      table.put(encode(row));
    },
    async remove(accountId, connectorKey) {
      transaction.assertWritable();
      table.remove(textColumn(accountId), textColumn(connectorKey));
    },
  };
}

function encode(row: OverlayRow): ColumnRow {
  const { heldUntil } = row;
  return [
    textColumn(row.accountId),
    textColumn(row.connectorKey),
    optionalTextColumn(row.connectionId),
    bigintColumn("connectionVersion", row.connectionVersion),
    row.state,
    integerColumn("syncSeq", row.syncSeq),
    row.phase,
    integerColumn("stepMs", row.stepMs),
    heldUntil === undefined ? null : integerColumn("heldUntil", heldUntil),
  ];
}

function decode(columns: ColumnRow): OverlayRow {
  const read = new ColumnReader(OVERLAY_TABLE.name, columns);
  return {
    accountId: read.text(),
    connectorKey: read.text(),
    connectionId: read.optionalText(),
    connectionVersion: read.bigint(),
    state: read.word(STATES),
    syncSeq: read.integer(),
    phase: read.word(PHASES),
    stepMs: read.integer(),
    heldUntil: read.optionalInteger(),
  };
}
