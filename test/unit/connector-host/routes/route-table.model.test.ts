import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settle } from "../../../support/fake-clock.js";
import {
  type Bench,
  type CloseOutcome,
  openBench,
  routeOf,
  ScriptedClient,
  type TestRoute,
} from "./scripted-routes.js";

const SCOPES = ["acc", "device"] as const;
const KEYS = ["git", "hub"] as const;

/** What can happen to a table. Indices pick from what there is by then. */
type Step =
  | { readonly kind: "open"; readonly scope: string; readonly again: boolean }
  | { readonly kind: "shut"; readonly scope: string }
  | {
      readonly kind: "commit";
      readonly scope: string;
      readonly key: string;
      /** How far behind the newest generation this one is; 0 is a new one. */
      readonly behind: number;
      readonly staleEpoch: boolean;
      readonly script: readonly CloseOutcome[];
    }
  | { readonly kind: "recommit"; readonly pick: number }
  | {
      readonly kind: "remove";
      readonly scope: string;
      readonly key: string;
      readonly behind: number;
      readonly digest?: string;
    }
  | {
      readonly kind: "fence";
      readonly scope: string;
      readonly key: string;
      readonly behind: number;
      readonly fence: "revoke" | "supersede";
    }
  | { readonly kind: "exit"; readonly pick: number }
  | { readonly kind: "enter"; readonly pick: number }
  | { readonly kind: "leave"; readonly pick: number }
  | { readonly kind: "wait"; readonly ms: number };

const scope = fc.constantFrom(...SCOPES);
const key = fc.constantFrom(...KEYS);
const behind = fc.constantFrom(0, 0, 0, 1, 2, 5);
const script = fc.constantFrom<readonly CloseOutcome[]>(
  ["closes"],
  ["rejects", "closes"],
  ["throws", "rejects", "closes"],
  ["hangs", "closes"],
  ["rejects"],
  ["hangs"],
);
const pick = fc.nat({ max: 1_000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("open" as const), scope, again: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("shut" as const), scope }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("commit" as const),
      scope,
      key,
      behind,
      staleEpoch: fc.constantFrom(false, false, false, true),
      script,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("recommit" as const), pick }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { kind: fc.constant("remove" as const), scope, key, behind, digest: fc.constantFrom("d1", "d2") },
      { requiredKeys: ["kind", "scope", "key", "behind"] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("fence" as const),
      scope,
      key,
      behind,
      fence: fc.constantFrom("revoke" as const, "supersede" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("exit" as const), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("enter" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("leave" as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 900, 3_000, 61_000) }),
  },
);

/** What a table must show, kept as plainly as can be: one list of facts, nothing about clients, timers or debt. */
class Model {
  readonly epochs = new Map<string, string>();
  /** Lowest generation that may still be published, by scope and key. */
  readonly floors = new Map<string, number>();
  readonly published = new Map<string, TestRoute>();

  open(scopeName: string, epoch: string): void {
    const before = this.epochs.get(scopeName);
    if (before === epoch) return;
    if (before !== undefined) this.#drop(scopeName);
    this.epochs.set(scopeName, epoch);
  }

  shut(scopeName: string): void {
    this.#drop(scopeName);
    this.epochs.delete(scopeName);
  }

  publishes(route: TestRoute): boolean {
    const present = this.published.get(route.connectorKey);
    if (present === route) return true;
    return (
      route.state === "open" &&
      this.epochs.get(route.scope) === route.scopeEpoch &&
      route.generation >= this.floor(route.scope, route.connectorKey) &&
      (present === undefined || (present.scope === route.scope && route.generation >= present.generation))
    );
  }

  fence(scopeName: string, connectorKey: string, generation: number): void {
    this.raise(scopeName, connectorKey, generation + 1);
    const present = this.published.get(connectorKey);
    if (present?.scope === scopeName && present.generation <= generation) this.published.delete(connectorKey);
  }

  exit(route: TestRoute): void {
    if (this.published.get(route.connectorKey) !== route) return;
    this.published.delete(route.connectorKey);
    this.raise(route.scope, route.connectorKey, route.generation);
  }

  floor(scopeName: string, connectorKey: string): number {
    return this.floors.get(`${scopeName}/${connectorKey}`) ?? 0;
  }

  raise(scopeName: string, connectorKey: string, floor: number): void {
    this.floors.set(`${scopeName}/${connectorKey}`, Math.max(floor, this.floor(scopeName, connectorKey)));
  }

