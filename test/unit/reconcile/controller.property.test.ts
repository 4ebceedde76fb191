import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Outcome, RunContext } from "../../../src/reconcile/index.js";
import { settle } from "../../support/fake-clock.js";
import { readFacts, SCOPE, World, type Facts } from "./world.js";

const SEED = 20_260_729;
const KEYS = ["a", "b", "c"];

/** How a run goes. */
type Manner = "done" | "fails" | "starts" | "hangs" | "ignores abort" | "waits" | "requeues";

type Step =
  | { readonly kind: "set"; readonly key: string; readonly facts: Partial<Facts> | undefined; readonly fails: boolean }
  | { readonly kind: "exit" | "vanish" | "wake" | "probe"; readonly key: string }
  | { readonly kind: "shut" | "activate" | "restart" | "wake all" }
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "manner"; readonly manner: Manner }
  | { readonly kind: "store fails"; readonly at: "begin" | "commit"; readonly times: number };

const key = fc.constantFrom(...KEYS);
const facts: fc.Arbitrary<Partial<Facts> | undefined> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 6,
    arbitrary: fc.record({ enabled: fc.boolean(), identity: fc.constantFrom("i", "j"), revokes: fc.boolean() }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("set"), key, facts, fails: fc.nat(4).map((n) => n === 0) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("exit", "vanish", "wake", "probe"), key }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("shut", "activate", "restart", "wake all") }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("advance"), ms: fc.constantFrom(0, 500, 5_000, 70_000, 130_000) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("manner"),
      manner: fc.constantFrom<Manner>("done", "fails", "starts", "hangs", "ignores abort", "waits", "requeues"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("store fails"),
      at: fc.constantFrom("begin", "commit"),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

/** A world in which everything goes wrong that can. */
class Storm {
  #manner: Manner = "done";
  #storeFails: { readonly at: "begin" | "commit"; times: number } | undefined;
  readonly #vanished = new Set<string>();
  /** Runs that have neither ended nor been told to. */
  readonly #live = new Map<string, RunContext>();
  readonly world = new World({
    // Nothing but a route that vanishes without a word needs the regular look at everything.
    limits: { maxWorking: 2, maxNeeded: 1, maxWaiting: 1, resyncIntervalMs: 10 ** 9 },
    reconcile: (context) => this.#run(context),
    classifyFault: () => ({ counts: this.#manner === "fails" }),
    wrap: (store) => ({
      read: (work) => store.read(work),
      write: (work) => {
        const failure = this.#storeFails;
        if (failure === undefined) return store.write(work);
        failure.times -= 1;
        if (failure.times === 0) this.#storeFails = undefined;
        if (failure.at === "begin") return Promise.reject(new Error("store"));
        return store.write(async (tx) => {
          await work(tx);
          throw new Error("store");
        });
      },
    }),
  });

  async apply(each: Step): Promise<void> {
    const { world } = this;
    switch (each.kind) {
      case "set":
        await this.#set(each.key, each.facts, each.fails);
        break;
      case "exit":
      case "vanish": {
        const route = world.routes.route(each.key);
        world.routes.remove(SCOPE, each.key);
        if (each.kind === "vanish") this.#vanished.add(each.key);
        if (each.kind === "exit" && route !== undefined) world.controller.exited(route, new Error("exit"));
        break;
      }
      case "wake":
        world.controller.wake(SCOPE, [each.key]);
        break;
      case "wake all":
        world.controller.wake(SCOPE);
        break;
      case "probe":
        world.controller.probe(SCOPE, [each.key]);
        break;
      case "shut":
        world.controller.shutScope(SCOPE);
        world.routes.removeScope(SCOPE);
        break;
      case "activate":
        world.controller.activateScope(SCOPE);
        break;
      case "restart":
        this.#live.clear();
        world.restart();
        break;
      case "advance":
        await world.clock.advance(each.ms);
        break;
      case "manner":
        this.#manner = each.manner;
        break;
      case "store fails":
        this.#storeFails = { at: each.at, times: each.times };
        break;
    }
    await settle();
    for (const route of world.routes.routes.values()) expect(route.epoch).toBe(world.controller.epochOf(SCOPE));
  }

  /** Nothing goes wrong any more, and everything comes to what the facts say. */
  async calm(): Promise<void> {
    const { world } = this;
    this.#manner = "done";
    this.#storeFails = undefined;
    if (world.controller.epochOf(SCOPE) === undefined) world.controller.activateScope(SCOPE);
    world.controller.wake(SCOPE, [...this.#vanished]);
    for (let i = 0; i < 4; i += 1) await world.clock.advance(300_000);
    await world.idle();
    for (const each of KEYS) {
      const known = await world.store.read((tx) => readFacts(tx, SCOPE, each));
      const status = await world.status(each);
      const route = world.routes.route(each);
      if (known === undefined) {
        expect(status).toBeUndefined();
        expect(route).toBeUndefined();
      } else {
        const { enabled, identity } = known;
        expect(status).toMatchObject({
          activity: "converged",
          enabled,
          identity,
          readiness: enabled ? "ready" : "off",
        });
        expect(route?.generation).toBe(enabled ? status?.generation : undefined);
      }
    }
    await world.controller.close();
    expect(world.clock.pending).toBe(0);
  }

  /** What a transaction revokes is gone when it has ended, whichever way. */
  async #set(each: string, next: Partial<Facts> | undefined, fails: boolean): Promise<void> {
    const before = this.world.routes.route(each);
    const was = await this.world.store.read((tx) => readFacts(tx, SCOPE, each));
    const write = this.world.set(each, next, fails ? new Error("mine") : undefined);
    if (fails) await expect(write).rejects.toThrow("mine");
    else await write;
    const off = next === undefined || next.enabled === false;
    const other = next?.revokes === true && was?.identity !== next.identity;
    if (before !== undefined && (off || other)) expect(this.world.routes.route(each)).not.toBe(before);
    if (!fails && off) expect(this.world.routes.route(each)).toBeUndefined();
  }

  async #run(context: RunContext): Promise<Outcome> {
    const other = this.#live.get(context.key);
    expect(other === undefined || other.signal.aborted).toBe(true);
    this.#live.set(context.key, context);
    try {
      return await this.#act(context);
    } finally {
      if (this.#live.get(context.key) === context) this.#live.delete(context.key);
    }
  }

  #act(context: RunContext): Promise<Outcome> {
    const { world } = this;
    const { controller } = world;
    switch (this.#manner) {
      case "done":
        return world.converge(context);
      case "fails":
        return Promise.reject(new Error("fails"));
      case "requeues":
        return Promise.resolve({ kind: "requeue", afterMs: 50 });
      case "hangs":
        return aborted(context);
      case "ignores abort":
        return sleep(this.world, 200_000).then(() => world.converge(context));
      case "waits":
        return context.waiting(sleep(this.world, 4_000)).then(() => world.converge(context));
      case "starts":
        if (!context.enabled) return world.converge(context);
        void sleep(this.world, 1_000).then(async () => {
          // The holder dies with its process.
          if (world.controller !== controller) return;
          const outcome = await world.converge(context).catch((error: unknown) => ({ kind: "fault", error }) as const);
          controller.report(context, outcome);
        });
        return Promise.resolve({ kind: "starting" });
    }
  }
}

function aborted({ signal }: RunContext): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

function sleep(world: World, ms: number): Promise<void> {
  return new Promise((resolve) => {
    world.clock.schedule(ms, resolve);
  });
}

describe("Controller, whatever happens", () => {
  it("R-2, R-3: loses no key, publishes nothing stale, and comes to what the facts say", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50, size: "max" }), async (steps) => {
        const storm = new Storm();
        for (const each of steps) await storm.apply(each);
        await storm.calm();
      }),
      { seed: SEED, numRuns: 120 },
    );
  }, 60_000);
});
