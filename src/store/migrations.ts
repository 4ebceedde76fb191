import type { FileFormat } from "./file-format.js";

/** Marks a file as one of ours: "rcon". */
const APPLICATION_ID = 0x72636f6e;

/**
 * The formats of `host.db`, oldest first. Step n leads from format n to format n + 1; a step that was released never changes,
 * and a file of each released format is kept as a test.
 *
 * `convergence.owner` and `lease_until` are for a store that several hosts share; a file has one host, and leaves them empty.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    reserved INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE convergence (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    desired_generation INTEGER NOT NULL,
    desired_enabled INTEGER NOT NULL,
    desired_identity TEXT NOT NULL,
    observed_generation INTEGER,
    observed_epoch TEXT,
    observed_enabled INTEGER,
    observed_identity TEXT,
    observed_readiness TEXT,
    observed_since INTEGER,
    attempts INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    next_attempt_at INTEGER,
    not_before INTEGER,
    run_token INTEGER,
    error_code TEXT,
    error_message TEXT,
    updated_at INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projection_account (
    account_id TEXT NOT NULL PRIMARY KEY,
    sync_seq INTEGER NOT NULL,
    applied_epoch TEXT,
    applied_revision TEXT,
    applied_digest TEXT,
    past_epochs TEXT NOT NULL,
    hold_epoch TEXT,
    hold_revision TEXT,
    hold_count INTEGER,
    hold_since INTEGER,
    seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projection (
    account_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    connector_version TEXT,
    state TEXT NOT NULL,
    connection_id TEXT,
    connection_version TEXT NOT NULL,
    epoch TEXT NOT NULL,
    revision TEXT NOT NULL,
    quarantined TEXT,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, connector_key)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE projection_overlay (
    account_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    connection_id TEXT,
    connection_version TEXT NOT NULL,
    state TEXT NOT NULL,
    sync_seq INTEGER NOT NULL,
    phase TEXT NOT NULL,
    step_ms INTEGER NOT NULL,
    held_until INTEGER,
    PRIMARY KEY (account_id, connector_key)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE event (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    fact TEXT NOT NULL
  ) STRICT;

  CREATE TABLE flow (
    account_id TEXT NOT NULL,
    client_request_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    connector_version TEXT NOT NULL,
    replaces INTEGER NOT NULL,
    prior_connection_id TEXT,
    session_id TEXT,
    next_action TEXT,
    state TEXT NOT NULL,
    connection_id TEXT,
    reason TEXT,
    error_code TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, client_request_id)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE document (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** The form of `host.db`. */
export const HOST_FORMAT: FileFormat = { applicationId: APPLICATION_ID, steps: STEPS };