  #drop(scopeName: string): void {
    for (const each of KEYS) {
      this.floors.delete(`${scopeName}/${each}`);
      if (this.published.get(each)?.scope === scopeName) this.published.delete(each);
    }
  }
}

/** A table and its model, driven through the same steps. */
class Run {
  readonly bench: Bench = openBench();
  readonly model = new Model();
  readonly routes: TestRoute[] = [];
  /** What a reader saw that it should not have. Kept, since the table survives listeners and clients that throw. */
  readonly #violations: string[] = [];
  readonly #leaves: (() => void)[] = [];
  /** Calls that are in, by route, by our own count. */
  readonly #calls = new Map<TestRoute, Set<number>>();
  readonly #pending: Promise<unknown>[] = [];
  #generation = 0;
  #epoch = 1;

  constructor() {
    this.model.open("acc", "e1");
    this.bench.table.onPublication((changes) => {
      for (const { connectorKey, previous, current } of changes) {
        this.#observe("what is told is what is seen", this.bench.table.current(connectorKey) === current);
        this.#observe("a change changes something", previous !== current);
        this.#observe("what was replaced takes no calls", previous?.state !== "open");
      }
    });
  }

  async take(each: Step): Promise<void> {
    const { table, clock } = this.bench;
    const { model } = this;
    switch (each.kind) {
      case "open": {
        const open = model.epochs.get(each.scope);
        const epoch = each.again && open !== undefined ? open : this.#newEpoch();
        model.open(each.scope, epoch);
        table.openScope(each.scope, epoch);
        return this.#expectRevoked((route) => route.scope === each.scope && route.scopeEpoch !== epoch);
      }
      case "shut":
        model.shut(each.scope);
        table.fenceAll(each.scope);
        return this.#expectRevoked((route) => route.scope === each.scope);
      case "commit":
        return this.#commit(this.#make(each));
      case "recommit": {
        const route = this.#pick(each.pick);
        return route === undefined ? undefined : this.#commit(route);
      }
      case "remove": {
        const generation = Math.max(1, this.#generation - each.behind);
        const present = model.published.get(each.key);
        const own = present?.scope === each.scope ? present : undefined;
        const isSpared =
          own !== undefined &&
          (own.generation > generation || (each.digest !== undefined && each.digest !== own.releaseDigest));
        if (!isSpared) model.fence(each.scope, each.key, generation);
        this.#pending.push(table.remove(each.scope, each.key, generation, each.digest));
        return isSpared ? undefined : this.#expectRevoked(this.#upTo(each, generation));
      }
      case "fence": {
        const generation = Math.max(1, this.#generation - each.behind);
        model.fence(each.scope, each.key, generation);
        table.fence(each.scope, each.key, generation, each.fence);
        return each.fence === "revoke" ? this.#expectRevoked(this.#upTo(each, generation)) : undefined;
      }
      case "exit": {
        const route = this.#pick(each.pick);
        if (route === undefined) return;
        const wasPublished = model.published.get(route.connectorKey) === route;
        model.exit(route);
        expect(table.retireExact(route)).toEqual({ wasPublished });
        return;
      }
      case "enter": {
        const route = this.#pick(each.pick);
        if (route !== undefined) this.#enter(route);
        return;
      }
      case "leave":
        this.#leaves[each.pick % Math.max(1, this.#leaves.length)]?.();
        return;
      case "wait":
        return clock.advance(each.ms);
    }
  }

  /** What must hold after every step, at once. */
  check(): void {
    const { table } = this.bench;
    const published = [...this.model.published.values()];
    expect(this.#violations).toEqual([]);
    expect(new Set(table.list())).toEqual(new Set(published));
    expect(table.counts.published).toBe(published.length);
    for (const route of published) {
      expect(table.current(route.connectorKey)).toBe(route);
      expect(table.holds(route.scope, route.connectorKey, route.generation)).toBe(true);
      expect(route.state).toBe("open");
      expect(route.client.closeCalls).toBe(0);
      expect(route.scopeEpoch).toBe(this.model.epochs.get(route.scope));
      expect(table.fenceOf(route.scope, route.connectorKey) ?? 0).toBeLessThan(route.generation);
    }
    for (const connectorKey of KEYS) {
      const owed = this.routes.filter((route) => route.connectorKey === connectorKey && !this.#isDone(route));
      expect(owed.length).toBeLessThanOrEqual(4);
    }
    for (const route of this.routes) {
      expect(route.inFlight).toBe(this.#calls.get(route)?.size ?? 0);
      expect(route.signal.aborted).toBe(route.state === "revoked");
      if (route.state === "revoked") expect(route.client.closeCalls).toBeGreaterThan(0);
    }
  }

  /** Whether nothing more is owed for a route: it is published, its client is closed, or it was given up. */
  #isDone(route: TestRoute): boolean {
    if (this.model.published.get(route.connectorKey) === route || route.client.isClosed) return true;
    return this.bench.diagnostics.some(
      (each) =>
        each.kind === "cleanup_abandoned" &&
        this.#named(route) === `${each.connectorKey ?? ""}:${each.generation ?? ""}`,
    );
  }

  #named(route: TestRoute): string {
    return `${route.connectorKey}:${String(route.generation)}`;
  }

  /** Lets every cleanup run its course: nothing may be left but what is published. */
  async end(): Promise<void> {
    const { table, clock } = this.bench;
    await clock.advance(3_600_000);
    await Promise.all(this.#pending);
    expect(table.counts.retiring).toBe(0);
    expect(clock.pending).toBe(0);
    this.check();
    for (const route of this.routes) expect(this.#isDone(route)).toBe(true);
    const closing = table.close(5_000);
    expect(table.list()).toEqual([]);
    await clock.advance(5_000);
    await closing;
    expect(table.counts.retiring).toBe(0);
    expect(clock.pending).toBe(0);
  }

  #make(each: Extract<Step, { kind: "commit" }>): TestRoute {
    if (each.behind === 0) this.#generation += 1;
    const generation = Math.max(1, this.#generation - each.behind);
    const epoch = each.staleEpoch ? "long-gone" : (this.model.epochs.get(each.scope) ?? "shut");
    const client = new ScriptedClient(...each.script);
    const route = routeOf(generation, { key: each.key, scope: each.scope, epoch, client });
    // Readers that look while a client is closed see the old route or the new one, never neither.
    client.onClose = () => {
      const seen = this.bench.table.current(each.key);
      this.#observe("old or new, never neither", seen === this.model.published.get(each.key));
    };
    this.routes.push(route);
    return route;
  }

  #commit(route: TestRoute): void {
    const { table } = this.bench;
    const publishes = this.model.publishes(route);
    if (publishes) this.model.published.set(route.connectorKey, route);
    const committing = table.commit(route);
    expect(table.isCurrent(route)).toBe(publishes);
    this.#pending.push(committing.then((result) => expect(result.published).toBe(publishes)));
  }

  #pick(index: number): TestRoute | undefined {
    return this.routes[index % Math.max(1, this.routes.length)];
  }

  #enter(route: TestRoute): void {
    const calls = this.#calls.get(route) ?? new Set();
    this.#calls.set(route, calls);
    const call = this.#leaves.length;
    calls.add(call);
    const leave = route.enter();
    this.#leaves.push(() => {
      calls.delete(call);
      leave();
    });
  }

