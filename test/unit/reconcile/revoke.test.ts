import { describe, expect, it } from "vitest";
import type { RouteToken } from "../../../src/reconcile/index.js";
import { SCOPE, World } from "./world.js";

async function setUp() {
  const world = new World();
  world.controller.activateScope(SCOPE);
  await world.set("a", { enabled: true });
  await world.idle();
  const route = world.routes.route("a");
  if (route === undefined) throw new Error("no route");
  const { scope, key, generation, epoch } = route;
  const token: RouteToken = { scope, key, generation, epoch };
  return { world, token };
}

describe("Controller.revoke", () => {
  it("R-3, R-10: fences at once what no transaction could plan, and plans it anew after a pause, as another generation", async () => {
    const { world, token } = await setUp();
    world.controller.revoke(token);
    expect(world.routes.route("a")).toBeUndefined();
    expect(world.story("a").at(-1)).toBe("fenced");
    await world.clock.advance(1_999);
    expect(world.routes.route("a")).toBeUndefined();
    await world.clock.advance(1);
    await world.idle();
    expect(world.routes.route("a")?.generation).toBeGreaterThan(token.generation);
    expect(await world.status("a")).toMatchObject({ activity: "converged", readiness: "ready" });
    await world.controller.close();
  });

  it("R-2: is planned by the facts of that time", async () => {
    const { world, token } = await setUp();
    world.controller.revoke(token);
    await world.set("a", { enabled: false });
    await world.clock.advance(60_000);
    await world.idle();
    expect(world.routes.route("a")).toBeUndefined();
    expect(await world.status("a")).toMatchObject({ activity: "converged", enabled: false });
    await world.controller.close();
  });

  it("R-3: twice is once, and what is older than a fence moves nothing", async () => {
    const { world, token } = await setUp();
    world.controller.revoke(token);
    world.controller.revoke(token);
    expect(world.routes.fences).toHaveLength(1);
    await world.clock.advance(2_000);
    await world.idle();
    const next = world.routes.route("a");
    world.controller.revoke(token);
    expect(world.routes.route("a")).toBe(next);
    expect(world.routes.fences).toHaveLength(1);
    await world.controller.close();
  });

  it("R-2: does nothing to a scope that is shut, or has another epoch", async () => {
    const { world, token } = await setUp();
    world.controller.shutScope(SCOPE);
    world.routes.removeScope(SCOPE);
    world.controller.revoke(token);
    world.controller.activateScope(SCOPE);
    await world.idle();
    world.controller.revoke(token);
    await world.idle();
    expect(world.routes.route("a")).toBeDefined();
    expect(world.routes.fences).toEqual([]);
    await world.controller.close();
  });

  it("R-3, R-5: takes a route that its run has just published, and the run's result with it", async () => {
    let end = (): void => undefined;
    const world = new World({
      reconcile: async (context, { routes }) => {
        routes.publish(context);
        if (context.generation === 1) await new Promise<void>((resolve) => (end = resolve));
        return { kind: "done", readiness: "ready" };
      },
    });
    world.controller.activateScope(SCOPE);
    await world.set("a", {});
    await world.clock.advance(0);
    const route = world.routes.route("a");
    if (route === undefined) throw new Error("no route");
    world.controller.revoke(route);
    expect(world.routes.route("a")).toBeUndefined();
    end();
    await world.idle();
    // Its result is none; whoever plans it next does so by the facts of that time.
    expect(world.story("a")).toEqual(expect.arrayContaining(["fenced", "superseded"]));
    await world.clock.advance(2_000);
    await world.idle();
    expect(world.routes.route("a")?.generation).toBeGreaterThan(1);
    await world.controller.close();
  });
});
