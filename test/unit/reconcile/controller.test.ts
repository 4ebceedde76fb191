import { describe, expect, it } from "vitest";
import { Controller, type Outcome, type RunContext } from "../../../src/reconcile/index.js";
import { settle } from "../../support/fake-clock.js";
import { SCOPE, World } from "./world.js";

/** A promise that the test settles. */
function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

const DONE: Outcome = { kind: "done", readiness: "ready" };

describe("Controller", () => {
  describe("planning and converging", () => {
    it("R-2: brings about what is planned, and is idle then", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      const status = await world.status("k");
      expect(status).toMatchObject({ activity: "converged", readiness: "ready", enabled: true });
      expect(world.routes.route("k")).toMatchObject({ generation: status?.generation, epoch });
      expect(world.story("k")).toEqual(["planned", "run_started", "observed"]);
      expect(world.runs).toHaveLength(1);
    });

    it("R-2: does nothing when the same is planned again", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      await world.set("k", { enabled: true });
      world.controller.wake(SCOPE);
      world.controller.wake(SCOPE, ["k"]);
      world.controller.probe(SCOPE);
      await world.idle();
      expect(world.runs).toHaveLength(1);
      expect(world.story("k")).toEqual(["planned", "run_started", "observed"]);
    });

    it("R-1: converges on a new generation when the identity changes, without taking the route away before", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { identity: "version 1" });
      await world.idle();
      const before = world.routes.route("k");
      await world.set("k", { identity: "version 2" });
      expect(world.routes.route("k")).toBe(before);
      await world.idle();
      expect(world.routes.route("k")?.generation).toBeGreaterThan(before?.generation ?? Infinity);
      expect(world.routes.fences).toEqual([]);
    });

    it("R-7: disables what is disabled, and enables it again", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      await world.set("k", { enabled: false });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "off", enabled: false });
      expect(world.routes.route("k")).toBeUndefined();
      await world.set("k", { enabled: true });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
    });

    it("R-11: disables a key of which nothing is known any more, and drops its row", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      await world.set("k", undefined);
      expect(world.routes.route("k")).toBeUndefined();
      await world.idle();
      expect(await world.status("k")).toBeUndefined();
      expect(world.story("k").slice(3)).toEqual(["fenced", "planned", "run_started", "removed"]);
    });

    it("R-11: drops the row of an unknown key that is off already, and makes none for one that never was", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: false });
      await world.idle();
      await world.set("k", undefined);
      await world.set("never", undefined);
      world.controller.wake(SCOPE, ["nobody"]);
      await world.idle();
      expect(await world.controller.status(SCOPE)).toEqual([]);
      expect(world.story("k").at(-1)).toBe("removed");
    });

    it("R-2: writes nothing and queues nothing when the caller's transaction is rolled back", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      const reason = new Error("rolled back");
      await expect(world.set("k", { enabled: true }, reason)).rejects.toBe(reason);
      await world.idle();
      expect(world.runs).toEqual([]);
      expect(world.story("k")).toEqual([]);
    });

    it("lets the caller's transaction fail with what the planner throws", async () => {
      const broken = new Error("plan");
      const world = new World({
        plan: () => {
          throw broken;
        },
      });
      world.controller.activateScope(SCOPE);
      await expect(world.set("k", {})).rejects.toBe(broken);
    });

    it("plans a scope that is shut, and runs nothing in it", async () => {
      const world = new World();
      await world.set("k", { enabled: true });
      await world.idle();
      expect(world.runs).toEqual([]);
      expect(await world.status("k")).toMatchObject({ activity: "inactive", readiness: undefined });
    });
  });

  describe("revoking", () => {
    it("R-3: fences synchronously with the commit, before the write resolves", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      const trace: string[] = [];
      world.controller.events.subscribe((event) => trace.push(event.kind));
      await world.set("k", { enabled: false }).then(() => trace.push("write resolved"));
      expect(trace.slice(0, 3)).toEqual(["fenced", "planned", "write resolved"]);
      expect(world.routes.fences).toEqual([`k@${String(generation)}`]);
      expect(world.routes.route("k")).toBeUndefined();
    });

    it("R-3: fences when the transaction that revoked is rolled back, and comes back with a new generation", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      await expect(world.set("k", { enabled: false }, new Error("disk"))).rejects.toThrow("disk");
      expect(world.routes.route("k")).toBeUndefined();
      await world.idle();
      // The old facts don't bring it back by themselves at once.
      expect(world.routes.route("k")).toBeUndefined();
      expect(world.events.at(-1)).toMatchObject({ kind: "fenced", generation, committed: false });
      world.controller.wake(SCOPE, ["k"]);
      await world.idle();
      expect(world.routes.route("k")?.generation).toBeGreaterThan(generation);
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
    });

    it("R-2: brings back after a rollback what nobody plans again, after a pause, and leaves no timer", async () => {
      const world = new World();
      const idleTimers = world.clock.pending;
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? Infinity;
      await expect(world.set("k", { enabled: false }, new Error("disk"))).rejects.toThrow("disk");
      await world.clock.advance(1_999);
      expect(world.routes.route("k")).toBeUndefined();
      await world.clock.advance(1);
      await world.idle();
      expect(world.routes.route("k")?.generation).toBeGreaterThan(generation);
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
      expect(world.clock.pending).toBe(idleTimers);
    });

    it("R-2: does not bring back what is revoked again and again, for as long as none of it can be written", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      // Whoever revokes backs off too, up to a minute.
      for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 59_999, 59_999, 59_999]) {
        await expect(world.set("k", { enabled: false }, new Error("disk"))).rejects.toThrow("disk");
        await world.clock.advance(pauseMs);
        expect(world.routes.route("k")).toBeUndefined();
      }
      expect(world.runs).toHaveLength(1);
      await world.set("k", { enabled: false });
      await world.clock.advance(60_000);
      expect(world.runs).toHaveLength(2);
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "off" });
    });

    it("R-2: begins with a short pause again when a rollback comes long after the last one", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      for (let i = 0; i < 3; i += 1) {
        await world.idle();
        expect(world.routes.route("k")).toBeDefined();
        await expect(world.set("k", { enabled: false }, new Error("disk"))).rejects.toThrow("disk");
        await world.clock.advance(2_000);
        await world.idle();
        expect(world.routes.route("k")).toBeDefined();
        await world.clock.advance(298_000);
      }
    });

    it("R-2, R-6: a rollback shortens no pause that the peer asked for, and leaves no timer in a scope that is shut", async () => {
      const world = new World({
        reconcile: () => Promise.reject(new Error("busy")),
        classifyFault: () => ({ counts: false, retryAfterMs: 30_000 }),
      });
      const idleTimers = world.clock.pending;
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      await expect(world.set("k", { enabled: false }, new Error("disk"))).rejects.toThrow("disk");
      await world.clock.advance(29_999);
      expect(world.runs).toHaveLength(1);
      await world.clock.advance(1);
      expect(world.runs).toHaveLength(2);
      await expect(world.set("k", { enabled: false }, new Error("disk"))).rejects.toThrow("disk");
      world.controller.shutScope(SCOPE);
      expect(world.clock.pending).toBe(idleTimers);
    });

    it("R-2: gives a new generation to what was fenced while its scope was shut", async () => {
      const world = new World();
      await world.set("k", {});
      const generation = (await world.status("k"))?.generation ?? 0;
      await expect(world.set("k", undefined, new Error("disk"))).rejects.toThrow("disk");
      expect(world.routes.fences).toEqual([`k@${String(generation)}`]);
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.runs).toHaveLength(1);
      expect(world.routes.route("k")?.generation).toBeGreaterThan(generation);
    });

    it("R-3: aborts the run of what a rolled back transaction revoked, and refuses its result", async () => {
      const gate = pending<Outcome>();
      let run: RunContext | undefined;
      const world = new World({
        reconcile: (context) => {
          run = context;
          return gate.promise;
        },
      });
      world.controller.activateScope(SCOPE);
      await world.idle();
      await world.set("k", {});
      await settle();
      await expect(world.set("k", undefined, new Error("disk"))).rejects.toThrow("disk");
      expect(run?.signal.aborted).toBe(true);
      gate.resolve({ kind: "terminal", reason: "late" });
      await world.idle();
      // Nor is the end of what it had made a failure.
      if (run !== undefined) world.controller.exited(run, new Error("exit"));
      await world.idle();
      expect(await world.status("k")).toMatchObject({ readiness: undefined, lastError: undefined, failures: 0 });
      expect(world.story("k").at(-1)).toBe("superseded");
    });

    it("R-3: waits for no report on what a rolled back transaction revoked", async () => {
      const world = new World({ reconcile: async () => ({ kind: "starting" }) });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "starting" });
      await expect(world.set("k", undefined, new Error("disk"))).rejects.toThrow("disk");
      expect(await world.status("k")).toMatchObject({ activity: "queued" });
    });

    it("R-3: fences all keys that one transaction revokes, though its first write fails", async () => {
      let full = false;
      const world = new World();
      world.controller.activateScope(SCOPE);
      for (const key of ["a", "b", "c"]) await world.set(key, { enabled: true });
      await world.idle();
      full = true;
      const write = world.store.write(async (tx) => {
        for (const key of ["a", "b", "c"]) await tx.projections.remove(SCOPE, key);
        const broken = {
          ...tx,
          convergence: {
            ...tx.convergence,
            put: () => (full ? Promise.reject(new Error("full")) : Promise.resolve()),
          },
        };
        await world.controller.planInTx(broken, SCOPE, ["a", "b", "c"]);
      });
      await expect(write).rejects.toThrow("full");
      expect(world.routes.routes.size).toBe(0);
      expect(world.routes.fences).toHaveLength(3);
    });

    it("R-3: fences what it has planned when the next key can't be", async () => {
      let broken = false;
      const world = new World({
        plan: ({ enabled, identity }) => {
          if (broken && identity === "bad") throw new Error("plan");
          return { enabled, identity, transition: "none" };
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("a", {});
      await world.set("b", { identity: "bad" });
      await world.idle();
      broken = true;
      const write = world.store.write(async (tx) => {
        await tx.projections.remove(SCOPE, "a");
        await world.controller.planInTx(tx, SCOPE, ["a", "b"]);
      });
      await expect(write).rejects.toThrow("plan");
      expect(world.routes.route("a")).toBeUndefined();
      expect(world.routes.route("b")).toBeDefined();
    });

    it("R-3: fences the others when the route table throws for one", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("a", {});
      await world.set("b", {});
      await world.idle();
      const { fence } = world.routes;
      Object.assign(world.routes, {
        fence: (scope: string, key: string, generation: number) => {
          if (key === "a") throw new Error("table");
          fence(scope, key, generation);
        },
      });
      await world.store.write(async (tx) => {
        await tx.projections.remove(SCOPE, "a");
        await tx.projections.remove(SCOPE, "b");
        await world.controller.planInTx(tx, SCOPE, ["a", "b"]);
      });
      expect(world.routes.route("b")).toBeUndefined();
      expect(world.story("a")).toContain("trouble");
      await world.idle();
      expect(world.routes.route("a")).toBeUndefined();
    });

    it("R-3: revokes another connection at once, though the key stays enabled", async () => {
      const gate = pending<void>();
      const world = new World({
        reconcile: async (context, self) => {
          if (context.identity === "connection 2") await gate.promise;
          return self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", { identity: "connection 1" });
      await world.idle();
      await world.set("k", { identity: "connection 2", revokes: true });
      expect(world.routes.route("k")).toBeUndefined();
      gate.resolve();
      await world.idle();
      expect(world.routes.route("k")).toBeDefined();
    });

    it("R-3: disables without a slot, while all slots are taken", async () => {
      const never = pending<Outcome>();
      const world = new World({
        limits: { maxWorking: 1 },
        reconcile: (context, self) => (context.key === "slow" ? never.promise : self.converge(context)),
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", { enabled: true });
      await world.idle();
      await world.set("slow", { enabled: true });
      await world.set("queued", { enabled: true });
      await settle();
      await world.set("k", { enabled: false });
      await settle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "off" });
      expect(await world.status("queued")).toMatchObject({ activity: "queued" });
    });
  });

  describe("newer and older runs", () => {
    it("R-3: aborts a run when something newer is desired, and refuses its result", async () => {
      const first = pending<Outcome>();
      const signals: AbortSignal[] = [];
      const world = new World({
        reconcile: (context, self) => {
          signals.push(context.signal);
          return context.identity === "old" ? first.promise : self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", { identity: "old" });
      await settle();
      await world.set("k", { identity: "new" });
      expect(signals[0]?.reason).toMatchObject({ code: "cancelled", details: { reason: "superseded" } });
      await settle();
      expect(world.runs).toHaveLength(1);
      first.resolve(DONE);
      await world.idle();
      expect(world.runs).toHaveLength(2);
      expect(await world.status("k")).toMatchObject({ activity: "converged", identity: "new" });
      expect(world.story("k")).toEqual(["planned", "run_started", "planned", "superseded", "run_started", "observed"]);
    });

    it("R-3: does not abort a run for a plan that changes nothing", async () => {
      const first = pending<Outcome>();
      let signal: AbortSignal | undefined;
      const world = new World({
        reconcile: (context, self) => {
          signal ??= context.signal;
          return first.promise.then(() => self.converge(context));
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await settle();
      await world.set("k", {});
      world.controller.wake(SCOPE);
      await settle();
      expect(signal?.aborted).toBe(false);
      first.resolve(DONE);
      await world.idle();
      expect(world.runs).toHaveLength(1);
    });

    it("R-3: abandons a run that is past its deadline; its late result is refused", async () => {
      const late = pending<Outcome>();
      let calls = 0;
      const world = new World({
        reconcile: (context, self) => {
          calls += 1;
          return calls === 1 ? late.promise : self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.clock.advance(123_000);
      expect(await world.status("k")).toMatchObject({
        activity: "waiting",
        failures: 1,
        lastError: { code: "timeout" },
      });
      await world.clock.advance(1_000);
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged" });
      const generation = world.routes.route("k")?.generation;
      late.resolve({ kind: "terminal", reason: "late" });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", generation });
      expect(world.story("k")).toEqual([
        "planned",
        "run_started",
        "abandoned",
        "failed",
        "run_started",
        "observed",
        "superseded",
      ]);
    });

    it("R-3: refuses the late result of an abandoned run also when its failure could not be written yet", async () => {
      const late = pending<Outcome>();
      let storeFails = false;
      const world = new World({
        reconcile: () => (world.runs.length === 1 ? late.promise : pending<Outcome>().promise),
        wrap: (store) => ({
          read: (work) => store.read(work),
          write: (work) => (storeFails ? Promise.reject(new Error("disk")) : store.write(work)),
        }),
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await settle();
      await world.clock.advance(122_999);
      storeFails = true;
      await world.clock.advance(1);
      storeFails = false;
      late.resolve({ kind: "terminal", reason: "late" });
      await settle();
      expect(await world.status("k")).toMatchObject({ readiness: undefined });
      await world.clock.advance(1_000);
      expect(await world.status("k")).toMatchObject({ failures: 1, lastError: { code: "timeout" } });
    });

    it("asks nothing of the reconciler when the scope is shut while a run begins", async () => {
      let shut = false;
      const world = new World({
        wrap: (store) => ({
          read: (work) => store.read(work),
          write: async (work) => {
            const result = await store.write(work);
            if (shut) world.controller.shutScope(SCOPE);
            return result;
          },
        }),
      });
      world.controller.activateScope(SCOPE);
      await world.idle();
      shut = true;
      await world.set("k", {});
      await world.idle();
      expect(world.runs).toEqual([]);
      expect(world.story("k")).toEqual(["planned", "run_started", "superseded"]);
    });

    it("R-5: gives every run a greater token than any before", async () => {
      const tokens: number[] = [];
      const world = new World({
        reconcile: (context, self) => {
          tokens.push(context.runToken);
          return self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      for (const identity of ["a", "b", "c"]) {
        await world.set("k", { identity });
        await world.idle();
      }
      world.restart();
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(tokens).toHaveLength(4);
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    });

    it("R-3: lets other runs work while one waits for a connection", async () => {
      const connect = pending<void>();
      const world = new World({
        limits: { maxWorking: 1 },
        reconcile: async (context, self) => {
          if (context.key === "slow") await context.waiting(connect.promise);
          return self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("slow", {});
      await world.set("quick", {});
      await world.clock.advance(1_999);
      expect(world.routes.route("quick")).toBeUndefined();
      await world.clock.advance(1);
      expect(world.routes.route("quick")).toBeDefined();
      connect.resolve();
      await world.idle();
      expect(world.routes.route("slow")).toBeDefined();
    });
  });

  describe("scopes", () => {
    it("R-2: mints an epoch for each activation, and everything observed before is due", async () => {
      const world = new World();
      const first = world.controller.activateScope(SCOPE);
      await world.set("on", {});
      await world.set("off", { enabled: false });
      await world.idle();
      expect(world.controller.activateScope(SCOPE)).toBe(first);
      await world.idle();
      expect(world.runs).toHaveLength(2);
      world.controller.shutScope(SCOPE);
      world.routes.removeScope(SCOPE);
      expect(world.controller.epochOf(SCOPE)).toBeUndefined();
      const second = world.controller.activateScope(SCOPE);
      expect(second).not.toBe(first);
      await world.idle();
      expect(world.runs).toHaveLength(4);
      expect(world.routes.route("on")?.epoch).toBe(second);
      expect(world.events.map((event) => event.kind)).toEqual(
        expect.arrayContaining(["scope_activated", "scope_shut", "scope_activated"]),
      );
    });

    it("R-2 ★ item 8: runs after a restart what was converged, what was under way, and what was only planned", async () => {
      const never = pending<Outcome>();
      let stuck = true;
      const world = new World({
        limits: { maxWorking: 1 },
        reconcile: (context, self) => (stuck && context.key === "running" ? never.promise : self.converge(context)),
      });
      world.controller.activateScope(SCOPE);
      await world.set("converged", {});
      await world.idle();
      await world.set("running", {});
      await world.set("planned", {});
      await settle();
      stuck = false;
      world.restart();
      world.controller.activateScope(SCOPE);
      await world.idle();
      for (const key of ["converged", "running", "planned"]) {
        expect(await world.status(key)).toMatchObject({ activity: "converged", readiness: "ready" });
        expect(world.routes.route(key)).toBeDefined();
      }
    });

    it("R-2: finds facts that were written without a plan", async () => {
      const world = new World();
      await world.set("k", {});
      await world.store.write((tx) => tx.convergence.remove(SCOPE, "k"));
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.routes.route("k")).toBeDefined();
    });

    it("P-8: aborts everything at once when a scope is shut, and writes nothing of it any more", async () => {
      const gates = [pending<Outcome>(), pending<Outcome>()];
      const contexts: RunContext[] = [];
      const world = new World({
        limits: { maxWorking: 2 },
        reconcile: (context, self) => {
          contexts.push(context);
          return gates[contexts.length - 1]?.promise ?? self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      for (const key of ["a", "b", "queued"]) await world.set(key, {});
      await settle();
      world.controller.shutScope(SCOPE);
      expect(contexts.map((context) => context.signal.aborted)).toEqual([true, true]);
      gates[0]?.resolve(DONE);
      gates[1]?.reject(new Error("aborted"));
      await world.idle();
      expect(world.runs).toHaveLength(2);
      expect(world.story("a").at(-1)).toBe("superseded");
      for (const key of ["a", "b", "queued"]) {
        expect(await world.status(key)).toMatchObject({ activity: "inactive", attempts: 0, lastError: undefined });
      }
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.runs).toHaveLength(5);
      expect(world.routes.routes.size).toBe(3);
    });

    it("R-3: runs a key of a new login only when the run of the old one has ended", async () => {
      const old = pending<Outcome>();
      let calls = 0;
      const world = new World({
        reconcile: (context, self) => {
          calls += 1;
          return calls === 1 ? old.promise : self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await settle();
      world.controller.shutScope(SCOPE);
      const epoch = world.controller.activateScope(SCOPE);
      await settle();
      expect(calls).toBe(1);
      old.resolve(DONE);
      await world.idle();
      expect(calls).toBe(2);
      expect(world.routes.route("k")?.epoch).toBe(epoch);
      expect(await world.status("k")).toMatchObject({ activity: "converged" });
    });

    it("P-8: keeps scopes apart", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      world.controller.activateScope("device");
      await world.set("k", {});
      await world.set("k", {}, undefined, "device");
      await world.idle();
      world.controller.shutScope(SCOPE);
      await world.idle();
      expect(await world.status("k", "device")).toMatchObject({ activity: "converged" });
      expect(await world.status("k")).toMatchObject({ activity: "inactive" });
      await world.set("k", { identity: "new" }, undefined, "device");
      await world.idle();
      expect(await world.status("k", "device")).toMatchObject({ activity: "converged", identity: "new" });
    });

    it("ignores hints, reports and losses of a scope that is shut", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      world.controller.shutScope(SCOPE);
      world.controller.shutScope(SCOPE);
      const token = { scope: SCOPE, key: "k", generation, epoch };
      world.controller.wake(SCOPE, ["k"]);
      world.controller.wake(SCOPE);
      world.controller.probe(SCOPE, ["k"]);
      world.controller.report(token, DONE);
      world.controller.exited(token, new Error("exit"));
      await world.idle();
      expect(world.runs).toHaveLength(1);
      // Nor in the next epoch: the generation is the same, the epoch is not.
      world.controller.activateScope(SCOPE);
      world.controller.exited(token, new Error("exit"));
      world.controller.report(token, { kind: "terminal", reason: "late" });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", generation, attempts: 0 });
    });
  });

  describe("failures", () => {
    it("R-4: backs off, and forgets failures when something else is desired", async () => {
      const world = new World({ reconcile: () => Promise.reject(new Error("no")) });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "waiting", attempts: 1, failures: 1 });
      const start = world.clock.now();
      expect((await world.status("k"))?.nextAttemptAt).toBe(start + 500);
      world.controller.wake(SCOPE, ["k"]);
      await world.idle();
      expect(world.runs).toHaveLength(1);
      await world.clock.advance(500);
      expect(world.runs).toHaveLength(2);
      expect((await world.status("k"))?.nextAttemptAt).toBe(start + 1_500);
      await world.set("k", { identity: "other" });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ attempts: 1, failures: 1 });
      expect(world.runs).toHaveLength(3);
    });

    it("R-4 ★ item 11: parks after six faults that count, probes every five minutes, and once for each call that needs it", async () => {
      let broken = true;
      const world = new World({
        reconcile: (context, self) => (broken ? Promise.reject(new Error("no")) : self.converge(context)),
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      for (let i = 0; i < 5; i += 1) await world.clock.advance(60_000);
      expect(world.runs).toHaveLength(6);
      const parked = await world.status("k");
      expect(parked).toMatchObject({ activity: "parked", failures: 6 });
      await world.clock.advance((parked?.nextAttemptAt ?? 0) - world.clock.now() - 1);
      expect(world.runs).toHaveLength(6);
      await world.clock.advance(1);
      expect(world.runs).toHaveLength(7);
      world.controller.probe(SCOPE, ["k"]);
      world.controller.probe(SCOPE, ["k"]);
      await world.idle();
      expect(world.runs).toHaveLength(8);
      world.controller.wake(SCOPE, ["k"]);
      await world.idle();
      expect(world.runs).toHaveLength(8);
      broken = false;
      // The network came back: one probe for everything.
      world.controller.probe(SCOPE);
      await world.idle();
      expect(world.runs).toHaveLength(9);
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
    });

    it("R-4: parks what dies again and again soon after it was ready", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      for (let exits = 1; exits <= 6; exits += 1) {
        await world.clock.advance(45_000);
        expect(await world.status("k")).toMatchObject({ activity: "converged", failures: exits - 1 });
        const generation = world.routes.route("k")?.generation ?? 0;
        world.routes.remove(SCOPE, "k");
        world.controller.exited({ scope: SCOPE, key: "k", generation, epoch }, new Error("exit"));
        await world.idle();
      }
      expect(await world.status("k")).toMatchObject({ activity: "parked", failures: 6 });
    });

    it("R-4: forgets them after a healthy minute", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      for (let exits = 1; exits <= 8; exits += 1) {
        await world.clock.advance(62_000);
        const generation = world.routes.route("k")?.generation ?? 0;
        world.routes.remove(SCOPE, "k");
        world.controller.exited({ scope: SCOPE, key: "k", generation, epoch }, new Error("exit"));
        await world.idle();
        expect(await world.status("k")).toMatchObject({ failures: 1 });
      }
    });

    it("R-4: spends a probe once, and on a converged key not at all", async () => {
      let broken = false;
      const world = new World({
        reconcile: (context, self) => (broken ? Promise.reject(new Error("no")) : self.converge(context)),
      });
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      world.controller.probe(SCOPE, ["k"]);
      await world.idle();
      broken = true;
      const generation = world.routes.route("k")?.generation ?? 0;
      world.routes.remove(SCOPE, "k");
      world.controller.exited({ scope: SCOPE, key: "k", generation, epoch }, new Error("exit"));
      await world.idle();
      expect(world.runs).toHaveLength(1);
      world.controller.probe(SCOPE, ["k"]);
      await world.idle();
      expect(world.runs).toHaveLength(2);
      expect(await world.status("k")).toMatchObject({ activity: "waiting", attempts: 2 });
    });

    it("R-4: runs a key that a call needs while everything that works and waits hangs, and no others before their turn", async () => {
      const world = new World({
        limits: { maxWorking: 1, maxNeeded: 1, maxWaiting: 1 },
        reconcile: (context, self) =>
          context.key.startsWith("hung") ? context.waiting(pending<Outcome>().promise) : self.converge(context),
      });
      world.controller.activateScope(SCOPE);
      for (const key of ["hung 1", "hung 2", "hung 3", "other", "needed"]) await world.set(key, {});
      await world.clock.advance(10_000);
      expect(world.runs).toHaveLength(2);
      // The network is back: that makes nothing more pressing than the rest.
      world.controller.probe(SCOPE);
      await settle();
      expect(world.runs).toHaveLength(2);
      world.controller.probe(SCOPE, ["hung 3", "needed"]);
      await settle();
      expect(world.runs.at(-1)).toMatch(/^hung 3@/);
      await world.clock.advance(2_000);
      expect(world.routes.route("needed")).toBeDefined();
      expect(await world.status("other")).toMatchObject({ activity: "queued" });
      // It is spent: what comes next for the key waits its turn.
      await world.set("needed", { identity: "j" });
      await settle();
      expect(await world.status("needed")).toMatchObject({ activity: "queued" });
      await world.controller.close();
    });

    it("leaves no timer behind for a key that converged, or whose scope was shut", async () => {
      let broken = true;
      const world = new World({
        reconcile: (context, self) => (broken ? Promise.reject(new Error("no")) : self.converge(context)),
      });
      const idleTimers = world.clock.pending;
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(world.clock.pending).toBe(idleTimers + 1);
      broken = false;
      world.controller.probe(SCOPE, ["k"]);
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged" });
      expect(world.clock.pending).toBe(idleTimers);
      broken = true;
      await world.set("k", { identity: "other" });
      await world.idle();
      expect(world.clock.pending).toBe(idleTimers + 1);
      world.controller.shutScope(SCOPE);
      expect(world.clock.pending).toBe(idleTimers);
    });

    it("R-4: never parks for faults that don't count", async () => {
      const world = new World({
        reconcile: () => Promise.reject(new Error("no")),
        classifyFault: () => ({ counts: false }),
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      for (let i = 0; i < 20; i += 1) await world.clock.advance(30_000);
      expect(await world.status("k")).toMatchObject({ activity: "waiting", failures: 0 });
      expect(world.runs.length).toBeGreaterThan(12);
    });

    it("R-6: obeys the pause that the peer asked for, calls included", async () => {
      const world = new World({
        reconcile: () => Promise.reject(new Error("429")),
        classifyFault: () => ({ counts: false, retryAfterMs: 3_600_000 }),
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      world.controller.probe(SCOPE, ["k"]);
      await world.clock.advance(3_599_999);
      expect(world.runs).toHaveLength(1);
      await world.clock.advance(1);
      expect(world.runs).toHaveLength(2);
    });

    it("R-4: remembers over a restart when to try again", async () => {
      const world = new World({ reconcile: () => Promise.reject(new Error("no")) });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      for (let i = 0; i < 5; i += 1) await world.clock.advance(60_000);
      expect(await world.status("k")).toMatchObject({ activity: "parked" });
      const runs = world.runs.length;
      world.restart();
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.runs).toHaveLength(runs);
      await world.clock.advance(300_000);
      expect(world.runs).toHaveLength(runs + 1);
    });

    it("R-4: does not try again what is terminal, until something else is desired or the scope has another epoch", async () => {
      const world = new World({ reconcile: async () => ({ kind: "terminal", reason: "invalid_release" }) });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(await world.status("k")).toMatchObject({
        activity: "failed",
        readiness: "failed",
        lastError: { code: "invalid_release" },
      });
      world.controller.probe(SCOPE);
      world.controller.wake(SCOPE, ["k"]);
      await world.clock.advance(600_000);
      await world.idle();
      expect(world.runs).toHaveLength(1);
      await world.set("k", { identity: "other" });
      await world.idle();
      expect(world.runs).toHaveLength(2);
      world.controller.shutScope(SCOPE);
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.runs).toHaveLength(3);
    });

    it("R-4: tries again later, as the reconciler asks, and counts nothing", async () => {
      let calls = 0;
      const world = new World({
        reconcile: async (context, self) => {
          calls += 1;
          return calls === 1 ? { kind: "requeue", afterMs: 10_000 } : self.converge(context);
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.clock.advance(9_999);
      expect(await world.status("k")).toMatchObject({ activity: "waiting", attempts: 0 });
      await world.clock.advance(1);
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged" });
    });

    it("R-2: does not go round in circles when a run is done without its route", async () => {
      const world = new World({ reconcile: async () => DONE });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(world.runs).toHaveLength(1);
      expect(await world.status("k")).toMatchObject({ activity: "waiting", failures: 1 });
    });

    it("treats a fault as its own when it can't be classified", async () => {
      const world = new World({
        reconcile: () => Promise.reject(new Error("no")),
        classifyFault: () => {
          throw new Error("classify");
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(await world.status("k")).toMatchObject({ failures: 1, lastError: { code: "unexpected" } });
    });
  });

  describe("work that someone else finishes", () => {
    /** A world in which runs answer `starting`; the test plays the holder of the process. */
    function starting(): { world: World; tokens: RunContext[]; epoch: string } {
      const tokens: RunContext[] = [];
      const world = new World({
        reconcile: async (context, self) => {
          if (!context.enabled) return self.converge(context);
          tokens.push(context);
          return { kind: "starting" };
        },
      });
      const epoch = world.controller.activateScope(SCOPE);
      return { world, tokens, epoch };
    }

    it("R-4: waits for the report, and for nothing else", async () => {
      const { world, tokens } = starting();
      await world.set("k", {});
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "starting", readiness: undefined });
      await world.set("k", {});
      world.controller.wake(SCOPE);
      world.controller.probe(SCOPE, ["k"]);
      await world.clock.advance(900_000);
      expect(tokens).toHaveLength(1);
      const [token] = tokens;
      if (token === undefined) return;
      world.routes.publish(token);
      world.controller.report(token, DONE);
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
      expect(world.story("k")).toEqual(["planned", "run_started", "starting", "observed"]);
    });

    it("R-4: runs again for an event of the key, and answers starting again", async () => {
      const { world, tokens } = starting();
      await world.set("k", {});
      await world.idle();
      world.controller.wake(SCOPE, ["k"]);
      await world.idle();
      expect(tokens).toHaveLength(2);
      expect(tokens[1]?.generation).toBe(tokens[0]?.generation);
      expect(await world.status("k")).toMatchObject({ activity: "starting" });
    });

    it("R-4: takes a report that comes before its run has ended", async () => {
      const gate = pending<Outcome>();
      let context: RunContext | undefined;
      const world = new World({
        reconcile: (given) => {
          context = given;
          return gate.promise;
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await settle();
      if (context === undefined) throw new Error("no run");
      world.routes.publish(context);
      world.controller.report(context, { kind: "done", readiness: "degraded" });
      await settle();
      gate.resolve({ kind: "starting" });
      await world.idle();
      expect(world.runs).toHaveLength(1);
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "degraded" });
    });

    it("R-4: counts a reported fault, and tries again", async () => {
      const { world, tokens } = starting();
      await world.set("k", {});
      await world.idle();
      const [token] = tokens;
      if (token !== undefined) world.controller.report(token, { kind: "fault", error: new Error("exit") });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "waiting", failures: 1 });
      await world.clock.advance(1_000);
      expect(tokens).toHaveLength(2);
    });

    it("R-7: takes an exit before the route was there for a fault", async () => {
      const { world, tokens } = starting();
      await world.set("k", {});
      await world.idle();
      const [token] = tokens;
      if (token !== undefined) world.controller.exited(token, new Error("exit"));
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "waiting", failures: 1, attempts: 1 });
    });

    it("R-3: ignores a report for what is not desired any more, and runs the newer at once", async () => {
      const { world, tokens } = starting();
      await world.set("k", { identity: "old" });
      await world.idle();
      await world.set("k", { identity: "new" });
      const [old] = tokens;
      if (old !== undefined) world.controller.report(old, { kind: "terminal", reason: "late" });
      await world.idle();
      expect(tokens).toHaveLength(2);
      expect(await world.status("k")).toMatchObject({ activity: "starting", identity: "new" });
      expect(world.story("k")).toContain("superseded");
    });

    it("R-3: makes nothing without a slot because of a report", async () => {
      const world = new World({
        limits: { maxWorking: 1 },
        reconcile: async (context) => (context.key === "slow" ? pending<Outcome>().promise : { kind: "starting" }),
      });
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", { identity: "old" });
      await world.idle();
      const generation = (await world.status("k"))?.generation ?? 0;
      await world.set("slow", {});
      await settle();
      await world.set("k", { identity: "new" });
      world.controller.report({ scope: SCOPE, key: "k", generation, epoch }, DONE);
      await settle();
      expect(world.runs).toHaveLength(2);
      expect(await world.status("k")).toMatchObject({ activity: "queued" });
    });

    it("notes a change in how a converged route does", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      world.controller.report({ scope: SCOPE, key: "k", generation, epoch }, { kind: "done", readiness: "degraded" });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "degraded" });
      expect(world.runs).toHaveLength(1);
    });
  });

  describe("losses", () => {
    it("R-7: an exit clears what is observed in the same step, and makes the key due", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      world.routes.remove(SCOPE, "k");
      world.controller.exited({ scope: SCOPE, key: "k", generation, epoch }, new Error("exit"));
      await world.idle();
      // Once, however often it is noticed.
      world.controller.exited({ scope: SCOPE, key: "k", generation, epoch }, new Error("exit"));
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "waiting", readiness: undefined, failures: 1 });
      await world.clock.advance(500);
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", generation });
      expect(world.story("k").slice(3)).toEqual(["lost", "failed", "run_started", "observed"]);
    });

    it("R-7: an exit without an error is no failure", async () => {
      const world = new World();
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      world.routes.remove(SCOPE, "k");
      world.controller.exited({ scope: SCOPE, key: "k", generation, epoch });
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", failures: 0 });
      expect(world.runs).toHaveLength(2);
    });

    it("R-7: the exit of an older route is not the key's failure", async () => {
      const gate = pending<void>();
      const world = new World({
        reconcile: async (context, self) => {
          if (context.identity === "new") await gate.promise;
          return self.converge(context);
        },
      });
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", { identity: "old" });
      await world.idle();
      const old = world.routes.route("k")?.generation ?? 0;
      await world.set("k", { identity: "new" });
      await settle();
      world.controller.exited({ scope: SCOPE, key: "k", generation: old, epoch }, new Error("exit"));
      await settle();
      expect(await world.status("k")).toMatchObject({ activity: "running", readiness: undefined, failures: 0 });
      // A second notice of it changes nothing, now or later.
      world.controller.exited({ scope: SCOPE, key: "k", generation: old, epoch }, new Error("exit"));
      await settle();
      gate.resolve();
      await world.idle();
      expect(world.story("k").slice(3)).toEqual(["planned", "run_started", "lost", "observed"]);
      world.controller.exited({ scope: SCOPE, key: "k", generation: old, epoch }, new Error("exit"));
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", failures: 0, identity: "new" });
      expect(world.runs).toHaveLength(2);
    });

    it("R-7: an exit that is noticed while the key is made again does not keep that from being written", async () => {
      const gate = pending<void>();
      const world = new World({
        reconcile: async (context, self) => {
          if (self.runs.length > 1) await gate.promise;
          return self.converge(context);
        },
      });
      const epoch = world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      const generation = world.routes.route("k")?.generation ?? 0;
      world.routes.remove(SCOPE, "k");
      world.controller.wake(SCOPE, ["k"]);
      await settle();
      world.controller.exited({ scope: SCOPE, key: "k", generation, epoch }, new Error("exit"));
      await settle();
      gate.resolve();
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "converged", generation, failures: 1 });
      expect(world.runs).toHaveLength(2);
    });

    it("R-4: counts once what is lost while its run ends", async () => {
      const world = new World({
        reconcile: async (context, self) => {
          const outcome = await self.converge(context);
          self.routes.remove(context.scope, context.key);
          self.controller.exited(context, new Error("exit"));
          return outcome;
        },
      });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      expect(await world.status("k")).toMatchObject({ activity: "waiting", failures: 1, attempts: 1 });
    });

    it("R-2: finds a route that vanished without a word", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      world.routes.remove(SCOPE, "k");
      await world.clock.advance(300_000);
      await world.idle();
      expect(world.routes.route("k")).toBeDefined();
    });
  });

  describe("trouble of the store", () => {
    it("R-2: loses nothing when the store fails at any point", async () => {
      for (let failAt = 1; failAt <= 6; failAt += 1) {
        let writes = 0;
        const world = new World({
          wrap: (store) => ({
            read: (work) => store.read(work),
            write: (work) => {
              writes += 1;
              return writes === failAt ? Promise.reject(new Error("disk")) : store.write(work);
            },
          }),
        });
        await world.set("k", {});
        await world.set("l", { enabled: false });
        world.controller.activateScope(SCOPE);
        await world.idle();
        await world.clock.advance(2_000);
        await world.idle();
        expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
        expect(await world.status("l")).toMatchObject({ activity: "converged", readiness: "off" });
        expect(writes).toBeGreaterThanOrEqual(failAt === 6 ? 5 : failAt);
      }
    });

    it("R-2: loses nothing when the commit fails at any point", async () => {
      for (let failAt = 1; failAt <= 6; failAt += 1) {
        let writes = 0;
        const world = new World({
          wrap: (store) => ({
            read: (work) => store.read(work),
            write: (work) => {
              writes += 1;
              const fails = writes === failAt;
              return store.write(async (tx) => {
                const result = await work(tx);
                if (fails) throw new Error("commit");
                return result;
              });
            },
          }),
        });
        await world.set("k", {});
        await world.set("l", { enabled: false });
        world.controller.activateScope(SCOPE);
        await world.idle();
        await world.clock.advance(2_000);
        await world.idle();
        expect(await world.status("k")).toMatchObject({ activity: "converged", readiness: "ready" });
        expect(await world.status("l")).toMatchObject({ activity: "converged", readiness: "off" });
      }
    });

    it("tries again after a pause that grows only as long as the trouble lasts", async () => {
      let fails = 0;
      const world = new World({
        wrap: (store) => ({
          read: (work) => store.read(work),
          write: (work) => ((fails -= 1) >= 0 ? Promise.reject(new Error("disk")) : store.write(work)),
        }),
      });
      world.controller.activateScope(SCOPE);
      await world.idle();
      for (const identity of ["one", "two", "three"]) {
        await world.set("k", { identity });
        fails = 2;
        await world.idle();
        await world.clock.advance(500);
        await world.clock.advance(999);
        expect(await world.status("k")).not.toMatchObject({ activity: "converged" });
        await world.clock.advance(1);
        await world.idle();
        expect(await world.status("k")).toMatchObject({ activity: "converged", identity });
      }
    });

    it("R-2: tries again to read a scope, and says what is the matter", async () => {
      let broken = true;
      const error = new Error("disk");
      const world = new World({
        wrap: (store) => ({
          write: (work) => store.write(work),
          read: (work) => (broken ? Promise.reject(error) : store.read(work)),
        }),
      });
      await world.set("k", {});
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.events.at(-1)).toMatchObject({ kind: "trouble", scope: SCOPE, key: undefined, error });
      broken = false;
      await world.clock.advance(1_000);
      await world.idle();
      expect(world.routes.route("k")).toBeDefined();
    });

    it("keeps one key that can't be planned from keeping the others down", async () => {
      let broken = true;
      const world = new World({
        plan: ({ enabled, identity }) => {
          if (broken && identity === "bad") throw new Error("plan");
          return { enabled, identity, transition: "none" };
        },
      });
      await world.store.write(async (tx) => {
        for (const key of ["bad", "good"]) {
          await tx.projections.put({
            accountId: SCOPE,
            connectorKey: key,
            connectorVersion: undefined,
            state: "connected",
            connectionId: undefined,
            connectionVersion: 0n,
            epoch: key,
            revision: 0n,
            quarantined: undefined,
            updatedAt: 0,
          });
        }
      });
      world.controller.activateScope(SCOPE);
      await world.idle();
      expect(world.routes.route("good")).toBeDefined();
      expect(world.routes.route("bad")).toBeUndefined();
      broken = false;
      await world.clock.advance(1_000);
      await world.idle();
      expect(world.routes.route("bad")).toBeDefined();
    });
  });

  describe("closing", () => {
    it("shuts everything, waits for runs, and leaves no timer behind", async () => {
      const gate = pending<Outcome>();
      const world = new World({ reconcile: () => gate.promise });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await settle();
      let closed = false;
      const closing = world.controller.close().then(() => {
        closed = true;
      });
      await settle();
      expect(closed).toBe(false);
      gate.resolve(DONE);
      await closing;
      await world.controller.close();
      expect(world.clock.pending).toBe(0);
      expect(() => world.controller.activateScope(SCOPE)).toThrow(expect.objectContaining({ code: "cancelled" }));
      world.controller.wake(SCOPE, ["k"]);
      await world.idle();
      expect(world.runs).toHaveLength(1);
    });

    it("does not wait for ever for a run that does not end", async () => {
      const world = new World({ reconcile: () => pending<Outcome>().promise });
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await settle();
      const closing = world.controller.close();
      await world.clock.advance(3_000);
      await closing;
      expect(world.clock.pending).toBe(0);
    });

    it("still fences what is revoked", async () => {
      const world = new World();
      world.controller.activateScope(SCOPE);
      await world.set("k", {});
      await world.idle();
      await world.controller.close();
      await world.set("k", { enabled: false });
      expect(world.routes.route("k")).toBeUndefined();
    });
  });

  it("refuses a misspelt option", () => {
    const { store, clock, routes } = new World();
    const options = {
      store,
      clock,
      random: () => 0,
      mintEpoch: () => "e",
      planner: { keys: async () => [], facts: async () => undefined, plan: () => ({ ...PLAN }) },
      routes,
      reconciler: { reconcile: async () => DONE, classifyFault: () => ({ counts: true }) },
      limit: {},
    };
    expect(() => new Controller(options)).toThrow(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ suggestion: "limits" }) }),
    );
  });
});

const PLAN = { enabled: true, identity: "", transition: "none" } as const;
