import { describe, expect, it } from "vitest";
import { type Facts, SCOPE, World } from "./world.js";

type Known = Partial<Facts> | undefined;

/** A change of facts as a host makes it: what of the connection is in the identity, and whether what runs may finish. */
const CHANGES: readonly { readonly what: string; readonly before: Known; readonly after: Known }[] = [
  { what: "authorization was granted", before: { enabled: false }, after: { enabled: true } },
  { what: "a token changed", before: { identity: "token 1" }, after: { identity: "token 2" } },
  { what: "a scope changed", before: { identity: "read" }, after: { identity: "read write" } },
  { what: "authorization expired", before: {}, after: { enabled: false, identity: "expired" } },
  { what: "another login is required", before: {}, after: { enabled: false, identity: "reauth" } },
  { what: "authorization was revoked", before: {}, after: { enabled: false, identity: "revoked", revokes: true } },
  {
    what: "the default connection changed",
    before: { identity: "connection a" },
    after: { identity: "connection b", revokes: true },
  },
  { what: "the release changed", before: { identity: "release 1" }, after: { identity: "release 2" } },
  { what: "a registration's settings changed", before: { identity: "port 1" }, after: { identity: "port 2" } },
  { what: "it was switched on", before: { enabled: false, identity: "off" }, after: {} },
  { what: "it was switched off", before: {}, after: { enabled: false, identity: "off" } },
  { what: "it was installed", before: undefined, after: {} },
  { what: "it was removed", before: {}, after: undefined },
];

async function converged(facts: Known): Promise<World> {
  const world = new World();
  world.controller.activateScope(SCOPE);
  await world.set("k", facts);
  await world.idle();
  await expectConverged(world, facts);
  return world;
}

/** The key is what its facts say, and its route is that of the generation that is desired. */
async function expectConverged(world: World, facts: Known): Promise<void> {
  const status = await world.status("k");
  if (facts === undefined) {
    expect(status).toBeUndefined();
    expect(world.routes.route("k")).toBeUndefined();
    return;
  }
  const { enabled = true, identity = "i" } = facts;
  expect(status).toMatchObject({ activity: "converged", enabled, identity, readiness: enabled ? "ready" : "off" });
  expect(world.routes.route("k")?.generation).toBe(enabled ? status?.generation : undefined);
}

describe("What leads to convergence", () => {
  it.each(CHANGES)("R-7: $what, in a scope that is active", async ({ before, after }) => {
    const world = await converged(before);
    const generation = (await world.status("k"))?.generation ?? 0;
    await world.set("k", after);
    await world.idle();
    await expectConverged(world, after);
    if (after !== undefined) expect((await world.status("k"))?.generation).toBeGreaterThan(generation);
    await world.controller.close();
  });

  it.each(CHANGES)("R-7: $what, and the process dies with the commit", async ({ before, after }) => {
    const world = await converged(before);
    await world.set("k", after);
    world.restart();
    world.controller.activateScope(SCOPE);
    await world.idle();
    await expectConverged(world, after);
    await world.controller.close();
  });

  it.each(CHANGES)("R-7: $what while nobody is logged in, and then somebody is", async ({ before, after }) => {
    const world = await converged(before);
    world.controller.shutScope(SCOPE);
    world.routes.removeScope(SCOPE);
    await world.set("k", after);
    await world.idle();
    expect(world.routes.route("k")).toBeUndefined();
    world.controller.activateScope(SCOPE);
    await world.idle();
    await expectConverged(world, after);
    await world.controller.close();
  });

  it("R-7: a boot", async () => {
    const world = await converged({});
    world.restart();
    world.controller.activateScope(SCOPE);
    await world.idle();
    await expectConverged(world, {});
    expect(world.runs).toHaveLength(2);
    await world.controller.close();
  });

  it("R-7: the exit of a current route", async () => {
    const world = await converged({});
    const route = world.routes.route("k");
    if (route === undefined) throw new Error("there is no route");
    world.routes.remove(SCOPE, "k");
    world.controller.exited(route);
    await world.idle();
    await expectConverged(world, {});
    expect(world.runs).toHaveLength(2);
    await world.controller.close();
  });
});
