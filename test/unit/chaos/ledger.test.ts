import { beforeEach, describe, expect, it } from "vitest";
import { type AppliedNote, type JournalLine, PRUNED, rowName, type WrittenRow } from "../../chaos/journal.js";
import { Ledger } from "../../chaos/ledger.js";
import type { Connection, Said } from "../../chaos/world.js";

const KEY = "alpha";
const NAME = rowName("projection", "ada", KEY);
const PLAN = rowName("convergence", "account:ada", KEY);
const GRANTED: Connection = { state: "connected", connectionId: "c1", connectionVersion: 1 };
const SAID = new Map<string, Said>([
  ["1", new Map([[KEY, GRANTED]])],
  ["2", new Map([[KEY, { ...GRANTED, connectionVersion: 2 }]])],
  ["3", new Map()],
]);

let ledger: Ledger;
let tx: number;

beforeEach(() => {
  tx = 0;
  ledger = new Ledger((account, epoch, revision) =>
    account === "ada" && epoch === "e1" ? SAID.get(revision) : undefined,
  );
  read({ t: "life", life: 0 }, { t: "login", account: "ada", epoch: "x" });
});

function read(...lines: readonly JournalLine[]): void {
  for (const line of lines) ledger.read(line);
}

function checks(): readonly string[] {
  return ledger.takeFindings().map(({ check }) => check);
}

function note(revision: string): AppliedNote {
  return { account: "ada", epoch: "=e1", revision };
}

function commit(rows: readonly WrittenRow[], applied: AppliedNote | null = null): void {
  tx += 1;
  read({ t: "begin", tx }, { t: "write", tx, rows }, { t: "commit", tx, applied }, { t: "end", tx });
}

function connection(version: number, state = "connected"): WrittenRow {
  return { name: NAME, row: { state, connectionId: "c1", connectionVersion: `${String(version)}n` } };
}

function gone(): WrittenRow {
  return { name: NAME, row: { state: "disconnected", connectionVersion: "0n" } };
}

function route(generation: number, version = 1, kind: "published" | "withdrawn" = "published"): JournalLine {
  const identity = JSON.stringify(["digest", "connected", "c1", String(version)]);
  return { t: "route", kind, key: KEY, generation, identity };
}

function event(seq: number, kind = "planned"): JournalLine {
  return { t: "event", seq, kind, key: KEY, generation: 1 };
}

describe("a life in which all is well", () => {
  it("leaves nothing to find", () => {
    commit([connection(1)], note("1"));
    read(route(5), event(1), event(2));
    commit([connection(2)], note("2"));
    read(route(6, 2), route(6, 2, "withdrawn"));
    commit([gone()], note("3"));
    read({ t: "logout" });
    expect(checks()).toEqual([]);
    expect(ledger.tally).toMatchObject({
      commits: 3,
      snapshots: 3,
      publications: 2,
      withdrawals: 1,
      events: 2,
      logins: 1,
    });
  });

  it("may publish the same generation again, for the same thing in another epoch", () => {
    commit([connection(1)], note("1"));
    read(route(5), { t: "life", life: 1 }, { t: "login", account: "ada", epoch: "y" });
    commit([connection(1)], note("1"));
    read(route(5));
    expect(checks()).toEqual([]);
  });
});

describe("publications", () => {
  it.each<[string, () => void, string]>([
    ["before a snapshot", () => undefined, "publications"],
    ["of an older version", () => commit([connection(2)], note("2")), "publications"],
    ["of a connection that is lowered", lower, "publications"],
    [
      "of an older generation",
      () => (commit([connection(1)], note("1")), read(route(6), route(6, 1, "withdrawn"))),
      "generations",
    ],
    [
      "of the same one again",
      () => (commit([connection(1)], note("1")), read(route(5), route(5, 1, "withdrawn"))),
      "generations",
    ],
    ["with nobody signed in", () => read({ t: "logout" }), "publications"],
  ])("%s are found", (_, before, check) => {
    before();
    read(route(5));
    expect(checks()).toContain(check);
  });

  it("of something else under the same generation are found, in another life too", () => {
    commit([connection(1)], note("1"));
    read(route(5), { t: "life", life: 1 }, { t: "login", account: "ada", epoch: "y" });
    commit([connection(2)], note("2"));
    read(route(5, 2));
    expect(checks()).toEqual(["generations"]);
  });

  it("that say what was planned for another reason than a connection are found", () => {
    read({ t: "route", kind: "published", key: KEY, generation: 5, identity: '["digest","authorization_required"]' });
    expect(checks()).toEqual(["publications"]);
  });

  function lower(): void {
    commit([connection(1)], note("1"));
    const overlay = { phase: "standing", connectionId: "c1", connectionVersion: "1n" };
    commit([{ name: rowName("overlay", "ada", KEY), row: overlay }]);
  }
});

