import { describe, expect, it } from "vitest";
import { entryOf, Journaling, resultOf, START_MS, WatchedRows } from "./parties.js";

describe("RequestJournal", () => {
  it("H-35: a request begins when its row is committed, and not before", async () => {
    const journaling = new Journaling();
    let hasBegun = false;
    const begun = journaling.journal.begin(entryOf()).then(() => (hasBegun = true));
    await journaling.clock.advance(0);
    expect([hasBegun, journaling.rows.writes]).toEqual([false, []]);
    await journaling.turn();
    await begun;
    expect(journaling.rows.writes).toHaveLength(1);
  });

  it("H-35: what one turn brings is one transaction, rows and verdicts alike", async () => {
    const journaling = new Journaling();
    const first = await journaling.begin();
    const others = [1, 2, 3].map(() => journaling.journal.begin(entryOf()));
    first.end(resultOf());
    await journaling.turn();
    await Promise.all(others);
    expect(journaling.rows.writes.map(({ begun, ended }) => [begun.length, ended.length])).toEqual([
      [1, 0],
      [3, 1],
    ]);
  });

  it("H-35: a verdict that no row comes after is committed by itself, within 20 ms", async () => {
    const journaling = new Journaling();
    const [first, second] = [await journaling.begin(), await journaling.begin()];
    first.end(resultOf());
    await journaling.turn();
    await journaling.clock.advance(15);
    second.end(resultOf());
    expect(journaling.rows.writes).toHaveLength(2);
    await journaling.clock.advance(5);
    expect(journaling.rows.writes.slice(2).map(({ begun, ended }) => [begun.length, ended.length])).toEqual([[0, 2]]);
    await journaling.clock.advance(1_000);
    expect(journaling.rows.writes).toHaveLength(3);
  });

  it.each([
    ["256 of them", 256, 10],
    ["a mebibyte of results", 4, 256 * 1024],
  ])("H-35: verdicts that wait are committed when the turn is over once there are %s", async (_what, count, bytes) => {
    const journaling = new Journaling();
    const begun = Promise.all(Array.from({ length: count }, () => journaling.journal.begin(entryOf())));
    await journaling.turn();
    const raw = new Uint8Array(bytes);
    for (const [nth, call] of (await begun).entries()) {
      await journaling.turn();
      expect([nth, journaling.rows.writes.length]).toEqual([nth, 1]);
      call.end({ kind: "result", raw, resultType: undefined, isError: false });
    }
    await journaling.turn();
    expect(journaling.rows.writes[1]?.ended).toHaveLength(count);
  });

  it("H-35, F-1: a row says whose request it is, sizes and digests, and how far it got", async () => {
    const journaling = new Journaling();
    const call = await journaling.begin();
    expect(call.admit()).toBeUndefined();
    journaling.clock.step(7);
    call.end(resultOf());
    call.end({ kind: "failure", delivery: "unknown", code: "x" });
    expect(journaling.journal.reader.counts.running).toBe(0);
    const [row, ...rest] = await journaling.journal.reader.list();
    expect(rest).toEqual([]);
    expect(row).toMatchObject({
      requestId: row?.id,
      attempt: 1,
      epoch: "now",
      kind: "tool",
      connectorKey: "docs",
      scope: "account:ada",
      generation: 4,
      nativeName: "search",
      exposedName: "docs_search",
      workspaceId: "w",
      agentSessionId: "s",
      durableName: undefined,
      accountId: "ada",
      startedAt: 1_700_000_000_000,
      endedAt: 1_700_000_000_007,
      durationMs: 7,
      state: "ended",
      verdict: "answered",
      errorCode: undefined,
      isError: false,
      resultType: "complete",
      argumentBytes: 9,
      argumentBody: undefined,
      resultBytes: 14,
      resultBody: undefined,
    });
    expect(row?.argumentHmac).toMatch(/^[\w-]{43}$/);
    expect(row?.resultHmac).toMatch(/^[\w-]{43}$/);
  });

  it("H-35, F-1: a failure keeps its verdict and its code", async () => {
    const journaling = new Journaling();
    const deliveries = ["not_sent", "answered", "unknown"] as const;
    for (const delivery of deliveries) (await journaling.begin()).end({ kind: "failure", delivery, code: delivery });
    const rows = await journaling.journal.reader.list();
    expect(rows.map(({ verdict, errorCode }) => [verdict, errorCode]).toReversed()).toEqual(
      deliveries.map((delivery) => [delivery, delivery]),
    );
    expect((await journaling.journal.reader.unknowns()).map(({ id }) => id)).toEqual([rows[0]?.id]);
  });

  it("H-35: every further attempt has a row of its own before it is sent, and the verdict is the last one's", async () => {
    const journaling = new Journaling();
    const call = await journaling.begin();
    expect(call.admit()).toBeUndefined();
    expect(journaling.rows.writes).toHaveLength(1);
    journaling.clock.step(100);
    expect(call.admit()).toBeUndefined();
    // No turn has passed: it is there when `admit` returns.
    expect(journaling.rows.writes).toHaveLength(2);
    journaling.clock.step(10);
    call.end({ kind: "failure", delivery: "answered", code: "peer_error" });
    const rows = await journaling.journal.reader.list();
    expect(rows.map(({ attempt, state, verdict, durationMs }) => [attempt, state, verdict, durationMs])).toEqual([
      [2, "ended", "answered", 10],
      [1, "superseded", undefined, undefined],
    ]);
    expect(new Set(rows.map(({ requestId }) => requestId))).toEqual(new Set([rows[1]?.id]));
    expect(await journaling.journal.reader.unknowns()).toEqual([]);
  });

  it("H-35: rows are in the order of their ids, also when one can't wait for those before it", async () => {
    const journaling = new Journaling();
    const first = await journaling.begin();
    first.admit();
    const second = journaling.journal.begin(entryOf());
    first.admit();
    await journaling.turn();
    await second;
    const ids = (await journaling.journal.reader.list()).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    expect(ids).toEqual([...ids].sort().toReversed());
    expect((await journaling.journal.reader.list({ before: ids[0], limit: 1 })).map(({ id }) => id)).toEqual([ids[1]]);
  });

  it("H-35: a request that can't be written down is refused, without being sent, and others are not harmed", async () => {
    const journaling = new Journaling();
    const running = await journaling.begin();
    journaling.rows.fails = ({ begun }) => begun.length > 0;
    running.end(resultOf());
    await expect(journaling.begin()).rejects.toMatchObject({
      code: "journal_unavailable",
      delivery: "not_sent",
      details: { reason: "store_full" },
    });
    expect(journaling.kinds).toEqual(["unavailable"]);
    expect((await journaling.journal.reader.list())[0]?.verdict).toBe("answered");
    await expect(journaling.begin()).rejects.toMatchObject({ code: "journal_unavailable" });
    expect(journaling.kinds).toEqual(["unavailable"]);
    journaling.rows.fails = () => false;
    await journaling.begin();
    expect(journaling.kinds).toEqual(["unavailable", "available"]);
  });

  it("H-35: a further attempt that can't be written down is refused", async () => {
    const journaling = new Journaling();
    const call = await journaling.begin();
    call.admit();
    journaling.rows.fails = () => true;
    expect(call.admit()).toBe("journal_unavailable");
    journaling.rows.fails = () => false;
    call.end({ kind: "failure", delivery: "not_sent", code: "not_admitted" });
    const rows = await journaling.journal.reader.list();
    expect(rows.map(({ attempt, verdict }) => [attempt, verdict])).toEqual([[1, "not_sent"]]);
  });

  it("H-35: by option, requests go on without a row", async () => {
    const journaling = new Journaling({ onUnavailable: "go_on" });
    journaling.rows.fails = () => true;
    const unwritten = await journaling.begin();
    expect([unwritten.admit(), unwritten.admit()]).toEqual([undefined, undefined]);
    unwritten.end(resultOf());
    journaling.rows.fails = () => false;
    const call = await journaling.begin();
    call.admit();
    journaling.rows.fails = () => true;
    expect(call.admit()).toBeUndefined();
    journaling.rows.fails = () => false;
    call.end(resultOf());
    const rows = await journaling.journal.reader.list();
    expect(rows.map(({ attempt, verdict }) => [attempt, verdict])).toEqual([[1, "answered"]]);
    expect(journaling.journal.reader.counts).toEqual({ rows: 1, unknowns: 0, running: 0, unwritten: 0 });
  });

  it("H-35: verdicts that can't be written wait, within a bound, and are written when they can", async () => {
    const journaling = new Journaling({ maxUnwritten: 2 });
    const calls = [await journaling.begin(), await journaling.begin(), await journaling.begin()];
    journaling.rows.fails = () => true;
    for (const call of calls) call.end(resultOf());
    await journaling.clock.advance(20);
    expect(journaling.kinds).toEqual(["unavailable", "verdicts_lost"]);
    expect(journaling.journal.reader.counts.unwritten).toBe(2);
    await journaling.clock.advance(1_000);
    expect(journaling.journal.reader.counts.unwritten).toBe(2);
    journaling.rows.fails = () => false;
    await journaling.clock.advance(1_000);
    expect(journaling.journal.reader.counts).toEqual({ rows: 3, unknowns: 0, running: 0, unwritten: 0 });
    const states = (await journaling.journal.reader.list()).map(({ state }) => state);
    // The one that was given up stays open, and reads unknown after the next start.
    expect(states).toEqual(["ended", "ended", "running"]);
  });

  it("H-35: what another process left open reads unknown, and stays so when its epoch comes no more", async () => {
    const rows = new WatchedRows();
    const before = new Journaling({}, rows, "then");
    await before.begin();
    const superseded = await before.begin();
    superseded.admit();
    superseded.admit();
    const after = new Journaling({}, rows, "now");
    await after.begin();
    const list = await after.journal.reader.list();
    expect(list.map(({ epoch, state, verdict, endedAt }) => [epoch, state, verdict, endedAt])).toEqual([
      ["now", "running", undefined, undefined],
      ["then", "ended", "unknown", undefined],
      ["then", "superseded", undefined, undefined],
      ["then", "ended", "unknown", undefined],
    ]);
    expect(await after.journal.reader.unknowns()).toHaveLength(2);
  });

  it("H-35: ids grow, also when the clock was set back, and none comes again in a file that was made anew", async () => {
    const rows = new WatchedRows();
    const idOf = async (journaling: Journaling): Promise<string> => {
      await journaling.begin();
      return (await journaling.journal.reader.list())[0]?.id ?? "";
    };
    const ids = [
      await idOf(new Journaling({}, rows)),
      await idOf(new Journaling({}, rows, "a day before", START_MS - 24 * 60 * 60_000)),
      await idOf(new Journaling({}, new WatchedRows(), "anew", START_MS + 1)),
    ];
    expect(ids[0]).toMatch(/^[0-9a-z]{11}$/);
    expect(new Set(ids).size).toBe(3);
    expect([...ids].sort()).toEqual(ids);
  });

  it("H-35: rows go by count in small steps, and unacknowledged unknowns last", async () => {
    const journaling = new Journaling({ maxRows: 300 });
    for (let batch = 0; batch < 20; batch += 1) {
      const begun = Array.from({ length: 50 }, () => journaling.journal.begin(entryOf()));
      await journaling.turn();
      for (const [nth, call] of (await Promise.all(begun)).entries()) {
        call.end({ kind: "failure", delivery: batch === 0 && nth < 10 ? "unknown" : "answered", code: undefined });
      }
    }
    for (let turns = 0; turns < 10; turns += 1) await journaling.turn();
    const { rows, unknowns } = journaling.journal.reader.counts;
    expect(unknowns).toBe(10);
    // Looked at every 256 rows.
    expect(rows).toBeLessThanOrEqual(300 + 256);
  });

  it("H-35: rows go by age, looked at every hour, but for unacknowledged unknowns", async () => {
    const journaling = new Journaling({ maxAgeMs: 24 * 60 * 60_000 });
    (await journaling.begin()).end(resultOf());
    (await journaling.begin()).end({ kind: "failure", delivery: "unknown", code: undefined });
    await journaling.turn();
    await journaling.clock.advance(26 * 60 * 60_000);
    await journaling.turn();
    expect((await journaling.journal.reader.list()).map(({ verdict }) => verdict)).toEqual(["unknown"]);
    const [unknown] = await journaling.journal.reader.unknowns();
    expect(await journaling.journal.reader.acknowledge(unknown?.id ?? "")).toBe(1);
    await journaling.clock.advance(60 * 60_000);
    await journaling.turn();
    expect(await journaling.journal.reader.list()).toEqual([]);
  });

  it("H-40: closing writes the verdicts that wait, and refuses what comes later", async () => {
    const journaling = new Journaling();
    const [ended, open] = [await journaling.begin(), await journaling.begin()];
    ended.end(resultOf());
    const closing = journaling.journal.close();
    open.end(resultOf());
    await closing;
    expect(journaling.rows.writes.at(-1)?.ended).toHaveLength(1);
    await expect(journaling.begin()).rejects.toMatchObject({ code: "journal_unavailable", delivery: "not_sent" });
    await expect(journaling.journal.reader.list()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(journaling.clock.pending).toBe(0);
    expect(journaling.kinds).toEqual([]);
  });

  it("H-40: closing tries for a second to write what fails, and says what it gives up", async () => {
    const journaling = new Journaling();
    const call = await journaling.begin();
    journaling.rows.fails = () => true;
    call.end(resultOf());
    let isClosed = false;
    const closing = journaling.journal.close().then(() => (isClosed = true));
    await journaling.clock.advance(500);
    expect(isClosed).toBe(false);
    await journaling.clock.advance(600);
    await closing;
    expect(journaling.incidents.at(-1)).toEqual({ kind: "verdicts_lost", count: 1 });
    expect(journaling.clock.pending).toBe(0);
    await expect(journaling.begin()).rejects.toMatchObject({ code: "journal_unavailable" });
    // What it gave up is not tried again by what comes later.
    expect(journaling.clock.pending).toBe(0);
    expect(journaling.incidents).toHaveLength(2);
  });
});
