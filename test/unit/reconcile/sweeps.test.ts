import { describe, expect, it } from "vitest";
import { settle } from "../../support/fake-clock.js";
import { SCOPE, World, writeFacts } from "./world.js";

/**
 * A scope of converged keys, each of which takes a millisecond to plan. `advance` sets the clock back to where it was to end: as
 * much has to pass for the timers that were set meanwhile.
 */
async function slowWorld(keys: number): Promise<{ readonly world: World; readonly planned: () => number }> {
  let slow = false;
  let planned = 0;
  const world = new World({
    plan: ({ enabled, identity }) => {
      if (slow) {
        planned += 1;
        world.clock.step(1);
      }
      return { enabled, identity, transition: "supersede" };
    },
  });
  for (let i = 0; i < keys; i += 1) await world.set(`k${String(i)}`, {});
  world.controller.activateScope(SCOPE);
  await world.idle();
  slow = true;
  return { world, planned: () => planned };
}

describe("A look at a large scope", () => {
  it("R-3: gives everyone else their turn between transactions, and misses no key", async () => {
    const { world, planned } = await slowWorld(200);
    const { clock } = world;
    const turns: number[] = [];
    const schedule = clock.schedule.bind(clock);
    clock.schedule = (delayMs, run) => {
      if (delayMs === 0) turns.push(planned());
      return schedule(delayMs, run);
    };
    world.controller.wake(SCOPE);
    await settle();
    // Nothing more is done before timers had their turn; another transaction is not kept waiting.
    expect(planned()).toBe(64);
    await world.store.read(async () => undefined);
    for (let i = 0; i < 4; i += 1) await clock.advance(64);
    await world.idle();
    expect(turns).toEqual([64, 128, 192]);
    expect(planned()).toBe(200);
    await world.controller.close();
  });

  it("R-3: ends at once when its scope is shut while it waits", async () => {
    const { world, planned } = await slowWorld(200);
    world.controller.wake(SCOPE);
    await settle();
    world.controller.shutScope(SCOPE);
    await world.idle();
    expect(planned()).toBe(64);
    expect(world.clock.pending).toBe(1);
    await world.controller.close();
    expect(world.clock.pending).toBe(0);
  });

  it("R-3: goes on in another run when it is past its deadline", async () => {
    const { world, planned } = await slowWorld(200);
    world.controller.wake(SCOPE);
    await settle();
    world.clock.step(120_000);
    for (let turn = 0; turn < 6; turn += 1) await world.clock.advance(64);
    await world.idle();
    // Those of the first run, and then all of them.
    expect(planned()).toBeGreaterThanOrEqual(64 + 200);
    expect(world.events.filter(({ kind }) => kind === "abandoned" || kind === "trouble")).toEqual([]);
    await world.controller.close();
  });

  it("R-2, R-3: comes to every key, however much slower the store is than its deadline", async () => {
    const seen = new Set<string>();
    let slow = false;
    const world = new World({
      limits: { runTimeoutMs: 200 },
      plan: ({ enabled, identity }) => {
        if (slow) {
          seen.add(identity);
          world.clock.step(2);
        }
        return { enabled, identity, transition: "supersede" };
      },
    });
    const keys = Array.from({ length: 300 }, (_, i) => `k${String(i)}`);
    for (const key of keys) await world.set(key, { identity: key });
    world.controller.activateScope(SCOPE);
    await world.idle();
    slow = true;
    world.controller.wake(SCOPE);
    for (let turn = 0; turn < 10; turn += 1) await world.clock.advance(128);
    await settle();
    expect([...seen].sort()).toEqual(keys.sort());
    await world.controller.close();
  });

  it("R-4: of a network that is back leaves nothing behind at keys that were as they should be", async () => {
    let fails = false;
    const world = new World({
      reconcile: async (context, { routes }) => {
        if (fails) throw new Error("down");
        routes.publish(context);
        return { kind: "done", readiness: "ready" };
      },
    });
    world.controller.activateScope(SCOPE);
    await world.set("a", {});
    await world.idle();
    world.controller.probe(SCOPE);
    await world.idle();
    const route = world.routes.route("a");
    if (route === undefined) throw new Error("no route");
    fails = true;
    const { length } = world.runs;
    world.routes.remove(SCOPE, "a");
    world.controller.exited(route, new Error("gone"));
    await world.idle();
    // Its exit is a failure, after which there is a pause.
    expect(world.runs).toHaveLength(length);
    expect(await world.status("a")).toMatchObject({ activity: "waiting", attempts: 1 });
    await world.controller.close();
  });

  it("R-3: is what follows when more keys are planned at once than may hold everyone else up", async () => {
    const world = new World({
      plan: ({ enabled, identity }) => {
        world.clock.step(1);
        return { enabled, identity, transition: "supersede" };
      },
    });
    world.controller.activateScope(SCOPE);
    await world.idle();
    const { clock } = world;
    const turns: number[] = [];
    const schedule = clock.schedule.bind(clock);
    clock.schedule = (delayMs, run) => {
      if (delayMs === 0) turns.push(world.runs.length);
      return schedule(delayMs, run);
    };
    const keys = Array.from({ length: 600 }, (_, i) => `k${String(i)}`);
    await world.store.write(async (tx) => {
      for (const key of keys) await writeFacts(tx, SCOPE, key, {});
      await world.controller.planInTx(tx, SCOPE, keys);
    });
    for (let turn = 0; turn < 30; turn += 1) await world.clock.advance(1_000);
    await world.idle();
    expect(world.runs).toHaveLength(600);
    // Runs of a transaction's keys at a time, and then a turn for everyone else.
    expect(turns.length).toBeGreaterThanOrEqual(9);
    expect(turns.every((runs, index) => runs - (turns[index - 1] ?? 0) <= 128)).toBe(true);
    await world.controller.close();
  });
});