describe("revocations", () => {
  beforeEach(() => {
    commit([connection(1)], note("1"));
    read(route(5));
  });

  it("that leave a route are found when their transaction has ended", () => {
    commit([gone()], note("3"));
    expect(checks()).toEqual(["revocations"]);
  });

  it("that come with their route's end are not", () => {
    tx += 1;
    const applied = note("3");
    read({ t: "begin", tx }, { t: "write", tx, rows: [gone()] }, { t: "commit", tx, applied });
    read(route(5, 1, "withdrawn"), { t: "end", tx });
    expect(checks()).toEqual([]);
  });

  it("that found no room are found a little later, and not when the route is gone by then", () => {
    const full = (): void => {
      tx += 1;
      read({ t: "begin", tx }, { t: "rollback", tx, applied: note("3") }, { t: "end", tx });
    };
    full();
    commit([]);
    expect(checks()).toEqual([]);
    commit([]);
    expect(checks()).toEqual(["revocations"]);
    full();
    read(route(5, 1, "withdrawn"));
    commit([]);
    commit([]);
    expect(checks()).toEqual([]);
  });

  it("by signing out leave no route", () => {
    read({ t: "logout" });
    expect(checks()).toEqual(["logout"]);
  });
});

describe("rows", () => {
  it.each<[string, readonly WrittenRow[], AppliedNote]>([
    ["of a snapshot that was never said", [connection(1)], note("9")],
    ["that are not what was said", [connection(2)], note("1")],
    ["that miss what was said", [], note("1")],
    ["that keep what was not said", [connection(1)], note("3")],
  ])("%s are found", (_, rows, applied) => {
    commit(rows, applied);
    expect(checks()).toContain("snapshots");
  });

  it("that go back to an older snapshot are found, and to an epoch that was left", () => {
    ledger = new Ledger(() => new Map());
    const at = (epoch: string, revision: string): void => commit([], { account: "ada", epoch, revision });
    at("=e1", "9");
    at("=e1", "10");
    at("=e2", "1");
    at("=e2", "1");
    expect(checks()).toEqual([]);
    at("=e1", "11");
    expect(checks()).toEqual(["snapshots"]);
    at("=e1", "10");
    expect(checks()).toEqual(["snapshots"]);
    commit([{ name: rowName("account", "ada"), row: { hold: { count: 2 } } }]);
    at("=e1", "9");
    expect(checks()).toEqual([]);
  });

  it("that forget failed attempts are found, unless something else is desired or it was reached", () => {
    const row = (generation: number, attempts: number, observed?: number): WrittenRow => ({
      name: PLAN,
      row: {
        desired: { generation },
        attempts,
        ...(observed === undefined ? {} : { observed: { generation: observed } }),
      },
    });
    commit([row(1, 3)]);
    commit([row(1, 4)]);
    commit([row(2, 0)]);
    commit([row(2, 2)]);
    commit([row(2, 0, 2)]);
    expect(checks()).toEqual([]);
    commit([row(2, 2)]);
    commit([row(2, 1)]);
    expect(checks()).toEqual(["attempts"]);
  });

  it("are kept as they were committed; what was about to be is in doubt", () => {
    commit([connection(1)], note("1"));
    read({ t: "begin", tx: 9 });
    expect([ledger.rows.isOpen, ledger.rows.rowsIfCommitted.size]).toEqual([true, 1]);
    read({ t: "write", tx: 9, rows: [{ name: PLAN, row: {} }] });
    expect([ledger.rows.rows.size, ledger.rows.rowsIfCommitted.size]).toEqual([1, 2]);
    read({ t: "rollback", tx: 9, applied: null });
    expect([ledger.rows.isOpen, ledger.rows.rowsIfCommitted.size]).toEqual([false, 1]);
  });
});

