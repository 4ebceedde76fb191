import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import type { EventGap, ReconcileEvent, TransitionEvent } from "../../../src/reconcile/index.js";
import { settle } from "../../support/fake-clock.js";
import { SCOPE, World, writeFacts } from "./world.js";

const NOTICES: readonly ReconcileEvent["kind"][] = [
  "scope_activated",
  "scope_shut",
  "fenced",
  "superseded",
  "abandoned",
  "trouble",
  "listener_dropped",
];

/** Every transition that the store has, read by a reader of its own. */
async function kept(world: World): Promise<readonly (TransitionEvent | EventGap)[]> {
  const found: (TransitionEvent | EventGap)[] = [];
  const controller = new AbortController();
  const reading = (async () => {
    const { signal } = controller;
    for await (const each of world.controller.events.follow({ after: 0, signal })) found.push(each);
  })();
  await settle();
  controller.abort();
  await reading;
  return found;
}

function transitions(events: readonly ReconcileEvent[]): readonly ReconcileEvent[] {
  return events.filter(({ kind }) => !NOTICES.includes(kind));
}

describe("Transitions of a controller", () => {
  it("R-8: every change of a row is recorded as it was told, and is there in the next process", async () => {
    const error = new RemoteConnectorError("timeout", {
      message: "Too late.",
      details: { phase: "total", option: "runTimeoutMs", limitMs: 1 },
    });
    const world = new World({
      reconcile: async (context) => {
        if (!context.enabled) return world.converge(context);
        if (context.identity === "fails") throw error;
        if (context.identity === "later") return { kind: "requeue", afterMs: 9_000 };
        if (context.identity === "elsewhere") return { kind: "starting" };
        if (context.identity === "never") return { kind: "terminal", reason: "gone" };
        return world.converge(context);
      },
    });
    world.controller.activateScope(SCOPE);
    for (const identity of ["fails", "later", "elsewhere", "never", "fine"]) await world.set(identity, { identity });
    await world.idle();
    const route = world.routes.route("fine");
    if (route === undefined) throw new Error("no route");
    world.routes.remove(SCOPE, "fine");
    world.controller.exited(route, error);
    await world.idle();
    await world.set("elsewhere", undefined);
    await world.idle();
    expect(new Set(world.events.map(({ kind }) => kind))).toEqual(
      new Set([
        "scope_activated",
        "planned",
        "run_started",
        "failed",
        "requeued",
        "starting",
        "terminal",
        "observed",
        "lost",
        "fenced",
        "removed",
      ]),
    );
    const told = transitions(world.events);
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_, i) => i + 1));
    const lastError = { code: "timeout", message: "Too late." };
    expect(told.find(({ kind }) => kind === "lost")).toMatchObject({ key: "fine", error: lastError });
    expect(told.find(({ kind }) => kind === "failed")).toMatchObject({ key: "fails", error: lastError });
    expect(await kept(world)).toStrictEqual(told);
    world.restart();
    expect(await kept(world)).toStrictEqual(told);
    await world.controller.close();
  });

  it("R-3, R-8: what a plan revoked is in its record, and the fence is there before anyone hears of it", async () => {
    const world = new World();
    world.controller.activateScope(SCOPE);
    await world.set("k", { identity: "i" });
    await world.idle();
    const generation = world.routes.route("k")?.generation;
    const routes: unknown[] = [];
    world.controller.events.subscribe(({ kind }) => {
      if (kind === "planned") routes.push(world.routes.route("k"));
    });
    await world.set("k", { identity: "j", revokes: true });
    await world.set("k", { identity: "l" });
    await world.idle();
    const planned = (await kept(world)).filter(({ kind }) => kind === "planned");
    expect(planned).toMatchObject([{ revokes: undefined }, { revokes: generation }, { revokes: undefined }]);
    expect(routes[0]).toBeUndefined();
    await world.controller.close();
  });

  it("R-8: plans of one transaction are told in the order of their numbers, also when they were made at the same time", async () => {
    const world = new World();
    await world.store.write(async (tx) => {
      for (const key of ["a", "b", "c", "d", "e"]) await writeFacts(tx, SCOPE, key, {});
      const plan = (...keys: readonly string[]): Promise<void> => world.controller.planInTx(tx, SCOPE, keys);
      await Promise.all([plan("a", "b", "c"), plan("d")]);
      await plan("e");
    });
    expect(world.events.map(({ kind, seq }) => [kind, seq])).toEqual([1, 2, 3, 4, 5].map((seq) => ["planned", seq]));
    expect(await kept(world)).toStrictEqual(world.events);
    await world.controller.close();
  });

  it("R-8: of a transaction that was rolled back there is no event, but the fence is told of", async () => {
    const world = new World();
    world.controller.activateScope(SCOPE);
    await world.set("k", {});
    await world.idle();
    const before = await world.controller.events.position();
    const error = new Error("mine");
    await expect(world.set("k", undefined, error)).rejects.toBe(error);
    expect(world.events.at(-1)).toMatchObject({ kind: "fenced", committed: false, seq: before });
    expect(await world.controller.events.position()).toBe(before);
    await world.controller.close();
  });

  it("R-8: what can't be recorded does not happen", async () => {
    let full = false;
    const world = new World({
      wrap: (store) => ({
        read: (work) => store.read(work),
        write: (work) =>
          store.write((tx) => {
            const append = (): Promise<number> => Promise.reject(new Error("full"));
            return work(full ? { ...tx, events: { ...tx.events, append } } : tx);
          }),
      }),
    });
    await world.set("k", {});
    full = true;
    world.controller.activateScope(SCOPE);
    await settle();
    expect(world.routes.route("k")).toBeUndefined();
    expect(world.events.at(-1)).toMatchObject({ kind: "trouble", key: "k" });
    expect(await world.status("k")).toMatchObject({ readiness: undefined });
    full = false;
    await world.clock.advance(60_000);
    expect(world.story("k")).toEqual(["planned", "trouble", "run_started", "observed"]);
    await world.controller.close();
  });

  const rowsOf = async (world: World): Promise<readonly number[]> =>
    (await world.store.read((tx) => tx.events.list(0, 100))).map(({ seq }) => seq);

  it("R-8: lets go of transitions that are too old, when nothing happens and no scope is active", async () => {
    const world = new World();
    await world.set("a", {});
    await world.clock.advance(3_600_000);
    expect(await rowsOf(world)).toEqual([1]);
    await world.clock.advance(300_000);
    expect(await rowsOf(world)).toEqual([]);
    await world.controller.close();
  });

  it("R-8: lets go of transitions that are too old when a scope becomes active", async () => {
    const world = new World({ limits: { resyncIntervalMs: 10 ** 9 } });
    await world.set("a", {});
    await world.clock.advance(3_600_001);
    expect(await rowsOf(world)).toEqual([1]);
    world.restart();
    world.controller.activateScope(SCOPE);
    await world.idle();
    expect(await rowsOf(world)).toEqual([2, 3]);
    await world.controller.close();
  });

  it("R-8: readers end when the controller is closed, and what was planned before they came is not theirs", async () => {
    const world = new World();
    await world.set("a", {});
    const kinds: string[] = [];
    const reading = (async () => {
      for await (const { kind } of world.controller.events.follow()) kinds.push(kind);
    })();
    world.controller.activateScope(SCOPE);
    await world.idle();
    await world.controller.close();
    await reading;
    expect(kinds).toEqual(["run_started", "observed"]);
  });

  it("R-8: the list of keys and the events after the place that was taken before miss nothing", async () => {
    const world = new World();
    await world.set("a", {});
    world.controller.activateScope(SCOPE);
    await world.idle();
    const after = await world.controller.events.position();
    await world.set("b", {});
    const seen = new Set((await world.controller.status(SCOPE)).map(({ key }) => key));
    await world.set("c", {});
    await world.idle();
    await world.controller.close();
    for await (const event of world.controller.events.follow({ after })) if ("key" in event) seen.add(event.key);
    expect([...seen]).toEqual(["a", "b", "c"]);
  });
});
