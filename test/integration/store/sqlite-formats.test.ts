import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeTransition } from "../../../src/reconcile/event-form.js";
import { openSqliteStore } from "../../../src/store/index.js";

/** A store as format 1 was released. Never edit this: a file like it is on somebody's disk. */
const FORMAT_1 = `
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

  INSERT INTO counter VALUES ('generation', 2048);
  INSERT INTO convergence VALUES
    ('account:a', 'notion', 12, 1, 'new', 11, 'e1', 1, 'old', 'ready', 1700000000000, 3, 2, 1700000000001,
      1700000000002, 13, 'timeout', 'Too late.', 1700000000003, NULL, NULL),
    ('device', 'files', 4, 0, '', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 7, NULL, NULL);
  INSERT INTO projection_account VALUES
    ('a', 7, '=e', '9007199254740993', 'ab', '["=d","-"]', '=d', '5', 2, 1700000000000, 1700000000001),
    ('b', 1, NULL, NULL, NULL, '[]', NULL, NULL, NULL, NULL, 9);
  INSERT INTO projection VALUES
    ('a', 'notion', '1.2.3', 'connected', 'c1', '18446744073709551615', '=e', '9007199254740993', NULL, 1700000000000),
    ('a', 'odd', NULL, 'disconnected', NULL, '0', '-', '0', 'unknown_state', 0);
  PRAGMA application_id = 1919119214;
  PRAGMA user_version = 1;
`;

/** The same rows as format 2 was released, with local observations. Never edit this either. */
const FORMAT_2 = `
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

  INSERT INTO counter VALUES ('generation', 2048);
  INSERT INTO convergence VALUES
    ('account:a', 'notion', 12, 1, 'new', 11, 'e1', 1, 'old', 'ready', 1700000000000, 3, 2, 1700000000001,
      1700000000002, 13, 'timeout', 'Too late.', 1700000000003, NULL, NULL),
    ('device', 'files', 4, 0, '', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 7, NULL, NULL);
  INSERT INTO projection_account VALUES
    ('a', 7, '=e', '9007199254740993', 'ab', '["=d","-"]', '=d', '5', 2, 1700000000000, 1700000000001),
    ('b', 1, NULL, NULL, NULL, '[]', NULL, NULL, NULL, NULL, 9);
  INSERT INTO projection VALUES
    ('a', 'notion', '1.2.3', 'connected', 'c1', '18446744073709551615', '=e', '9007199254740993', NULL, 1700000000000),
    ('a', 'odd', NULL, 'disconnected', NULL, '0', '-', '0', 'unknown_state', 0);
  INSERT INTO projection_overlay VALUES
    ('a', 'notion', 'c1', '18446744073709551615', 'expired', 7, 'clearing', 2000, 1700000000005),
    ('a', 'odd', NULL, '0', 'disconnected', 0, 'cleared', 0, NULL);
  PRAGMA application_id = 1919119214;
  PRAGMA user_version = 2;
`;

/** A file of format 2 as format 3 continues it, with events and authorization flows. Never edit this either. */
const FORMAT_3 = `
  ${FORMAT_2}
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

  INSERT INTO event VALUES
    (41, 1700000000000,
      '{"kind":"planned","scope":"account:a","key":"notion","generation":12,"enabled":true,"identity":"new","revokes":11}'),
    (42, 1700000000001,
      '{"kind":"lost","scope":"account:a","key":"notion","generation":11,"error":{"code":"timeout","message":"Too late."}}'),
    (43, 1700000000002, '{"kind":"removed","scope":"device","key":"gone"}');
  DELETE FROM event WHERE seq = 43;
  INSERT INTO flow VALUES
    ('a', 'r1', 'notion', '1.2.3', 1, 'c0', 's1', 'redirect', 'connected', 'c1', NULL, NULL, 1700000000000, 1700000000001),
    ('a', 'r2', 'odd', '0', 0, NULL, NULL, NULL, 'failed', NULL, 'refused', 'busy', 1, 2);
  PRAGMA user_version = 3;
`;

/** A file of format 3 as format 4 continues it, with documents. Never edit this once it is released. */
const FORMAT_4 = `
  ${FORMAT_3}
  CREATE TABLE document (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO document VALUES
    ('switch', 'notion', '{"formatVersion":1,"enabled":false}', 1700000000000),
    ('binding', 'odd', '', 0);
  PRAGMA user_version = 4;
`;

const FORMATS = [FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4];

const EVENTS = [
  {
    kind: "planned",
    scope: "account:a",
    key: "notion",
    generation: 12,
    enabled: true,
    identity: "new",
    revokes: 11,
    seq: 41,
    at: 1_700_000_000_000,
  },
  {
    kind: "lost",
    scope: "account:a",
    key: "notion",
    generation: 11,
    error: { code: "timeout", message: "Too late." },
    seq: 42,
    at: 1_700_000_000_001,
  },
];