describe("epochs and events", () => {
  it("an epoch that comes again is found", () => {
    read({ t: "login", account: "ada", epoch: "x" });
    expect(checks()).toEqual(["epochs"]);
  });

  it.each<[string, readonly JournalLine[]]>([
    ["an event that is skipped", [event(1), event(3)]],
    ["one that comes twice", [event(1), event(1)]],
    ["one that begins in the middle", [event(2)]],
    ["a gap", [event(1), event(2, "gap")]],
    ["one that is skipped by a restart", [event(1), { t: "life", life: 1 }, event(3)]],
  ])("%s is found", (_, lines) => {
    read(...lines);
    expect(checks()).toEqual(["events"]);
  });

  const kept = (seq: number, kind = "planned"): readonly [string, unknown] => [
    rowName("event", String(seq)),
    { seq, at: 1, fact: JSON.stringify({ kind, key: KEY, generation: 1 }) },
  ];

  it("a gap is none where events were given up, by a commit or by what the file has; any other is found", () => {
    const giveUp = (upTo: number): void => commit([{ name: rowName(PRUNED, String(upTo)), row: null }]);
    read(event(1));
    giveUp(4);
    read(event(6, "gap"), event(7));
    expect(checks()).toEqual([]);
    ledger.resume(new Map([kept(7), kept(8), kept(9)]));
    expect(checks()).toEqual([]);
    ledger.resume(new Map([kept(9)]));
    read(event(8, "gap"), event(9));
    expect(checks()).toEqual([]);
    read(event(12, "gap"));
    expect(checks()).toEqual(["events"]);
  });

  it("one that was heard, and is not in the file, or otherwise, is found", () => {
    read(event(1), event(2));
    ledger.resume(new Map([kept(1), kept(2)]));
    expect(checks()).toEqual([]);
    read(event(3), event(4), event(5));
    ledger.resume(new Map([kept(3), kept(4, "observed")]));
    expect(checks()).toEqual(["events", "events"]);
  });

  it("one that is in the file, and was not heard at the end, is found", () => {
    read(event(1));
    ledger.events.judgeEnd(new Map([kept(1)]));
    expect(checks()).toEqual([]);
    ledger.events.judgeEnd(new Map([kept(1), kept(2)]));
    expect(checks()).toEqual(["events"]);
  });
});

describe("what people switch off", () => {
  const wish = (isDone: boolean, isOff = true): JournalLine => ({ t: "wish", key: KEY, isOff, isDone });

  it("is not published when that was done, over kills too, until it is asked for again", () => {
    commit([connection(1)], note("1"));
    read(wish(false), route(5), route(5, 1, "withdrawn"), wish(true));
    expect(checks()).toEqual([]);
    read({ t: "life", life: 1 }, { t: "login", account: "ada", epoch: "y" });
    commit([connection(1)], note("1"));
    read(route(6));
    expect(checks()).toEqual(["switches"]);
    read(wish(false, false), route(7));
    expect(checks()).toEqual([]);
    read(wish(true));
    expect(checks()).toEqual(["switches"]);
  });

  it("of the device is published with nobody signed in, for its settings", () => {
    const docs = (generation: number, identity: string): JournalLine => ({
      t: "route",
      kind: "published",
      key: "docs",
      generation,
      identity,
    });
    read({ t: "life", life: 1 }, { t: "login", account: "", epoch: "of the device" }, docs(4, "0a".repeat(32)));
    read({ t: "login", account: "ada", epoch: "z" }, { t: "logout" });
    expect(checks()).toEqual([]);
    expect(ledger.routes.wasPublished("of the device", "docs", 4)).toBe(true);
    read(docs(5, '["digest","paused"]'));
    expect(checks()).toEqual(["publications"]);
  });
});
