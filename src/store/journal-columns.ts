import type { Delivery } from "../errors.js";
import type { BegunRow, JournalRow, RequestKind, RowEnd } from "../connector-host/journal/index.js";
import {
  type Column,
  ColumnReader,
  flagColumn,
  integerColumn,
  optionalTextColumn,
  textColumn,
  type Words,
} from "./columns.js";
import type { ColumnRow } from "./row-table.js";

/** What is known of a request before it is sent, in this order. The number comes first. */
export const BEGUN_COLUMNS = [
  "seq",
  "first_seq",
  "attempt",
  "epoch",
  "started_at",
  "kind",
  "connector_key",
  "scope",
  "generation",
  "native_name",
  "exposed_name",
  "workspace_id",
  "agent_session_id",
  "durable_name",
  "account_id",
  "argument_bytes",
  "argument_hmac",
  "argument_body",
] as const;

/** What became of it. */
export const END_COLUMNS = [
  "verdict",
  "ended_at",
  "duration_ms",
  "error_code",
  "is_error",
  "result_type",
  "result_bytes",
  "result_hmac",
  "result_body",
] as const;

/** A row as it is read: what was begun, what became of it, and these. */
export const LAST_COLUMNS = ["superseded", "acknowledged_at"] as const;

const KINDS: Words<RequestKind> = { tool: true, prompt: true, resource: true, completion: true, test: true };
const VERDICTS: Words<Delivery> = { not_sent: true, answered: true, unknown: true };

export function encodeBegun(row: BegunRow): ColumnRow {
  return [
    integerColumn("seq", row.seq),
    integerColumn("firstSeq", row.firstSeq),
    integerColumn("attempt", row.attempt),
    textColumn(row.epoch),
    integerColumn("startedAt", row.startedAt),
    row.kind,
    textColumn(row.connectorKey),
    textColumn(row.scope),
    integerColumn("generation", row.generation),
    textColumn(row.nativeName),
    textColumn(row.exposedName),
    optionalTextColumn(row.workspaceId),
    optionalTextColumn(row.agentSessionId),
    optionalTextColumn(row.durableName),
    optionalTextColumn(row.accountId),
    integerColumn("argumentBytes", row.argumentBytes),
    optionalTextColumn(row.argumentHmac),
    optionalTextColumn(row.argumentBody),
  ];
}

export function encodeEnd(end: RowEnd): ColumnRow {
  return [
    end.verdict,
    optionalInteger("endedAt", end.endedAt),
    optionalInteger("durationMs", end.durationMs),
    optionalTextColumn(end.errorCode),
    end.isError === undefined ? null : flagColumn(end.isError),
    optionalTextColumn(end.resultType),
    optionalInteger("resultBytes", end.resultBytes),
    optionalTextColumn(end.resultHmac),
    optionalTextColumn(end.resultBody),
  ];
}

/** `columns`: those of {@link BEGUN_COLUMNS}, {@link END_COLUMNS} and {@link LAST_COLUMNS}. Throws `store_unavailable`. */
export function decodeCall(columns: ColumnRow): JournalRow {
  const read = new ColumnReader("call", columns);
  const begun: BegunRow = {
    seq: read.integer(),
    firstSeq: read.integer(),
    attempt: read.integer(),
    epoch: read.text(),
    startedAt: read.integer(),
    kind: read.word(KINDS),
    connectorKey: read.text(),
    scope: read.text(),
    generation: read.integer(),
    nativeName: read.text(),
    exposedName: read.text(),
    workspaceId: read.optionalText(),
    agentSessionId: read.optionalText(),
    durableName: read.optionalText(),
    accountId: read.optionalText(),
    argumentBytes: read.integer(),
    argumentHmac: read.optionalText(),
    argumentBody: read.optionalText(),
  };
  const end = decodeEnd(read);
  return { ...begun, end, isSuperseded: read.flag(), acknowledgedAt: read.optionalInteger() };
}

function decodeEnd(read: ColumnReader): RowEnd | undefined {
  const verdict = read.optionalWord(VERDICTS);
  if (verdict === undefined) {
    read.skip(END_COLUMNS.length - 1);
    return undefined;
  }
  return {
    verdict,
    endedAt: read.optionalInteger(),
    durationMs: read.optionalInteger(),
    errorCode: read.optionalText(),
    isError: optionalFlag(read.optionalInteger()),
    resultType: read.optionalText(),
    resultBytes: read.optionalInteger(),
    resultHmac: read.optionalText(),
    resultBody: read.optionalText(),
  };
}

function optionalFlag(value: number | undefined): boolean | undefined {
  return value === undefined ? undefined : value !== 0;
}

function optionalInteger(member: string, value: number | undefined): Column {
  return value === undefined ? null : integerColumn(member, value);
}
