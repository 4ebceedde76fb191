import type { FileFormat } from "./file-format.js";

/** Marks a file as one of ours: "rcoj". */
const APPLICATION_ID = 0x72636f6a;

/** The formats of `calls.db`, oldest first. A step that was released never changes, as with `host.db`. */
const STEPS: readonly string[] = [
  `
  CREATE TABLE secret (
    name TEXT NOT NULL PRIMARY KEY,
    hex TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE call (
    seq INTEGER NOT NULL PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    epoch TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    scope TEXT NOT NULL,
    generation INTEGER NOT NULL,
    native_name TEXT NOT NULL,
    exposed_name TEXT NOT NULL,
    workspace_id TEXT,
    agent_session_id TEXT,
    durable_name TEXT,
    account_id TEXT,
    argument_bytes INTEGER NOT NULL,
    argument_hmac TEXT,
    argument_body TEXT,
    verdict TEXT,
    ended_at INTEGER,
    duration_ms INTEGER,
    error_code TEXT,
    is_error INTEGER,
    result_type TEXT,
    result_bytes INTEGER,
    result_hmac TEXT,
    result_body TEXT,
    superseded INTEGER NOT NULL,
    acknowledged_at INTEGER
  ) STRICT;

  CREATE INDEX call_unknown ON call (seq) WHERE verdict = 'unknown' AND acknowledged_at IS NULL;
  `,
];

/** The form of `calls.db`. */
export const JOURNAL_FORMAT: FileFormat = { applicationId: APPLICATION_ID, steps: STEPS };
