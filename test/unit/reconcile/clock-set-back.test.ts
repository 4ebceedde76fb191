import { describe, expect, it } from "vitest";
import { SCOPE, World } from "./world.js";

const DAY_MS = 24 * 60 * 60_000;

/** Whether runs fail, hang, or do what they should. */
type Runs = "fail" | "hang" | "work";

/** A key whose route is of its first generation, and whose second one failed while the clock was a day ahead. */
async function failedAhead() {
  const mode: { runs: Runs } = { runs: "work" };
  const world = new World({
    random: () => 0.99,
    reconcile: async (context) => {
      if (mode.runs === "fail") throw new Error("down");
      if (mode.runs === "hang") await new Promise(() => undefined);
      return world.converge(context);
    },
  });
  world.controller.activateScope(SCOPE);
  await world.set("a", {});
  await world.idle();
  const route = world.routes.route("a");
  if (route === undefined) throw new Error("no route");
  world.clock.step(DAY_MS);
  mode.runs = "fail";
  await world.set("a", { identity: "next" });
  await world.idle();
  const failed = await world.status("a");
  if (failed === undefined) throw new Error("no row");
  expect(failed).toMatchObject({ activity: "waiting", attempts: 1 });
  world.clock.step(-DAY_MS);
  return { world, route, mode, generation: failed.generation };
}

describe("What a pause from the future is worth, once the clock is right again", () => {
  it("R-2, R-10: nothing, when a revoke is rolled back and the key gets another generation", async () => {
    const { world, mode, generation } = await failedAhead();
    mode.runs = "work";
    const failure = new Error("disk full");
    await expect(world.set("a", { enabled: false }, failure)).rejects.toBe(failure);
    await world.clock.advance(60_000);
    await world.idle();
    expect(world.routes.route("a")?.generation).toBeGreaterThan(generation);
    await world.controller.close();
  });

  it("R-7: nothing, when the route that was to be replaced is gone", async () => {
    const { world, route, mode, generation } = await failedAhead();
    mode.runs = "work";
    world.routes.remove(SCOPE, "a");
    world.controller.exited(route, new Error("gone"));
    await world.idle();
    expect(world.routes.route("a")?.generation).toBe(generation);
    await world.controller.close();
  });

  it("R-2: nothing, when the process dies in the next run", async () => {
    const { world, mode, generation } = await failedAhead();
    mode.runs = "hang";
    world.controller.wake(SCOPE, ["a"]);
    await world.clock.advance(0);
    expect(await world.status("a")).toMatchObject({ activity: "running" });
    world.restart();
    mode.runs = "work";
    world.controller.activateScope(SCOPE);
    await world.idle();
    expect(world.routes.route("a")?.generation).toBe(generation);
    await world.controller.close();
  });
});
