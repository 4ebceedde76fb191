import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import {
  LoginGuard,
  type ProjectionTx,
  Readiness,
  type Snapshot,
  type SnapshotSource,
  SnapshotSync,
  type SnapshotSyncOptions,
  type SyncEvent,
} from "../../../src/auth-projection/index.js";
import { RemoteConnectorError } from "../../../src/errors.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { entry, snapshot } from "./bodies.js";
import { deferred } from "./deferred.js";
import { AccountStore } from "./account-store.js";

const MINUTE = 60_000;

/** A source that answers what it was last told to, at once or when the test says so. */
class Source implements SnapshotSource {
  readonly startedAt: number[] = [];
  answer: Snapshot | Error = snapshot(1, [entry("github")]);
  /** The settling of fetches that wait, when `slow`. */
  readonly waiting: (() => void)[] = [];
  slow = false;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  fetch(signal: AbortSignal): Promise<Snapshot> {
    this.startedAt.push(this.#clock.now());
    return new Promise((resolve, reject) => {
      const settleNow = (): void => (this.answer instanceof Error ? reject(this.answer) : resolve(this.answer));
      signal.addEventListener("abort", () => reject(signal.reason));
      if (this.slow) this.waiting.push(settleNow);
      else settleNow();
    });
  }
}

function refused(status: number): Error {
  return new RemoteConnectorError("account_not_ready", {
    message: "refused",
    delivery: "answered",
    details: { status },
  });
}

function setUp(options: Partial<SnapshotSyncOptions<ProjectionTx>> = {}) {
  const clock = new FakeClock();
  const source = new Source(clock);
  const store = new AccountStore();
  const logins = new LoginGuard({ authorize: () => ({}) });
  const login = logins.signIn("acc");
  const readiness = new Readiness();
  const events: SyncEvent[] = [];
  const planned: (readonly string[])[] = [];
  const base = {
    login,
    logins,
    readiness,
    scopeEpoch: "s1",
    source,
    store,
    clock,
    onChanged: (_tx: ProjectionTx, keys: readonly string[]) => void planned.push(keys),
    onEvent: (event: SyncEvent) => void events.push(event),
    random: () => 0.5,
  };
  const start = (): SnapshotSync<ProjectionTx> => new SnapshotSync<ProjectionTx>({ ...base, ...options });
  /** Since the first fetch, in milliseconds. */
  const starts = (): number[] => source.startedAt.map((at) => at - (source.startedAt[0] ?? 0));
  return { clock, source, store, logins, login, readiness, events, planned, start, starts };
}

describe("P-7: readiness of an account", () => {
  it("P-7: fetches at once, applies, and is ready", async () => {
    const { clock, events, planned, readiness, start, store } = setUp();
    const sync = start();
    expect(sync.state()).toMatchObject({ status: "starting", ready: false, nextFetchAt: clock.now() });
    await clock.advance(0);
    expect(await sync.ready).toBe(true);
    expect(readiness.isReady("acc", "s1")).toBe(true);
    expect(events).toMatchObject([
      { kind: "applied", reason: "new_epoch", becameReady: true, changed: ["github"], revision: 1n, syncSeq: 1 },
    ]);
    expect(planned).toEqual([["github"]]);
    expect(await store.account("acc")).toMatchObject({ syncSeq: 1, seenAt: clock.now() });
    expect(sync.state()).toMatchObject({ status: "synchronized", ready: true, synchronizedAt: clock.now() });
  });

  it("P-7: rows from disk alone don't make it ready; the same snapshot in a new scope epoch does", async () => {
    const { clock, events, readiness, source, start } = setUp();
    const before = start();
    await clock.advance(0);
    await before.close();
    expect(readiness.isReady("acc", "s1")).toBe(false);

    source.slow = true;
    const sync = start();
    await clock.advance(MINUTE);
    expect(sync.state()).toMatchObject({ ready: false, fetching: true });
    source.waiting.shift()?.();
    await settle();
    expect(await sync.ready).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: "applied", reason: "first_fetch", becameReady: true, changed: [] });
  });

  it("P-7: a confirmation is as good as an application, and neither makes it ready twice", async () => {
    const { clock, events, start } = setUp();
    const sync = start();
    await clock.advance(0);
    sync.wake();
    await clock.advance(1_000);
    expect(events[1]).toMatchObject({ kind: "confirmed", becameReady: false, changed: [], syncSeq: 2 });
  });