  #upTo({ scope: own, key: connectorKey }: { scope: string; key: string }, generation: number) {
    return (route: TestRoute): boolean =>
      route.scope === own && route.connectorKey === connectorKey && route.generation <= generation;
  }

  /** Calls over these routes were aborted in the very step, drained ones included. */
  #expectRevoked(isMeant: (route: TestRoute) => boolean): void {
    for (const route of this.routes.filter(isMeant)) {
      expect(route.state === "revoked" || route.client.isClosed, this.#named(route)).toBe(true);
    }
  }

  #observe(rule: string, holds: boolean): void {
    if (!holds) this.#violations.push(rule);
  }

  #newEpoch(): string {
    this.#epoch += 1;
    return `e${String(this.#epoch)}`;
  }
}

describe("H-12, H-13: a table against its model", () => {
  it("shows old or new and never neither, publishes nothing stale, and leaks nothing", async () => {
    const reached = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
        const run = new Run();
        for (const each of steps) {
          await run.take(each);
          run.check();
          if (steps.length % 3 === 0) await settle();
        }
        await run.end();
        for (const { kind } of run.bench.diagnostics) reached.add(kind);
        for (const { state } of run.routes) reached.add(state);
      }),
      { seed: 12, numRuns: 150 },
    );
    expect([...reached].sort()).toEqual([
      "cleanup_abandoned",
      "close_failed",
      "drain_expired",
      "revoked",
      "superseded",
    ]);
  });
});
