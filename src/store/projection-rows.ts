import type {
  AccountSyncRow,
  AppliedSnapshot,
  AuthorizationState,
  HoldStreak,
  ProjectionRow,
  ProjectionRows,
  QuarantineReason,
} from "../auth-projection/index.js";
import {
  bigintColumn,
  ColumnReader,
  integerColumn,
  optionalTextColumn,
  textColumn,
  type Column,
  type Words,
} from "./columns.js";
import { inCodeUnits, type ColumnRow, type RowTable, type TableSpec } from "./row-table.js";
import type { Transaction } from "./transaction.js";

/** Where it is kept how far each account's projection is. */
export const ACCOUNT_TABLE: TableSpec = {
  name: "projection_account",
  keyLength: 1,
  columns: [
    "account_id",
    "sync_seq",
    "applied_epoch",
    "applied_revision",
    "applied_digest",
    "past_epochs",
    "hold_epoch",
    "hold_revision",
    "hold_count",
    "hold_since",
    "seen_at",
  ],
};

/** Where projection rows are kept. */
export const PROJECTION_TABLE: TableSpec = {
  name: "projection",
  keyLength: 2,
  columns: [
    "account_id",
    "connector_key",
    "connector_version",
    "state",
    "connection_id",
    "connection_version",
    "epoch",
    "revision",
    "quarantined",
    "updated_at",
  ],
};

const STATES: Words<AuthorizationState> = { connected: true, expired: true, disconnected: true };
const QUARANTINE: Words<QuarantineReason> = {
  unknown_state: true,
  missing_member: true,
  invalid_member: true,
  conflict: true,
};

/** The projection rows of one transaction. */
export function projectionRows(accounts: RowTable, rows: RowTable, transaction: Transaction): ProjectionRows {
  const account = (accountId: string): AccountSyncRow | undefined => {
    const row = accounts.get(textColumn(accountId));
    return row && decodeAccount(row);
  };
  return {
    async account(accountId) {
      transaction.assertOpen();
      return account(accountId);
    },
    async listAccounts() {
      transaction.assertOpen();
      return inCodeUnits(accounts.all().map(decodeAccount), (row) => row.accountId);
    },
    async putAccount(row) {
      transaction.assertWritable();
      accounts.put(encodeAccount(row));
    },
    async removeAccount(accountId) {
      transaction.assertWritable();
      accounts.remove(textColumn(accountId));
    },
    async nextSyncSeq(accountId, at) {
      transaction.assertWritable();
      const known = account(accountId) ?? newAccount(accountId);
      const syncSeq = known.syncSeq + 1;
      accounts.put(encodeAccount({ ...known, syncSeq, seenAt: at }));
      return syncSeq;
    },
    async get(accountId, connectorKey) {
      transaction.assertOpen();
      const row = rows.get(textColumn(accountId), textColumn(connectorKey));
      return row && decodeProjection(row);
    },
    async list(accountId) {
      transaction.assertOpen();
      return inCodeUnits(rows.list(textColumn(accountId)).map(decodeProjection), (row) => row.connectorKey);
    },
    async put(row) {
      transaction.assertWritable();
      rows.put(encodeProjection(row));
    },
    async remove(accountId, connectorKey) {
      transaction.assertWritable();
      rows.remove(textColumn(accountId), textColumn(connectorKey));
    },
  };
}

function newAccount(accountId: string): AccountSyncRow {
  return { accountId, syncSeq: 0, applied: undefined, pastEpochs: [], hold: undefined, seenAt: 0 };
}

function encodeAccount(row: AccountSyncRow): ColumnRow {
  const { applied, hold } = row;
  return [
    textColumn(row.accountId),
    integerColumn("syncSeq", row.syncSeq),
    ...(applied === undefined ? [null, null, null] : encodeApplied(applied)),
    // Escaped as JSON escapes: well formed, and without a NUL.
    JSON.stringify(row.pastEpochs),
    ...(hold === undefined ? [null, null, null, null] : encodeHold(hold)),
    integerColumn("seenAt", row.seenAt),
  ];
}

function encodeApplied({ epoch, revision, digest }: AppliedSnapshot): readonly Column[] {
  return [textColumn(epoch), bigintColumn("applied.revision", revision), textColumn(digest)];
}

function encodeHold({ epoch, revision, count, since }: HoldStreak): readonly Column[] {
  return [
    textColumn(epoch),
    bigintColumn("hold.revision", revision),
    integerColumn("hold.count", count),
    integerColumn("hold.since", since),
  ];
}

function decodeAccount(columns: ColumnRow): AccountSyncRow {
  const read = new ColumnReader(ACCOUNT_TABLE.name, columns);
  return {
    accountId: read.text(),
    syncSeq: read.integer(),
    applied: decodeApplied(read),
    pastEpochs: read.texts(),
    hold: decodeHold(read),
    seenAt: read.integer(),
  };
}

function decodeApplied(read: ColumnReader): AppliedSnapshot | undefined {
  const epoch = read.optionalText();
  if (epoch === undefined) {
    read.skip(2);
    return undefined;
  }
  return { epoch, revision: read.bigint(), digest: read.text() };
}

function decodeHold(read: ColumnReader): HoldStreak | undefined {
  const epoch = read.optionalText();
  if (epoch === undefined) {
    read.skip(3);
    return undefined;
  }
  return { epoch, revision: read.bigint(), count: read.integer(), since: read.integer() };
}

function encodeProjection(row: ProjectionRow): ColumnRow {
  return [
    textColumn(row.accountId),
    textColumn(row.connectorKey),
    optionalTextColumn(row.connectorVersion),
    row.state,
    optionalTextColumn(row.connectionId),
    bigintColumn("connectionVersion", row.connectionVersion),
    textColumn(row.epoch),
    bigintColumn("revision", row.revision),
    optionalTextColumn(row.quarantined),
    integerColumn("updatedAt", row.updatedAt),
  ];
}

function decodeProjection(columns: ColumnRow): ProjectionRow {
  const read = new ColumnReader(PROJECTION_TABLE.name, columns);
  return {
    accountId: read.text(),
    connectorKey: read.text(),
    connectorVersion: read.optionalText(),
    state: read.word(STATES),
    connectionId: read.optionalText(),
    connectionVersion: read.bigint(),
    epoch: read.text(),
    revision: read.bigint(),
    quarantined: read.optionalWord(QUARANTINE),
    updatedAt: read.integer(),
  };
}
