import { mkdtemp, readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BegunRow, JournalRows, PruneStep, RowEnd } from "../../../src/connector-host/journal/index.js";
import { createMemoryJournalRows, openSqliteJournalRows, openSqliteStore } from "../../../src/store/index.js";

/** Texts that a store could take for one another, or lose. */
const ODD_TEXTS = ["", "a ", "a\0b", "\0", "\u0001", '\u0001"a"', "\ud800", "\ufffd", "é", "e\u0301"];

function begun(seq: number, more: Partial<BegunRow> = {}): BegunRow {
  return {
    seq,
    firstSeq: seq,
    attempt: 1,
    epoch: "now",
    startedAt: 1_000 + seq,
    kind: "tool",
    connectorKey: "docs",
    scope: "device",
    generation: 3,
    nativeName: "search",
    exposedName: "docs_search",
    workspaceId: "w",
    agentSessionId: "s",
    durableName: undefined,
    accountId: undefined,
    argumentBytes: 2,
    argumentHmac: "hmac",
    argumentBody: undefined,
    ...more,
  };
}

function end(verdict: RowEnd["verdict"], more: Partial<RowEnd> = {}): RowEnd {
  return {
    verdict,
    endedAt: 2_000,
    durationMs: 5,
    errorCode: undefined,
    isError: undefined,
    resultType: undefined,
    resultBytes: undefined,
    resultHmac: undefined,
    resultBody: undefined,
    ...more,
  };
}

/** Begins rows and ends them. */
function fill(rows: JournalRows, verdicts: Readonly<Record<number, RowEnd["verdict"] | undefined>>): void {
  const ended: { seq: number; end: RowEnd }[] = [];
  const all = Object.entries(verdicts).map(([seq, verdict]) => {
    if (verdict !== undefined) ended.push({ seq: Number(seq), end: end(verdict) });
    return begun(Number(seq));
  });
  rows.write({ begun: all, superseded: [], ended });
}

function seqs(rows: readonly { readonly seq: number }[]): number[] {
  return rows.map(({ seq }) => seq);
}

function step(more: Partial<PruneStep>): PruneStep {
  return { settled: 0, old: { before: 0, count: 100 }, unknowns: 0, ...more };
}

