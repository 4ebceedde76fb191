import type { FileFormat } from "./file-format.js";

/** Marks a file as one of ours: "rcos". Not that of `host.db`, so that neither is taken for the other. */
const APPLICATION_ID = 0x72636f73;

/** The formats of `shared.db`, oldest first. A step that was released never changes, as with `host.db`. */
const STEPS: readonly string[] = [
  `
  CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE credential (
    resource TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    text TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (resource, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE era (
    key TEXT NOT NULL PRIMARY KEY,
    era TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
];

/** The form of `shared.db`. */
export const SHARED_FORMAT: FileFormat = { applicationId: APPLICATION_ID, steps: STEPS };
