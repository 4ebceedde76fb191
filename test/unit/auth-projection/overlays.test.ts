import { describe, expect, it } from "vitest";
import { applySnapshot, type SnapshotOutcome } from "../../../src/auth-projection/apply-snapshot.js";
import {
  effectiveRow,
  LoginGuard,
  type Observation,
  Readiness,
  type Snapshot,
  SnapshotSync,
  type SyncEvent,
} from "../../../src/auth-projection/index.js";
import { clearDueOverlays, writeObservation } from "../../../src/auth-projection/overlays.js";
import type { StoreTx } from "../../../src/store/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { AccountStore } from "./account-store.js";
import { entry, snapshot } from "./bodies.js";

const NOW = 1_000_000;

function observation(members: Partial<Observation> = {}): Observation {
  return {
    connectorKey: "github",
    connectionId: "conn-github",
    connectionVersion: 1n,
    state: "disconnected",
    ...members,
  };
}

async function effectiveStates(store: AccountStore): Promise<Record<string, string>> {
  return store.read(async (tx) => {
    const states: Record<string, string> = {};
    for (const row of await tx.projections.list("acc")) {
      states[row.connectorKey] = effectiveRow(row, await tx.overlays.get("acc", row.connectorKey)).state;
    }
    return states;
  });
}

/** One account whose fetches, observations and clearings a test makes by hand. */
class Account {
  readonly store = new AccountStore();
  readonly planned: (readonly string[])[] = [];
  now = NOW;
  readonly #onChanged = (_tx: StoreTx, keys: readonly string[]) => void this.planned.push(keys);

  startFetch(): Promise<number> {
    return this.store.write((tx) => tx.projections.nextSyncSeq("acc", this.now));
  }

