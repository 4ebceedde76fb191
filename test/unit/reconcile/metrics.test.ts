import { describe, expect, it } from "vitest";
import { MetricsRecorder } from "../../../src/reconcile/metrics.js";
import { SCOPE, World } from "./world.js";

describe("Controller.metrics", () => {
  it("counts keys by what they are at, runs, and events", async () => {
    const world = new World({
      limits: { failureBudget: 2 },
      reconcile: async (context) => {
        if (context.identity === "bad") throw new Error("bad");
        if (context.identity === "elsewhere") return { kind: "starting" };
        if (context.identity === "later") return { kind: "requeue", afterMs: 9_000 };
        if (context.identity === "slow") await new Promise<void>((resolve) => world.clock.schedule(5_000, resolve));
        return world.converge(context);
      },
    });
    for (const identity of ["fine", "bad", "elsewhere", "later", "slow"]) await world.set(identity, { identity });
    expect(world.controller.metrics()).toMatchObject({
      activeScopes: 0,
      queue: { queued: 0, running: 0, yielded: 0 },
      keys: { known: 0 },
      events: { planned: 5, run_started: 0 },
    });
    world.controller.activateScope(SCOPE);
    expect(world.controller.metrics().queue).toEqual({ queued: 1, running: 0, yielded: 0 });
    await world.clock.advance(0);
    expect(world.controller.metrics()).toMatchObject({
      activeScopes: 1,
      queue: { queued: 0, running: 1 },
      keys: { known: 5, running: 1, starting: 1, waiting: 2, parked: 0 },
      runs: { count: 4, totalMs: 0 },
      events: { run_started: 5, observed: 1, starting: 1, requeued: 1, failed: 1 },
      failuresThatCount: 1,
    });
    await world.clock.advance(5_000);
    expect(world.controller.metrics()).toMatchObject({
      queue: { queued: 0, running: 0 },
      keys: { known: 5, running: 0, starting: 1, waiting: 1, parked: 1 },
      runs: { count: 6, totalMs: 5_000, longestMs: 5_000 },
      events: { run_started: 6, observed: 2, failed: 2 },
      failuresThatCount: 2,
    });
    await world.set("bad", { identity: "fine now" });
    await world.idle();
    expect(world.controller.metrics().keys).toEqual({ known: 5, running: 0, starting: 1, waiting: 1, parked: 0 });
    await world.controller.close();
    expect(world.controller.metrics()).toMatchObject({ activeScopes: 0, keys: { known: 0 }, events: { planned: 6 } });
  });

  it("knows nothing any more of a key that was removed", async () => {
    const world = new World();
    world.controller.activateScope(SCOPE);
    await world.set("a", {});
    await world.set("b", {});
    await world.idle();
    expect(world.controller.metrics().keys.known).toBe(2);
    await world.set("a", undefined);
    await world.idle();
    expect(world.controller.metrics()).toMatchObject({ keys: { known: 1 }, events: { removed: 1 } });
    await world.controller.close();
  });

  it("shows a run that gave its place up", async () => {
    const world = new World({
      reconcile: async (context) => {
        await context.waiting(new Promise<void>((resolve) => world.clock.schedule(9_000, resolve)));
        return world.converge(context);
      },
    });
    await world.set("a", {});
    world.controller.activateScope(SCOPE);
    await world.clock.advance(2_000);
    expect(world.controller.metrics().queue).toEqual({ queued: 0, running: 1, yielded: 1 });
    await world.clock.advance(7_000);
    expect(world.controller.metrics().queue).toEqual({ queued: 0, running: 0, yielded: 0 });
    await world.controller.close();
  });
});

describe("MetricsRecorder", () => {
  const empty = { depth: { queued: 0, running: 0, yielded: 0 }, scopes: [] };

  it("puts each duration into one bucket, and takes none for less than nothing", () => {
    const recorder = new MetricsRecorder();
    for (const tookMs of [-5, 0, 10, 11, 60_000, 60_001]) recorder.runEnded(tookMs);
    expect(recorder.snapshot(empty).runs).toEqual({
      count: 6,
      totalMs: 120_022,
      longestMs: 60_001,
      buckets: [
        { upToMs: 10, count: 3 },
        { upToMs: 100, count: 1 },
        { upToMs: 1_000, count: 0 },
        { upToMs: 10_000, count: 0 },
        { upToMs: 60_000, count: 1 },
        { upToMs: Infinity, count: 1 },
      ],
    });
  });

  it("gives snapshots that don't change any more", () => {
    const recorder = new MetricsRecorder();
    const before = recorder.snapshot(empty);
    recorder.count({ kind: "removed", scope: "s", key: "k", seq: 1, at: 0 });
    recorder.runEnded(5);
    expect(before.events.removed).toBe(0);
    expect(before.runs.buckets[0]?.count).toBe(0);
    expect(recorder.snapshot(empty).events.removed).toBe(1);
  });
});
