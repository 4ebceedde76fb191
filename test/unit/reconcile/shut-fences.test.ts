import { describe, expect, it } from "vitest";
import { ShutFences } from "../../../src/reconcile/shut-fences.js";
import { SCOPE, World } from "./world.js";

describe("fences of shut scopes", () => {
  it("R-2: are handed over once, each key with its last generation", () => {
    const fences = new ShutFences();
    fences.raise("a", "x", 1);
    fences.raise("a", "y", 2);
    fences.raise("a", "x", 3);
    fences.raise("b", "x", 4);
    expect([...fences.take("a")]).toEqual([
      ["x", 3],
      ["y", 2],
    ]);
    expect([...fences.take("a")]).toEqual([]);
    expect([...fences.take("b")]).toEqual([["x", 4]]);
    expect(fences.size).toBe(0);
  });

  it("R-11: are kept for 256 scopes; those of the scope that was fenced first go", () => {
    const fences = new ShutFences();
    for (let i = 0; i < 300; i += 1) fences.raise(`s${String(i)}`, "x", i);
    expect(fences.size).toBe(256);
    expect([...fences.take("s43")]).toEqual([]);
    expect([...fences.take("s44")]).toEqual([["x", 44]]);
    expect([...fences.take("s299")]).toEqual([["x", 299]]);
  });

  it("R-2, R-11: a key whose fence was too many gets a generation that no fence reaches all the same", async () => {
    const world = new World();
    const failure = new Error("disk full");
    // The routes keep their fences for as long as they like: here for ever.
    for (let i = 0; i <= 256; i += 1) {
      const scope = i === 0 ? SCOPE : `account:${String(i)}`;
      await world.set("k", {}, undefined, scope);
      await expect(world.set("k", { enabled: false }, failure, scope)).rejects.toBe(failure);
    }
    world.controller.activateScope(SCOPE);
    await world.idle();
    expect(world.routes.route("k")).toBeDefined();
    expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
    await world.controller.close();
  });
});
