import type { FlowReason, FlowRow, FlowRows, FlowState } from "../auth-projection/index.js";
import { ColumnReader, flagColumn, integerColumn, optionalTextColumn, textColumn, type Words } from "./columns.js";
import { inCodeUnits, type ColumnRow, type RowTable, type TableSpec } from "./row-table.js";
import type { Transaction } from "./transaction.js";

/** Where authorization flows are kept. */
export const FLOW_TABLE: TableSpec = {
  name: "flow",
  keyLength: 2,
  columns: [
    "account_id",
    "client_request_id",
    "connector_key",
    "connector_version",
    "replaces",
    "prior_connection_id",
    "session_id",
    "next_action",
    "state",
    "connection_id",
    "reason",
    "error_code",
    "created_at",
    "updated_at",
  ],
};

const ACTIONS: Words<NonNullable<FlowRow["nextAction"]>> = { redirect: true, submit_secret: true };
const STATES: Words<FlowState> = {
  starting: true,
  waiting: true,
  authorized: true,
  cancelling: true,
  connected: true,
  failed: true,
  cancelled: true,
};
const REASONS: Words<FlowReason> = {
  provider_failed: true,
  session_canceled: true,
  expired: true,
  refused: true,
  unreachable: true,
  invalid_answer: true,
  secret_lost: true,
  connection_not_shown: true,
  cancelled: true,
  replaced: true,
  disconnected: true,
};

/** The authorization flows of one transaction. */
export function flowRows(table: RowTable, transaction: Transaction): FlowRows {
  return {
    async get(accountId, clientRequestId) {
      transaction.assertOpen();
      const row = table.get(textColumn(accountId), textColumn(clientRequestId));
      return row && decode(row);
    },
    async list(accountId) {
      transaction.assertOpen();
      return inCodeUnits(table.list(textColumn(accountId)).map(decode), (row) => row.clientRequestId);
    },
    async put(row) {
      transaction.assertWritable();
      table.put(encode(row));
    },
    async remove(accountId, clientRequestId) {
      transaction.assertWritable();
      table.remove(textColumn(accountId), textColumn(clientRequestId));
    },
  };
}

function encode(row: FlowRow): ColumnRow {
  return [
    textColumn(row.accountId),
    textColumn(row.clientRequestId),
    textColumn(row.connectorKey),
    textColumn(row.connectorVersion),
    flagColumn(row.replaces),
    optionalTextColumn(row.priorConnectionId),
    optionalTextColumn(row.sessionId),
    row.nextAction ?? null,
    row.state,
    optionalTextColumn(row.connectionId),
    row.reason ?? null,
    optionalTextColumn(row.errorCode),
    integerColumn("createdAt", row.createdAt),
    integerColumn("updatedAt", row.updatedAt),
  ];
}

function decode(columns: ColumnRow): FlowRow {
  const read = new ColumnReader(FLOW_TABLE.name, columns);
  return {
    accountId: read.text(),
    clientRequestId: read.text(),
    connectorKey: read.text(),
    connectorVersion: read.text(),
    replaces: read.flag(),
    priorConnectionId: read.optionalText(),
    sessionId: read.optionalText(),
    nextAction: read.optionalWord(ACTIONS),
    state: read.word(STATES),
    connectionId: read.optionalText(),
    reason: read.optionalWord(REASONS),
    errorCode: read.optionalText(),
    createdAt: read.integer(),
    updatedAt: read.integer(),
  };
}