  it("★7: a failed first fetch is tried again after a second, doubling to a minute, not at the next poll", async () => {
    const { clock, events, source, start, starts } = setUp();
    source.answer = new Error("offline");
    const sync = start();
    await clock.advance(2.5 * MINUTE);
    // Half of 1, 2, 4 … 60 seconds; never within a second of the start before.
    expect(starts()).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 62_000, 92_000, 122_000]);
    expect(events[2]).toMatchObject({ kind: "failed", during: "fetch", error: source.answer, failures: 3 });
    expect(sync.state()).toMatchObject({ status: "failing", ready: false, failures: 10, error: source.answer });
    source.answer = snapshot(1, []);
    await clock.advance(30_000);
    expect(await sync.ready).toBe(true);
    expect(sync.state()).toMatchObject({ status: "synchronized", failures: 0, error: undefined });
  });

  it("★7: the jitter is full: it spreads from nothing to the whole delay", async () => {
    const delays: number[] = [];
    for (const chance of [0, 0.25, 0.999]) {
      const { clock, source, start, starts } = setUp({ random: () => chance });
      source.answer = new Error("offline");
      start();
      await clock.advance(MINUTE);
      delays.push((starts()[5] ?? NaN) - (starts()[4] ?? NaN));
    }
    expect(delays).toEqual([1_000, 4_000, 15_984]);
  });

  it("P-7: a failure after readiness takes nothing away, and is tried again as fast", async () => {
    const { clock, events, planned, source, start, starts, store } = setUp();
    const sync = start();
    await clock.advance(0);
    source.answer = new Error("offline");
    sync.wake();
    await clock.advance(3_000);
    expect(starts()).toEqual([0, 1_000, 2_000, 3_000]);
    expect(sync.state()).toMatchObject({ status: "failing", ready: true });
    expect(await store.rows("acc")).toMatchObject([{ state: "connected" }]);
    expect(planned).toHaveLength(1);
    expect(events.slice(1).every((event) => event.kind === "failed")).toBe(true);
  });
});

describe("P-1: an account whose credentials are refused", () => {
  it.each([401, 403])("P-1: %i before readiness: not ready, with the retry of P-7", async (status) => {
    const { clock, source, start, starts } = setUp();
    source.answer = refused(status);
    const sync = start();
    await clock.advance(4_000);
    expect(starts()).toEqual([0, 1_000, 2_000, 4_000]);
    expect(sync.state()).toMatchObject({ status: "account_not_ready", ready: false });
  });

  it("P-1: after readiness everything stays, and the status says that nothing new is to be published", async () => {
    const { clock, source, start, store } = setUp();
    const sync = start();
    await clock.advance(0);
    source.answer = refused(401);
    sync.wake();
    await clock.advance(1_000);
    expect(sync.state()).toMatchObject({ status: "account_not_ready", ready: true, failures: 1 });
    expect(await store.rows("acc")).toMatchObject([{ state: "connected" }]);
    source.answer = snapshot(2, []);
    await clock.advance(1_000);
    expect(sync.state()).toMatchObject({ status: "synchronized", ready: true });
  });
});

