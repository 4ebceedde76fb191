import { describe, expect, it } from "vitest";
import { settle } from "../../support/fake-clock.js";
import { SCOPE, World } from "./world.js";

describe("A store that takes no results", () => {
  it("R-4, R-10: is asked ever more seldom, although runs can begin", async () => {
    let takesResults = true;
    const world = new World({
      random: () => 0.999,
      reconcile: async () => {
        throw new Error("down");
      },
      wrap: (store) => ({
        read: (work) => store.read(work),
        write: (work) =>
          store.write(async (tx) => {
            const result = await work(tx);
            const row = await tx.convergence.get(SCOPE, "a");
            if (!takesResults && row?.runToken === undefined) throw new Error("disk full");
            return result;
          }),
      }),
    });
    world.controller.activateScope(SCOPE);
    await world.set("a", {});
    takesResults = false;
    await world.idle();
    const { length } = world.runs;
    // It was tried twice. Then after 2, 4, 8, 16 and 32 seconds, and every minute.
    for (let second = 0; second < 195; second += 1) await world.clock.advance(1_000);
    await world.idle();
    expect(world.runs.length - length).toBe(7);
    takesResults = true;
    await world.clock.advance(60_000);
    expect(await world.status("a")).toMatchObject({ activity: "waiting", lastError: { code: "unexpected" } });
    await world.controller.close();
  });
});

describe("A status that is read slowly", () => {
  it("R-11: brings back nothing of a key that was removed meanwhile", async () => {
    let release = (): void => undefined;
    let isSlow = false;
    const world = new World({
      wrap: (store) => ({
        write: (work) => store.write(work),
        read: async (work) => {
          const result = await store.read(work);
          if (isSlow) await new Promise<void>((resolve) => (release = resolve));
          return result;
        },
      }),
    });
    world.controller.activateScope(SCOPE);
    await world.set("a", {});
    await world.idle();
    isSlow = true;
    const status = world.controller.status(SCOPE);
    await settle();
    await world.set("a", undefined);
    await world.idle();
    release();
    await status;
    expect(world.controller.metrics().keys.known).toBe(0);
    await world.controller.close();
  });
});