const FLOWS = [
  {
    accountId: "a",
    clientRequestId: "r1",
    connectorKey: "notion",
    connectorVersion: "1.2.3",
    replaces: true,
    priorConnectionId: "c0",
    sessionId: "s1",
    nextAction: "redirect",
    state: "connected",
    connectionId: "c1",
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_001,
  },
  {
    accountId: "a",
    clientRequestId: "r2",
    connectorKey: "odd",
    connectorVersion: "0",
    replaces: false,
    state: "failed",
    reason: "refused",
    errorCode: "busy",
    createdAt: 1,
    updatedAt: 2,
  },
];

const OBSERVED = [
  {
    accountId: "a",
    connectorKey: "notion",
    connectionId: "c1",
    connectionVersion: 18_446_744_073_709_551_615n,
    state: "expired",
    syncSeq: 7,
    phase: "clearing",
    stepMs: 2_000,
    heldUntil: 1_700_000_000_005,
  },
  {
    accountId: "a",
    connectorKey: "odd",
    connectionId: undefined,
    connectionVersion: 0n,
    state: "disconnected",
    syncSeq: 0,
    phase: "cleared",
    stepMs: 0,
    heldUntil: undefined,
  },
] as const;

describe("formats of a store", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "store-formats-"));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it.each([
    ["1", FORMAT_1],
    ["2", FORMAT_2],
    ["3", FORMAT_3],
    ["4", FORMAT_4],
  ])("R-9: reads every row of a file of format %s", async (_format, content) => {
    const file = new Database(join(directory, "host.db"));
    file.exec(content);
    file.close();
    const store = await openSqliteStore({ directory });
    const convergence = await store.read(async (tx) => [
      await tx.convergence.get("account:a", "notion"),
      await tx.convergence.get("device", "files"),
    ]);
    expect(convergence).toEqual([
      {
        scope: "account:a",
        key: "notion",
        desired: { generation: 12, enabled: true, identity: "new" },
        observed: {
          generation: 11,
          epoch: "e1",
          enabled: true,
          identity: "old",
          readiness: "ready",
          since: 1_700_000_000_000,
        },
        attempts: 3,
        failures: 2,
        nextAttemptAt: 1_700_000_000_001,
        notBefore: 1_700_000_000_002,
        runToken: 13,
        lastError: { code: "timeout", message: "Too late." },
        updatedAt: 1_700_000_000_003,
      },
      {
        scope: "device",
        key: "files",
        desired: { generation: 4, enabled: false, identity: "" },
        attempts: 0,
        failures: 0,
        updatedAt: 7,
      },
    ]);
    const projections = await store.read(async (tx) => [
      await tx.projections.account("a"),
      await tx.projections.account("b"),
      await tx.projections.list("a"),
    ]);
    expect(projections).toEqual([
      {
        accountId: "a",
        syncSeq: 7,
        applied: { epoch: "=e", revision: 9_007_199_254_740_993n, digest: "ab" },
        pastEpochs: ["=d", "-"],
        hold: { epoch: "=d", revision: 5n, count: 2, since: 1_700_000_000_000 },
        seenAt: 1_700_000_000_001,
      },
      { accountId: "b", syncSeq: 1, pastEpochs: [], seenAt: 9 },
      [
        {
          accountId: "a",
          connectorKey: "notion",
          connectorVersion: "1.2.3",
          state: "connected",
          connectionId: "c1",
          connectionVersion: 18_446_744_073_709_551_615n,
          epoch: "=e",
          revision: 9_007_199_254_740_993n,
          updatedAt: 1_700_000_000_000,
        },
        {
          accountId: "a",
          connectorKey: "odd",
          state: "disconnected",
          connectionVersion: 0n,
          epoch: "-",
          revision: 0n,
          quarantined: "unknown_state",
          updatedAt: 0,
        },
      ],
    ]);
    expect(await store.write((tx) => tx.convergence.nextGeneration())).toBe(2049);
    await store.close();
  });

  it("P-6: reads the observations of a file of format 2; one of format 1 has none, and takes them", async () => {
    const read = async (format: string) => {
      const file = new Database(join(directory, `${String(format.length)}.db`));
      file.exec(format);
      file.close();
      const store = await openSqliteStore({ directory, fileName: `${String(format.length)}.db` });
      const overlays = await store.read((tx) => tx.overlays.list("a"));
      const [first] = OBSERVED;
      await store.write((tx) => tx.overlays.put(first));
      expect(await store.read((tx) => tx.overlays.get("a", "notion"))).toEqual(first);
      await store.close();
      return overlays;
    };
    expect(await read(FORMAT_4)).toEqual(OBSERVED);
    expect(await read(FORMAT_3)).toEqual(OBSERVED);
    expect(await read(FORMAT_2)).toEqual(OBSERVED);
    expect(await read(FORMAT_1)).toEqual([]);
  });

  it.each([
    { format: "1", content: FORMAT_1, last: 0, events: [] },
    { format: "2", content: FORMAT_2, last: 0, events: [] },
    { format: "3", content: FORMAT_3, last: 43, events: EVENTS },
    { format: "4", content: FORMAT_4, last: 43, events: EVENTS },
  ])(
    "R-8: reads the events of a file of format $format, and numbers go on in it",
    async ({ content, last, events }) => {
      const file = new Database(join(directory, "host.db"));
      file.exec(content);
      file.close();
      const store = await openSqliteStore({ directory });
      const rows = await store.read((tx) => tx.events.list(0, 100));
      expect(rows.map(decodeTransition)).toEqual(events);
      expect(await store.read((tx) => tx.events.last())).toBe(last);
      expect(await store.write((tx) => tx.events.append(1, "{}"))).toBe(last + 1);
      await store.close();
    },
  );

  it("P-10: reads the flows of a file of format 3; one of an earlier format has none, and takes them", async () => {
    for (const [format, content] of FORMATS.entries()) {
      const fileName = `${String(format)}.db`;
      const file = new Database(join(directory, fileName));
      file.exec(content);
      file.close();
      const store = await openSqliteStore({ directory, fileName });
      const flows = await store.read((tx) => tx.flows.list("a"));
      expect(flows).toEqual(content === FORMAT_1 || content === FORMAT_2 ? [] : FLOWS);
      for (const flow of flows) {
        await store.write((tx) => tx.flows.put({ ...flow, accountId: "b" }));
        expect(await store.read((tx) => tx.flows.get("b", flow.clientRequestId))).toEqual({ ...flow, accountId: "b" });
      }
      await store.close();
    }
  });

  it("R-9: reads the documents of a file of format 4; one of an earlier format has none, and takes them", async () => {
    for (const [format, content] of FORMATS.entries()) {
      const fileName = `${String(format)}.db`;
      const file = new Database(join(directory, fileName));
      file.exec(content);
      file.close();
      const store = await openSqliteStore({ directory, fileName });
      const kept = {
        kind: "switch",
        key: "notion",
        text: '{"formatVersion":1,"enabled":false}',
        updatedAt: 1_700_000_000_000,
      };
      const list = () => store.read((tx) => tx.documents.list("switch"));
      expect(await list()).toEqual(content === FORMAT_4 ? [kept] : []);
      await store.write((tx) => tx.documents.put({ ...kept, key: "another" }));
      expect(await list()).toContainEqual({ ...kept, key: "another" });
      await store.close();
    }
  });

  it("R-9: makes new files in the form in which format 4 was released, and brings earlier ones to it", async () => {
    await (await openSqliteStore({ directory })).close();
    const made = schemaOf(join(directory, "host.db"));
    for (const [format, content] of FORMATS.entries()) {
      const fileName = `${String(format)}.db`;
      const former = new Database(join(directory, fileName));
      former.exec(content);
      former.close();
      if (content === FORMAT_4) expect(schemaOf(join(directory, fileName))).toEqual(made);
      await (await openSqliteStore({ directory, fileName })).close();
      expect(schemaOf(join(directory, fileName))).toEqual(made);
    }
    // Eight of ours, and SQLite's own of the numbers that were given out.
    expect(made.tables).toHaveLength(9);
  });

  it("R-1: leaves the columns for a shared store as they are", async () => {
    const path = join(directory, "host.db");
    const file = new Database(path);
    file.exec(FORMAT_1);
    file.exec("UPDATE convergence SET owner = 'them', lease_until = 5 WHERE key = 'files'");
    file.close();
    const store = await openSqliteStore({ directory });
    await store.write(async (tx) => {
      const row = await tx.convergence.get("device", "files");
      if (row !== undefined) await tx.convergence.put({ ...row, attempts: 1 });
    });
    await store.close();
    const after = new Database(path);
    const kept = after.prepare("SELECT attempts, owner, lease_until FROM convergence WHERE key = 'files'").raw().all();
    after.close();
    expect(kept).toEqual([[1, "them", 5]]);
  });

  it("R-9: names the row that can't be read", async () => {
    const file = new Database(join(directory, "host.db"));
    file.exec(FORMAT_1);
    file.exec("UPDATE convergence SET observed_readiness = 'splendid'; UPDATE projection SET revision = 'many'");
    file.close();
    const store = await openSqliteStore({ directory });
    await expect(store.read((tx) => tx.convergence.get("account:a", "notion"))).rejects.toMatchObject({
      code: "store_unavailable",
      details: { path: "convergence" },
    });
    await expect(store.read((tx) => tx.projections.list("a"))).rejects.toMatchObject({
      code: "store_unavailable",
      details: { path: "projection" },
    });
    await store.close();
  });

  function schemaOf(path: string): { readonly tables: readonly unknown[]; readonly numbers: readonly unknown[] } {
    const file = new Database(path);
    const tables = file.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name").raw().all();
    const numbers = ["application_id", "user_version"].map((name) => file.prepare(`PRAGMA ${name}`).raw().all());
    file.close();
    const form = (sql: unknown): string => String(sql).replaceAll(/\s+/g, " ");
    return { tables: tables.map((table) => (Array.isArray(table) ? table.map(form) : table)), numbers };
  }
});