describe("P-9: wakes", () => {
  it("P-9: coalesce, and no two fetches start within a second", async () => {
    const { clock, start, starts } = setUp();
    const sync = start();
    await clock.advance(0);
    for (let i = 0; i < 10; i += 1) {
      sync.wake();
      sync.wake();
      await clock.advance(300);
    }
    expect(starts()).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it("P-9: a wake long after the last fetch is followed at once", async () => {
    const { clock, start, starts } = setUp();
    const sync = start();
    await clock.advance(MINUTE);
    sync.wake();
    await clock.advance(0);
    expect(starts()).toEqual([0, MINUTE]);
  });

  it("P-9: wakes during a fetch cause one more after it", async () => {
    const { clock, source, start, starts } = setUp();
    source.slow = true;
    const sync = start();
    await clock.advance(0);
    for (let i = 0; i < 5; i += 1) sync.wake();
    await clock.advance(5_000);
    expect(starts()).toEqual([0]);
    source.waiting.shift()?.();
    await clock.advance(0);
    expect(starts()).toEqual([0, 5_000]);
    source.waiting.shift()?.();
    await clock.advance(2 * MINUTE);
    expect(starts()).toHaveLength(2);
  });

  it("P-9: a wake is not lost when the fetch that it met fails, nor to a long retry", async () => {
    const { clock, source, start, starts } = setUp();
    source.answer = new Error("offline");
    const sync = start();
    await clock.advance(20_000);
    expect(starts().at(-1)).toBe(16_000);
    sync.wake();
    await clock.advance(0);
    expect(starts().at(-1)).toBe(20_000);
    source.slow = true;
    sync.wake();
    await clock.advance(1_000);
    sync.wake();
    source.waiting.shift()?.();
    await clock.advance(1_000);
    expect(starts().slice(-2)).toEqual([21_000, 22_000]);
  });

  it("P-9: calibrates every five minutes, with jitter", async () => {
    for (const [chance, first] of [
      [0, 4.5 * MINUTE],
      [0.5, 5 * MINUTE],
      [0.999, 5.499 * MINUTE],
    ] as const) {
      const { clock, start, starts } = setUp({ random: () => chance });
      start();
      await clock.advance(6 * MINUTE);
      expect(starts()).toEqual([0, expect.closeTo(first, 0)]);
    }
  });

  it("P-2, P-5: a wake for one reason counts once per snapshot", async () => {
    const { clock, source, start, starts } = setUp();
    const sync = start();
    await clock.advance(0);
    for (let i = 0; i < 3; i += 1) {
      sync.wake({ onceFor: "release_mismatch github" });
      await clock.advance(10_000);
    }
    expect(starts()).toHaveLength(2);
    sync.wake({ onceFor: "release_mismatch slack" });
    await clock.advance(10_000);
    expect(starts()).toHaveLength(3);
    source.answer = snapshot(2, []);
    sync.wake();
    await clock.advance(10_000);
    sync.wake({ onceFor: "release_mismatch github" });
    await clock.advance(10_000);
    expect(starts()).toHaveLength(5);
  });

  it("R-11: remembers 10,000 reasons for one snapshot, and wakes for no further one", async () => {
    const { clock, source, start, starts } = setUp();
    const sync = start();
    await clock.advance(0);
    for (let i = 0; i < 10_000; i += 1) sync.wake({ onceFor: `reason ${String(i)}` });
    await clock.advance(10_000);
    expect(starts()).toHaveLength(2);
    sync.wake({ onceFor: "one more" });
    sync.wake({ onceFor: "reason 0" });
    await clock.advance(10_000);
    expect(starts()).toHaveLength(2);
    source.answer = snapshot(2, []);
    sync.wake();
    await clock.advance(10_000);
    sync.wake({ onceFor: "one more" });
    await clock.advance(10_000);
    expect(starts()).toHaveLength(4);
  });

  it("P-5: a connection version that fell causes one more fetch", async () => {
    const { clock, events, source, start, starts } = setUp();
    source.answer = snapshot(1, [entry("github", { connectionVersion: 5 })]);
    const sync = start();
    await clock.advance(0);
    source.answer = snapshot(2, [entry("github", { connectionVersion: 4 })]);
    sync.wake();
    await clock.advance(MINUTE);
    expect(starts()).toEqual([0, 1_000, 2_000]);
    expect(events.map((event) => event.kind)).toEqual(["applied", "applied", "confirmed"]);
  });

  it("P-5: a connector that is named like a reason of the sync's own wakes all the same", async () => {
    const { clock, source, start, starts } = setUp();
    source.answer = snapshot(1, [entry("github", { connectionVersion: 5 })]);
    const sync = start();
    await clock.advance(0);
    source.answer = snapshot(2, [entry("github", { connectionVersion: 4 })]);
    sync.wake();
    await clock.advance(2_000);
    expect(starts()).toEqual([0, 1_000, 2_000]);
    sync.wake({ onceFor: "connection_version_decreased" });
    await clock.advance(2_000);
    expect(starts()).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it("P-9: a wall that was set back delays nothing", async () => {
    const base = new FakeClock();
    let offset = 0;
    const wall = {
      now: () => base.now() + offset,
      schedule: (delayMs: number, run: () => void) => base.schedule(delayMs, run),
    };
    const { source, start } = setUp({ clock: wall });
    const sync = start();
    await base.advance(MINUTE);
    offset = -60 * MINUTE;
    for (let i = 0; i < 4; i += 1) {
      sync.wake();
      await base.advance(250);
    }
    expect(source.startedAt).toHaveLength(2);
    offset = 60 * MINUTE;
    await base.advance(500);
    sync.wake();
    await base.advance(1_000);
    expect(source.startedAt).toHaveLength(3);
  });
});

describe("P-3: what is held", () => {
  it("P-3: a hold fetches again after 20 to 30 seconds", async () => {
    for (const [chance, delay] of [
      [0, 20_000],
      [0.5, 25_000],
    ] as const) {
      const { clock, events, source, start, starts } = setUp({ random: () => chance });
      source.answer = snapshot(9, [entry("github")]);
      const sync = start();
      await clock.advance(0);
      source.answer = snapshot(8, []);
      sync.wake();
      await clock.advance(1_000 + delay);
      expect(starts()).toEqual([0, 1_000, 1_000 + delay]);
      expect(events[1]).toMatchObject({ kind: "held", reason: "smaller_revision", diagnostics: [{ count: 1 }] });
      expect(sync.state()).toMatchObject({ status: "held", ready: true });
    }
  });

  it("★4: a server that was restored is followed after a minute of insistence", async () => {
    const { clock, planned, source, start, starts, store } = setUp();
    source.answer = snapshot(900, [entry("github")]);
    const sync = start();
    await clock.advance(0);
    source.answer = snapshot(3, [entry("slack")]);
    sync.wake();
    await clock.advance(1_000 + 50_000);
    expect(await store.rows("acc")).toMatchObject([{ connectorKey: "github", state: "connected" }]);
    await clock.advance(25_000);
    expect(starts()).toEqual([0, 1_000, 26_000, 51_000, 76_000]);
    expect(planned.at(-1)).toEqual(["github", "slack"]);
    expect(sync.state()).toMatchObject({ status: "synchronized" });
  });

  it("★4: a held first fetch leaves the account unready until it is accepted", async () => {
    const { clock, events, source, start } = setUp();
    source.answer = snapshot(9, []);
    const before = start();
    await clock.advance(0);
    await before.close();
    source.answer = snapshot(2, []);
    const sync = start();
    await clock.advance(MINUTE);
    expect(sync.state()).toMatchObject({ status: "held", ready: false });
    await clock.advance(MINUTE);
    expect(await sync.ready).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: "applied", reason: "accepted_after_holds", becameReady: true });
  });

  it("★4: a reset by hand applies the next snapshot, which is fetched at once", async () => {
    const { clock, events, source, start } = setUp();
    source.answer = snapshot(9, []);
    const sync = start();
    await clock.advance(MINUTE);
    source.answer = snapshot(2, []);
    await sync.reset();
    await clock.advance(0);
    expect(events.at(-1)).toMatchObject({ kind: "applied", reason: "new_epoch", revision: 2n });
  });

  it("★3: a state does not get stuck at its revision: the same revision with another body is applied", async () => {
    const { clock, source, start, store } = setUp();
    source.answer = snapshot(4, [entry("github", { state: "reauth_required" })]);
    const sync = start();
    await clock.advance(0);
    source.answer = snapshot(4, [entry("github")]);
    sync.wake();
    await clock.advance(1_000);
    expect(await store.rows("acc")).toMatchObject([{ state: "connected" }]);
  });

  it("★5: a bad entry costs its own connector only", async () => {
    const { clock, events, source, start, store } = setUp();
    source.answer = snapshot(1, [entry("github"), entry("slack", { state: "paused" })]);
    const sync = start();
    await clock.advance(0);
    expect(sync.state().status).toBe("synchronized");
    expect(await store.rows("acc")).toMatchObject([{ state: "connected" }, { quarantined: "unknown_state" }]);
    expect(events[0]).toMatchObject({ diagnostics: [{ kind: "entry_quarantined", connectorKey: "slack" }] });
  });
});

describe("P-8: the end of a login", () => {
  it.each([
    ["the account signs out", (logins: LoginGuard) => logins.signOut()],
    ["the same account signs in again", (logins: LoginGuard) => void logins.signIn("acc")],
  ])("P-8: when %s, the fetch is aborted and its result dropped", async (_, end) => {
    const { clock, events, login, logins, readiness, source, start, store } = setUp();
    source.slow = true;
    const signal = logins.signalOf(login);
    const sync = start();
    await clock.advance(0);
    end(logins);
    expect(sync.state()).toMatchObject({ status: "closed", ready: false });
    source.waiting.shift()?.();
    await clock.advance(10 * MINUTE);
    expect(await sync.ready).toBe(false);
    expect(events).toEqual([]);
    expect(await store.rows("acc")).toEqual([]);
    expect(readiness.isReady("acc", "s1")).toBe(false);
    expect(source.startedAt).toHaveLength(1);
    expect([clock.pending, getEventListeners(signal, "abort").length]).toEqual([0, 0]);
  });

  it("P-8: a result whose transaction had to wait is dropped too", async () => {
    const { clock, events, logins, source, start, store } = setUp();
    source.slow = true;
    start();
    await clock.advance(0);
    const turn = deferred<void>();
    const other = store.write(() => turn.promise);
    source.waiting.shift()?.();
    await settle();
    logins.signOut();
    turn.resolve();
    await other;
    await settle();
    expect(await store.rows("acc")).toEqual([]);
    expect(events).toEqual([]);
  });

  it("P-8: a login that has ended starts nothing", async () => {
    const { clock, logins, source, start } = setUp();
    logins.signOut();
    const sync = start();
    await clock.advance(MINUTE);
    expect(await sync.ready).toBe(false);
    expect(source.startedAt).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("P-7: closing leaves nothing, more than once, and a wake after it does nothing", async () => {
    const { clock, login, logins, readiness, source, start } = setUp();
    const sync = start();
    await clock.advance(MINUTE);
    await Promise.all([sync.close(), sync.close()]);
    sync.wake();
    await clock.advance(10 * MINUTE);
    expect(source.startedAt).toHaveLength(1);
    expect(readiness.isReady("acc", "s1")).toBe(false);
    expect([clock.pending, getEventListeners(logins.signalOf(login), "abort").length]).toEqual([0, 0]);
    expect(sync.state()).toMatchObject({ status: "closed", nextFetchAt: undefined });
  });

  it("P-7: closing waits for the transaction that runs", async () => {
    const planning = deferred<void>();
    const { clock, events, start, store } = setUp({ onChanged: () => planning.promise });
    const sync = start();
    await clock.advance(0);
    let closed = false;
    const closing = sync.close().then(() => (closed = true));
    await settle();
    expect(closed).toBe(false);
    planning.resolve();
    await closing;
    expect(await store.rows("acc")).toHaveLength(1);
    expect(events).toEqual([]);
  });
});

describe("R-10: a store that fails", () => {
  it("R-10: a fetch that can't be counted is made all the same, and planned", async () => {
    const { clock, events, planned, start, store } = setUp();
    store.failures.push(new Error("disk full"));
    start();
    await clock.advance(0);
    expect(events).toMatchObject([{ kind: "applied", syncSeq: undefined }]);
    expect(planned).toEqual([["github"]]);
  });

  it("R-10: a transaction that fails is a failure, tried again", async () => {
    const full = new RemoteConnectorError("store_full", { message: "full", details: { path: "x" } });
    let attempts = 0;
    const { clock, events, start, store } = setUp({
      onChanged: () => {
        attempts += 1;
        if (attempts === 1) throw full;
      },
    });
    const sync = start();
    await clock.advance(0);
    expect(events).toMatchObject([{ kind: "failed", during: "apply", error: full }]);
    expect(await store.rows("acc")).toEqual([]);
    expect(sync.state()).toMatchObject({ status: "failing", ready: false });
    await clock.advance(1_000);
    expect(events[1]).toMatchObject({ kind: "applied", changed: ["github"], becameReady: true });
  });

  it("R-10: what could not be applied is told of, unless it goes backwards or was never fetched", async () => {
    const { clock, events, source, start, store } = setUp();
    const sync = start();
    source.answer = snapshot(5, [entry("github")]);
    await clock.advance(0);
    const fail = async (answer: Snapshot | Error): Promise<SyncEvent | undefined> => {
      source.answer = answer;
      // Counting the fetch, and applying.
      store.failures.push(new Error("full"), new Error("full"));
      sync.wake();
      await clock.advance(1_000);
      store.failures.length = 0;
      return events.at(-1);
    };
    const revoking = snapshot(6, []);
    expect(await fail(revoking)).toMatchObject({ kind: "failed", during: "apply", unapplied: revoking });
    expect(await fail(snapshot(4, []))).toMatchObject({ kind: "failed", during: "apply", unapplied: undefined });
    expect(await fail(refused(503))).toMatchObject({ kind: "failed", during: "fetch", unapplied: undefined });
    await sync.close();
  });
});

describe("the sync's own edges", () => {
  it("a listener that throws is an uncaught exception, and the sync goes on", async () => {
    const thrown: unknown[] = [];
    const microtask = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((run) => {
      try {
        run();
      } catch (error) {
        thrown.push(error);
      }
    });
    const broken = new Error("broken listener");
    const { clock, start, starts } = setUp({
      onEvent: () => {
        throw broken;
      },
    });
    const sync = start();
    await clock.advance(0);
    expect(thrown).toEqual([broken]);
    expect(await sync.ready).toBe(true);
    await clock.advance(6 * MINUTE);
    expect(starts()).toHaveLength(2);
    expect(thrown).toEqual([broken, broken]);
    microtask.mockRestore();
  });

  it("refuses an option that it doesn't know, and names the right one", () => {
    const misspelt: object = { onEvnt: () => undefined };
    expect(() => setUp(misspelt).start()).toThrow(
      expect.objectContaining({
        code: "invalid_options",
        details: expect.objectContaining({ option: "onEvnt", suggestion: "onEvent" }),
      }),
    );
  });
});