describe.each(["memory", "sqlite"])("%s journal rows", (kind) => {
  const open: JournalRows[] = [];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "journal-contract-"));
  });

  afterEach(async () => {
    for (const rows of open.splice(0)) await rows.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function openRows(): Promise<JournalRows> {
    const rows = kind === "memory" ? createMemoryJournalRows() : await openSqliteJournalRows({ directory });
    open.push(rows);
    return rows;
  }

  it("H-35: keep what is known before a request is sent, and what became of it", async () => {
    const rows = await openRows();
    expect([rows.lastSeq(), rows.counts()]).toEqual([0, { rows: 0, unknowns: 0 }]);
    const odd = ODD_TEXTS.map((text, index) =>
      begun(index + 1, { nativeName: text, durableName: text, accountId: text, argumentBody: text }),
    );
    rows.write({ begun: odd, superseded: [], ended: [] });
    const running = { end: undefined, isSuperseded: false, acknowledgedAt: undefined };
    expect(rows.page(undefined, 100)).toEqual(odd.map((row) => ({ ...row, ...running })).toReversed());
    const ends = [
      end("answered", { isError: false, resultType: "complete", resultBytes: 0, resultHmac: "h", resultBody: "" }),
      end("not_sent", { errorCode: "not_admitted", endedAt: undefined, durationMs: undefined }),
      end("answered", { isError: true }),
    ];
    rows.write({ begun: [], superseded: [], ended: ends.map((each, index) => ({ seq: index + 1, end: each })) });
    expect(
      rows
        .page(4, 100)
        .map((row) => row.end)
        .toReversed(),
    ).toEqual(ends);
    expect(rows.lastSeq()).toBe(ODD_TEXTS.length);
    expect(rows.counts()).toEqual({ rows: ODD_TEXTS.length, unknowns: 0 });
  });

  it("H-35: a row ends once, and never after another attempt took its place", async () => {
    const rows = await openRows();
    rows.write({ begun: [begun(1)], superseded: [], ended: [{ seq: 1, end: end("answered") }] });
    rows.write({ begun: [begun(2)], superseded: [1], ended: [{ seq: 1, end: end("unknown") }] });
    rows.write({ begun: [begun(3, { firstSeq: 2, attempt: 2 })], superseded: [2], ended: [] });
    expect(rows.page(undefined, 9).map((row) => [row.seq, row.end?.verdict, row.isSuperseded])).toEqual([
      [3, undefined, false],
      [2, undefined, true],
      [1, "answered", false],
    ]);
  });

  it("H-35: rows of other epochs that have not ended become unknown, but for those that another attempt took the place of", async () => {
    const rows = await openRows();
    rows.write({
      begun: [begun(1, { epoch: "then" }), begun(2, { epoch: "then" }), begun(3, { epoch: "then" }), begun(4)],
      superseded: [1],
      ended: [{ seq: 3, end: end("not_sent") }],
    });
    expect(rows.endLost("now")).toBe(1);
    expect(rows.endLost("now")).toBe(0);
    expect(rows.page(undefined, 9).map((row) => row.end?.verdict)).toEqual([
      undefined,
      "not_sent",
      "unknown",
      undefined,
    ]);
    expect(rows.unknowns(9)[0]?.end).toEqual(end("unknown", { endedAt: undefined, durationMs: undefined }));
  });

  it("H-35: pages go from the latest to the oldest, and neither end is off by one", async () => {
    const rows = await openRows();
    fill(rows, { 1: "answered", 2: undefined, 3: "unknown", 4: "answered" });
    expect(seqs(rows.page(undefined, 2))).toEqual([4, 3]);
    expect(seqs(rows.page(3, 9))).toEqual([2, 1]);
    expect(seqs(rows.page(1, 9))).toEqual([]);
    expect(seqs(rows.page(undefined, 0))).toEqual([]);
  });

  it("H-35: unknowns are listed until they are acknowledged, which nothing else can be", async () => {
    const rows = await openRows();
    fill(rows, { 1: "unknown", 2: "answered", 3: "unknown", 4: undefined });
    expect(seqs(rows.unknowns(9))).toEqual([3, 1]);
    expect(seqs(rows.unknowns(1))).toEqual([3]);
    expect(rows.acknowledge([1, 2, 4, 77], 9_000)).toBe(1);
    expect(rows.acknowledge([1], 9_999)).toBe(0);
    expect(seqs(rows.unknowns(9))).toEqual([3]);
    expect(rows.counts()).toEqual({ rows: 4, unknowns: 1 });
    expect(rows.page(2, 1)[0]?.acknowledgedAt).toBe(9_000);
  });

  it("H-35: pruning takes the oldest that have ended, keeps what runs, and unacknowledged unknowns unless they are meant", async () => {
    const rows = await openRows();
    fill(rows, {
      1: "unknown",
      2: undefined,
      3: "answered",
      4: "not_sent",
      5: "unknown",
      6: "answered",
      7: "answered",
    });
    rows.acknowledge([5], 1);
    expect(rows.prune(step({ settled: 2 }))).toBe(2);
    expect(seqs(rows.page(undefined, 9))).toEqual([7, 6, 5, 2, 1]);
    expect(rows.prune(step({ old: { before: 1_007, count: 1 } }))).toBe(1);
    expect(rows.prune(step({ old: { before: 1_007, count: 9 } }))).toBe(1);
    expect(seqs(rows.page(undefined, 9))).toEqual([7, 2, 1]);
    expect(rows.prune(step({ unknowns: 5 }))).toBe(1);
    expect(seqs(rows.page(undefined, 9))).toEqual([7, 2]);
    expect(rows.counts()).toEqual({ rows: 2, unknowns: 0 });
    rows.write({ begun: [begun(8)], superseded: [2], ended: [] });
    expect(rows.prune(step({ settled: 1 }))).toBe(1);
    expect(seqs(rows.page(undefined, 9))).toEqual([8, 7]);
  });

  it("H-35: a transaction is written whole or not at all", async () => {
    const rows = await openRows();
    const bad = { ...end("answered"), durationMs: 0.5 };
    expect(() => rows.write({ begun: [begun(1)], superseded: [], ended: [{ seq: 1, end: bad }] })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
    expect(rows.page(undefined, 9)).toEqual([]);
    expect(rows.counts()).toEqual({ rows: 0, unknowns: 0 });
  });

  it("R-9: whatever is asked after close is store_unavailable", async () => {
    const rows = await openRows();
    expect(rows.key).toHaveLength(32);
    await rows.close();
    await rows.close();
    const closed = expect.objectContaining({
      code: "store_unavailable",
      details: expect.objectContaining({ reason: "closed" }),
    });
    for (const ask of [
      () => rows.lastSeq(),
      () => rows.write({ begun: [], superseded: [], ended: [] }),
      () => rows.endLost(""),
      () => rows.page(undefined, 1),
      () => rows.unknowns(1),
      () => rows.acknowledge([], 0),
      () => rows.counts(),
      () => rows.prune(step({})),
    ]) {
      expect(ask).toThrow(closed);
    }
  });
});

describe("the file of journal rows", () => {
  const open: { close(): Promise<void> }[] = [];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "journal-file-"));
  });

  afterEach(async () => {
    for (const rows of open.splice(0)) await rows.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function openRows(maxFileBytes?: number): Promise<JournalRows> {
    const rows = await openSqliteJournalRows({ directory, maxFileBytes });
    open.push(rows);
    return rows;
  }

  it("R-5, H-35: rows and the key outlast the process, in a file for its owner only that one has at a time", async () => {
    const rows = await openRows();
    fill(rows, { 1: "unknown", 2: undefined });
    expect((await stat(join(directory, "calls.db"))).mode & 0o777).toBe(0o600);
    await expect(openSqliteJournalRows({ directory })).rejects.toMatchObject({ code: "store_in_use" });
    await rows.close();
    const again = await openRows();
    expect(again.key).toEqual(rows.key);
    expect(seqs(again.page(undefined, 9))).toEqual([2, 1]);
    expect([again.lastSeq(), again.counts()]).toEqual([2, { rows: 2, unknowns: 1 }]);
  });

  it("H-35: a file that can't grow takes in no rows, whole, until some went", async () => {
    const rows = await openRows(64 * 1024);
    let seq = 0;
    const grow = (): void => {
      for (;;) {
        seq += 1;
        const row = begun(seq, { argumentBody: "x".repeat(4_000) });
        rows.write({ begun: [row], superseded: [], ended: [{ seq, end: end("answered") }] });
      }
    };
    expect(grow).toThrow(expect.objectContaining({ code: "store_full" }));
    expect(rows.lastSeq()).toBe(seq - 1);
    expect(rows.counts().rows).toBe(seq - 1);
    expect(rows.prune(step({ settled: 2 }))).toBe(2);
    rows.write({ begun: [begun(seq)], superseded: [], ended: [{ seq, end: end("answered") }] });
    expect(rows.counts().rows).toBe(seq - 2);
  });

  it("H-35: a file that is gone, and one that another program has made, are not written to", async () => {
    const rows = await openRows();
    await unlink(join(directory, "calls.db"));
    expect(() => fill(rows, { 1: undefined })).toThrow(
      expect.objectContaining({ code: "store_unavailable", details: expect.objectContaining({ reason: "moved" }) }),
    );
    await rows.close();
    const host = await openSqliteStore({ directory, fileName: "other.db" });
    await host.close();
    await writeFile(join(directory, "calls.db"), await readFile(join(directory, "other.db")));
    await expect(openSqliteJournalRows({ directory })).rejects.toMatchObject({
      code: "store_unavailable",
      details: { reason: "another_program" },
    });
  });

  it("R-5, H-35: a file of a newer format is not touched, and one whose key is no key is refused", async () => {
    const rows = await openRows();
    fill(rows, { 1: "unknown" });
    await rows.close();
    const path = join(directory, "calls.db");
    change(path, "PRAGMA user_version = 99");
    const before = await readFile(path);
    await expect(openSqliteJournalRows({ directory })).rejects.toMatchObject({
      code: "store_newer_format",
      details: { path, found: 99, known: 1 },
    });
    expect(await readFile(path)).toEqual(before);
    change(path, "PRAGMA user_version = 1; UPDATE secret SET hex = 'ff'");
    await expect(openSqliteJournalRows({ directory })).rejects.toMatchObject({
      code: "store_unavailable",
      details: { reason: "unreadable_key" },
    });
    // A key that is lost is made anew: digests of before tell nothing any more, and the rows stay.
    change(path, "DELETE FROM secret");
    const again = await openRows();
    expect(again.key).not.toEqual(rows.key);
    expect(again.key).toHaveLength(32);
    expect(again.unknowns(9)).toHaveLength(1);
  });
});

function change(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}
