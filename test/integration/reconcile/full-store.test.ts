import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Controller, type Outcome, whenFull } from "../../../src/reconcile/index.js";
import { openSqliteStore, type Store, type StoreTx } from "../../../src/store/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const SCOPE = "s";
const FILLER = JSON.stringify({ kind: "removed", scope: SCOPE, key: "k".repeat(400) });

describe("A store that kept events have filled", () => {
  let directory: string;
  let store: Store;
  const clock = new FakeClock();
  const open = new Set<string>();
  let wanted: ReadonlySet<string> = new Set();
  let controller: Controller<StoreTx, boolean>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "full-store-"));
    store = await openSqliteStore({ directory, maxFileBytes: 128 * 1024 });
    open.clear();
    wanted = new Set(["github"]);
    controller = new Controller<StoreTx, boolean>({
      store,
      clock,
      random: () => 0.5,
      mintEpoch: () => `e${String(Math.random())}`,
      planner: {
        keys: async () => ["github"],
        facts: async (_tx, _scope, key) => wanted.has(key),
        plan: (enabled) => ({ enabled, identity: String(enabled), transition: "revoke" }),
      },
      routes: { fence: (_scope, key) => void open.delete(key), holds: (_scope, key) => open.has(key) },
      reconciler: {
        reconcile: async ({ key, enabled }): Promise<Outcome> => {
          if (enabled) open.add(key);
          return { kind: "done", readiness: "ready" };
        },
        classifyFault: () => ({ counts: true }),
      },
    });
    controller.activateScope(SCOPE);
    await clock.advance(0);
    expect(open).toEqual(new Set(["github"]));
  });
  afterEach(async () => {
    await controller.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** Whether there was room for it. */
  const append = (fact: string): Promise<boolean> =>
    store
      .write((tx) => tx.events.append(clock.now(), fact))
      .then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: "store_full" });
          return false;
        },
      );

  /** Until there is no room for the smallest event. Answers how many there are. */
  async function fill(): Promise<number> {
    for (const fact of [FILLER, "{}"]) while (await append(fact));
    return rows();
  }

  const rows = async (): Promise<number> => (await store.read((tx) => tx.events.list(0, 100_000))).length;

  it("R-8, R-10: a key of it is disabled by itself all the same: what was gives way to what is", async () => {
    const written = await fill();
    wanted = new Set();
    controller.wake(SCOPE);
    await clock.advance(0);
    await clock.advance(10_000);
    expect(await controller.status(SCOPE)).toMatchObject([{ key: "github", enabled: false }]);
    expect(open).toEqual(new Set());
    // Half went, and those that are left are the latest, without a hole.
    const kept = await store.read((tx) => tx.events.list(0, 100_000));
    expect(kept.length).toBeLessThan(written * 0.6);
    expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => (kept[0]?.seq ?? 0) + index));
    const first = await controller.events.follow({ after: 1 }).next();
    expect(first.value).toMatchObject({ kind: "gap", after: 1 });
  });

  it("R-10: those who write facts beside it make room the same way, and the next try is written", async () => {
    const before = await fill();
    const facts = whenFull(store, () => void controller.makeRoom());
    wanted = new Set();
    const revoke = (): Promise<void> => facts.write((tx) => controller.planInTx(tx, SCOPE, ["github"]));
    await expect(revoke()).rejects.toMatchObject({ code: "store_full" });
    // Fenced all the same, and no other failure is taken for a full store.
    expect(open).toEqual(new Set());
    await expect(facts.write(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    await settle();
    expect(await rows()).toBeLessThan(before * 0.6);
    await revoke();
    expect(await controller.status(SCOPE)).toMatchObject([{ key: "github", enabled: false }]);
  });

  it("R-8: nothing is given up that is not there, and two at once are one", async () => {
    await store.write(async (tx) => tx.events.prune(await tx.events.last()));
    await Promise.all([controller.makeRoom(), controller.makeRoom()]);
    await store.write(async (tx) => {
      for (let index = 0; index < 8; index += 1) await tx.events.append(clock.now(), FILLER);
    });
    await Promise.all([controller.makeRoom(), controller.makeRoom()]);
    expect(await rows()).toBe(4);
    for (let index = 0; index < 3; index += 1) await controller.makeRoom();
    expect(await rows()).toBe(0);
  });
});
