import { describe, expect, it } from "vitest";
import { settle } from "../../support/fake-clock.js";
import { SCOPE, World } from "./world.js";

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
});