  apply(from: Snapshot, fetchSeq: number | undefined): Promise<SnapshotOutcome> {
    const { now } = this;
    const facts = { firstFetchOfScopeEpoch: false, now, onChanged: this.#onChanged };
    return this.store.write((tx) => applySnapshot(tx, { accountId: "acc", snapshot: from, fetchSeq, ...facts }));
  }

  async fetch(from: Snapshot): Promise<SnapshotOutcome> {
    return this.apply(from, await this.startFetch());
  }

  observe(members: Partial<Observation> = {}) {
    const write = { accountId: "acc", observation: observation(members), now: this.now, onChanged: this.#onChanged };
    return this.store.write((tx) => writeObservation(tx, write));
  }

  clearDue(): Promise<number | undefined> {
    return this.store.write((tx) => clearDueOverlays(tx, "acc", this.now, this.#onChanged));
  }
}

const granted = snapshot(1, [entry("github"), entry("slack")]);

describe("P-6: beside the row", () => {
  it("P-6 ★ item 2: a late demand for version 3 does not touch version 4", async () => {
    const account = new Account();
    await account.fetch(snapshot(1, [entry("github", { connectionVersion: 4 })]));
    account.planned.length = 0;
    expect(await account.observe({ connectionVersion: 3n })).toEqual({ kind: "drop" });
    expect(await effectiveStates(account.store)).toEqual({ github: "connected" });
    expect(account.planned).toEqual([]);
    expect(await account.store.read((tx) => tx.overlays.list("acc"))).toEqual([]);
  });

  it("P-6: lowers and plans in one transaction, and leaves the row as the snapshot has it", async () => {
    const account = new Account();
    await account.fetch(granted);
    const rows = await account.store.rows("acc");
    await account.observe({ state: "expired" });
    expect(await account.store.rows("acc")).toEqual(rows);
    expect(await effectiveStates(account.store)).toEqual({ github: "expired", slack: "connected" });
    expect(account.planned.at(-1)).toEqual(["github"]);
    account.planned.length = 0;
    await account.observe({ state: "expired" });
    expect(account.planned).toEqual([]);
  });

  it("P-6: a planner that fails takes the observation with it", async () => {
    const account = new Account();
    await account.fetch(granted);
    const onChanged = () => Promise.reject(new Error("no plan"));
    const failing = account.store.write((tx) =>
      writeObservation(tx, { accountId: "acc", observation: observation(), now: NOW, onChanged }),
    );
    await expect(failing).rejects.toThrow("no plan");
    expect(await effectiveStates(account.store)).toMatchObject({ github: "connected" });
  });

  it("P-6 ★ item 3: it does not stay for ever: a fetch that had started does not clear it, an equal snapshot of a later one does", async () => {
    const account = new Account();
    await account.fetch(granted);
    const early = await account.startFetch();
    await account.observe();
    expect(await account.apply(granted, early)).toMatchObject({ verdict: { kind: "confirm" }, changed: [] });
    expect(await effectiveStates(account.store)).toMatchObject({ github: "disconnected" });
    account.planned.length = 0;
    expect(await account.fetch(granted)).toMatchObject({ verdict: { kind: "confirm" }, changed: ["github"] });
    expect(account.planned).toEqual([["github"]]);
    expect(await effectiveStates(account.store)).toMatchObject({ github: "connected" });
  });

  it("P-6: a new connection version clears at once, by a fetch that had started too, and during a hold", async () => {
    const account = new Account();
    await account.fetch(granted);
    await account.observe();
    await account.fetch(granted);
    await account.observe();
    const [held] = await account.store.read((tx) => tx.overlays.list("acc"));
    expect(held).toMatchObject({ stepMs: 1_000 });
    const outcome = await account.apply(snapshot(2, [entry("github", { connectionVersion: 2 }), entry("slack")]), 1);
    expect(outcome.changed).toEqual(["github"]);
    expect(await effectiveStates(account.store)).toMatchObject({ github: "connected" });
    expect(await account.store.read((tx) => tx.overlays.list("acc"))).toEqual([]);
  });

  it("P-6, R-11: it goes with its row", async () => {
    const account = new Account();
    await account.fetch(granted);
    await account.observe();
    await account.fetch(snapshot(2, [entry("slack")]));
    await account.fetch(snapshot(3, [entry("slack")]));
    expect(await account.store.read((tx) => tx.overlays.list("acc"))).toEqual([]);
  });

  it("P-4: a snapshot that takes what was observed already changes nothing that counts, but for the identity", async () => {
    const account = new Account();
    await account.fetch(granted);
    await account.observe({ state: "expired" });
    const same = { state: "reauth_required" };
    expect((await account.fetch(snapshot(2, [entry("github", same), entry("slack")]))).changed).toEqual([]);
    const version = { ...same, connectionVersion: 2 };
    expect((await account.fetch(snapshot(3, [entry("github", version), entry("slack")]))).changed).toEqual(["github"]);
  });

  it("P-6: a held snapshot clears nothing", async () => {
    const account = new Account();
    await account.fetch(snapshot(5, [entry("github")]));
    await account.observe();
    expect(await account.fetch(snapshot(4, [entry("github")]))).toMatchObject({ verdict: { kind: "hold" } });
    expect(await effectiveStates(account.store)).toEqual({ github: "disconnected" });
  });

  it("P-6: a clearing during a hold is recorded, and takes effect as a write that plans", async () => {
    const account = new Account();
    await account.fetch(granted);
    await account.observe();
    await account.fetch(granted);
    await account.observe();
    account.planned.length = 0;
    expect(await account.fetch(granted)).toMatchObject({ changed: [], nextClearingAt: NOW + 1_000 });
    account.now += 999;
    expect(await account.clearDue()).toBe(NOW + 1_000);
    expect(account.planned).toEqual([]);
    account.now += 1;
    expect(await account.clearDue()).toBeUndefined();
    expect(account.planned).toEqual([["github"]]);
    expect(await effectiveStates(account.store)).toMatchObject({ github: "connected" });
  });
});

describe("P-6: the account's sync", () => {
  function setUp(store = new AccountStore(), clock = new FakeClock()) {
    const logins = new LoginGuard({ authorize: () => ({}) });
    const login = logins.signIn("acc");
    const events: SyncEvent[] = [];
    const planned: { readonly keys: readonly string[]; readonly at: number }[] = [];
    const fetches: number[] = [];
    const answers = { next: granted };
    const sync = new SnapshotSync<StoreTx>({
      login,
      logins,
      readiness: new Readiness(),
      scopeEpoch: "s1",
      store,
      clock,
      random: () => 0.5,
      onChanged: (_tx, keys) => void planned.push({ keys, at: clock.now() }),
      onEvent: (event) => void events.push(event),
      source: {
        async fetch() {
          fetches.push(clock.now());
          return answers.next;
        },
      },
    });
    return { store, clock, logins, events, planned, fetches, answers, sync };
  }

  it("P-9: one observation wakes one fetch, and a second of the same none", async () => {
    const { clock, fetches, sync, store } = setUp();
    await clock.advance(0);
    expect(await Promise.all([sync.observe(observation()), sync.observe(observation())])).toEqual([true, true]);
    expect(await effectiveStates(store)).toMatchObject({ github: "disconnected" });
    await clock.advance(60_000);
    expect(fetches).toHaveLength(2);
    expect(await effectiveStates(store)).toMatchObject({ github: "connected" });
    await sync.close();
  });

  it("P-6 ★: a gateway that demands what the snapshot grants is asked ever more seldom, and no fetch is for nothing", async () => {
    const { clock, fetches, planned, sync, store } = setUp();
    await clock.advance(0);
    const demandedAt: number[] = [];
    // As long as the route is there, the gateway demands: at once when it has come back.
    for (let second = 0; second < 3_600; second += 1) {
      if ((await effectiveStates(store))["github"] === "connected") {
        demandedAt.push(clock.now());
        await sync.observe(observation());
      }
      await clock.advance(1_000);
    }
    const pauses = demandedAt.slice(1).map((at, index) => (at - (demandedAt[index] ?? 0)) / 1_000);
    expect(pauses.slice(0, 12)).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    // An hour of it: a dozen steps up to five minutes, and then one each.
    expect(demandedAt.length).toBeLessThan(24);
    expect(fetches.length).toBeLessThan(24 + 14);
    expect(planned.length).toBeLessThan(2 * demandedAt.length + 2);
    await sync.close();
  });

  it("P-6: a recorded clearing takes effect when its hold is over, without another fetch", async () => {
    const { clock, fetches, sync, store } = setUp();
    await clock.advance(0);
    for (let i = 0; i < 4; i += 1) {
      await sync.observe(observation());
      await clock.advance(20_000);
    }
    await sync.observe(observation());
    const observedAt = clock.now();
    await clock.advance(1_000);
    const { length } = fetches;
    await clock.advance(observedAt + 7_999 - clock.now());
    expect(await effectiveStates(store)).toMatchObject({ github: "disconnected" });
    await clock.advance(1);
    expect(await effectiveStates(store)).toMatchObject({ github: "connected" });
    expect(fetches).toHaveLength(length);
    await sync.close();
  });

  it("P-6: a recorded clearing that can't be written is tried again", async () => {
    const { clock, sync, store } = setUp();
    await clock.advance(0);
    await sync.observe(observation());
    await clock.advance(2_000);
    await sync.observe(observation());
    // Its fetch begins at once, and records.
    await clock.advance(0);
    store.failures.push(new Error("full"));
    await clock.advance(1_000);
    expect(await effectiveStates(store)).toMatchObject({ github: "disconnected" });
    await clock.advance(5_000);
    expect(await effectiveStates(store)).toMatchObject({ github: "connected" });
    await sync.close();
  });

  it("P-6: what a process left recorded takes effect in the next one", async () => {
    const first = setUp();
    await first.clock.advance(0);
    await first.sync.observe(observation());
    await first.clock.advance(2_000);
    await first.sync.observe(observation());
    await first.clock.advance(0);
    expect(await first.store.read((tx) => tx.overlays.get("acc", "github"))).toMatchObject({ phase: "clearing" });
    await first.sync.close();
    const second = setUp(first.store, first.clock);
    await second.clock.advance(0);
    expect(await effectiveStates(first.store)).toMatchObject({ github: "disconnected" });
    await second.clock.advance(1_000);
    expect(await effectiveStates(first.store)).toMatchObject({ github: "connected" });
    await second.sync.close();
    expect(second.clock.pending).toBe(0);
  });

  it("P-8: after the login's end nothing is observed, and no timer is left", async () => {
    const { clock, logins, sync, store } = setUp();
    await clock.advance(0);
    await sync.observe(observation());
    await clock.advance(2_000);
    await sync.observe(observation());
    await clock.advance(0);
    logins.signOut();
    expect(clock.pending).toBe(0);
    const before = await store.read((tx) => tx.overlays.list("acc"));
    expect(await sync.observe(observation({ state: "expired" }))).toBe(false);
    expect(await store.read((tx) => tx.overlays.list("acc"))).toEqual(before);
  });
});
