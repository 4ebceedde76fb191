import { createMemoryStore, type Store, type StoreTx } from "../../../src/store/index.js";
import {
  Controller,
  type ControllerOptions,
  type FaultClass,
  type KeyStatus,
  type Outcome,
  type Plan,
  type ReconcileEvent,
  type ReconcileLimits,
  type RouteToken,
  type RunContext,
  type UnitOfWork,
} from "../../../src/reconcile/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

/** What is known of a key. Kept in the store, so that it is rolled back with everything else. */
export interface Facts {
  readonly enabled: boolean;
  readonly identity: string;
  readonly revokes: boolean;
}

export const SCOPE = "account:a";

/** The routes of the world: what a host's route table does with generations and fences. */
class WorldRoutes {
  readonly routes = new Map<string, RouteToken>();
  readonly fences: string[] = [];
  /** Fences of the scopes' present epochs; those raised while a scope is shut belong to the epoch to come. */
  readonly #fencedAt = new Map<string, number>();
  /** The scope's present epoch; routes and fences of another count for nothing. */
  epochOf: (scope: string) => string | undefined = () => undefined;

  readonly fence = (scope: string, key: string, generation: number): void => {
    const id = this.#id(scope, key);
    this.fences.push(`${key}@${String(generation)}`);
    this.#fencedAt.set(id, Math.max(generation, this.#fencedAt.get(id) ?? 0));
    const route = this.routes.get(id);
    if (route !== undefined && route.generation <= generation) this.routes.delete(id);
  };

  readonly holds = (scope: string, key: string, generation: number): boolean => {
    const route = this.routes.get(this.#id(scope, key));
    return route?.generation === generation && route.epoch === this.epochOf(scope);
  };

  /** Throws for a route that is fenced, older than the present one, or of another epoch. */
  publish(token: RouteToken): void {
    const id = this.#id(token.scope, token.key);
    if (token.epoch !== this.epochOf(token.scope)) throw new Error("another epoch");
    if (token.generation <= (this.#fencedAt.get(id) ?? 0)) throw new Error("fenced");
    const current = this.routes.get(id);
    if (current !== undefined && current.epoch === token.epoch && token.generation < current.generation)
      throw new Error("stale");
    this.routes.set(id, token);
  }

  remove(scope: string, key: string): void {
    this.routes.delete(this.#id(scope, key));
  }

  /** Everything of a scope goes, as when its gate shuts. */
  removeScope(scope: string): void {
    for (const [id, route] of this.routes) if (route.scope === scope) this.routes.delete(id);
    this.#fencedAt.clear();
  }

  route(key: string, scope = SCOPE): RouteToken | undefined {
    return this.routes.get(this.#id(scope, key));
  }

  #id(scope: string, key: string): string {
    return JSON.stringify([scope, key]);
  }
}

export interface WorldOptions {
  /** Instead of publishing and removing routes at once. */
  readonly reconcile?: ((context: RunContext, world: World) => Promise<Outcome>) | undefined;
  readonly classifyFault?: ((error: unknown) => FaultClass) | undefined;
  readonly plan?: ((facts: Facts) => Plan) | undefined;
  readonly limits?: ReconcileLimits | undefined;
  readonly random?: (() => number) | undefined;
  /** Stands between the controller and the store. */
  readonly wrap?: ((store: Store) => UnitOfWork<StoreTx>) | undefined;
}

/** A store, facts in it, routes, a clock, and a controller over them. */
export class World {
  readonly clock = new FakeClock();
  readonly store = createMemoryStore();
  readonly routes = new WorldRoutes();
  /** Runs that the reconciler was asked for, as `key@generation` with `-` for disabling. */
  readonly runs: string[] = [];
  readonly events: ReconcileEvent[] = [];
  controller: Controller<StoreTx, Facts>;
  readonly #options: WorldOptions;
  #epochs = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.controller = this.#start();
  }

  #start(): Controller<StoreTx, Facts> {
    const { wrap, reconcile, classifyFault, plan, limits, random } = this.#options;
    const options: ControllerOptions<StoreTx, Facts> = {
      store: wrap === undefined ? this.store : wrap(this.store),
      clock: this.clock,
      random: random ?? (() => 0.5),
      mintEpoch: () => `e${String((this.#epochs += 1))}`,
      planner: {
        keys: async (tx, scope) => (await tx.projections.list(scope)).map((row) => row.connectorKey),
        facts: readFacts,
        plan: plan ?? planOf,
      },
      routes: this.routes,
      reconciler: {
        reconcile: (context) => {
          this.runs.push(`${context.enabled ? "" : "-"}${context.key}@${String(context.generation)}`);
          return reconcile === undefined ? this.converge(context) : reconcile(context, this);
        },
        classifyFault: classifyFault ?? (() => ({ counts: true })),
      },
      limits,
    };
    const controller = new Controller(options);
    controller.events.subscribe((event) => this.events.push(event));
    this.routes.epochOf = (scope) => controller.epochOf(scope);
    return controller;
  }

  /** What a reconciler does when nothing is in its way. */
  async converge(context: RunContext): Promise<Outcome> {
    const route = this.routes.route(context.key, context.scope);
    if (context.enabled) this.routes.publish(context);
    // A late run takes nothing newer away.
    else if (route !== undefined && route.generation <= context.generation)
      this.routes.remove(context.scope, context.key);
    return { kind: "done", readiness: "ready" };
  }

  /** Changes a fact and plans it, in one transaction that may be made to fail after that. */
  set(key: string, facts: Partial<Facts> | undefined, fail?: unknown, scope = SCOPE): Promise<void> {
    return this.store.write(async (tx) => {
      await writeFacts(tx, scope, key, facts);
      await this.controller.planInTx(tx, scope, [key]);
      if (fail !== undefined) throw fail;
    });
  }

  /** The process dies and another one begins on the same store: nothing but rows is left. */
  restart(): void {
    // Nothing of the dead process writes any more; what it had asked the store for is done or isn't.
    this.controller.close().catch(() => {});
    this.routes.epochOf = () => undefined;
    this.routes.removeScope(SCOPE);
    this.controller = this.#start();
  }

  /** Lets everything happen that can happen now. */
  async idle(): Promise<void> {
    await settle();
    await this.controller.idle();
    await settle();
  }

  async status(key: string, scope = SCOPE): Promise<KeyStatus | undefined> {
    return (await this.controller.status(scope)).find((status) => status.key === key);
  }

  /** The kinds of events about a key, in order. */
  story(key: string): readonly string[] {
    return this.events.flatMap((event) => ("key" in event && event.key === key ? [event.kind] : []));
  }
}

export async function readFacts(tx: StoreTx, scope: string, key: string): Promise<Facts | undefined> {
  const row = await tx.projections.get(scope, key);
  if (row === undefined) return undefined;
  return { enabled: row.state === "connected", identity: row.epoch, revokes: row.connectionVersion === 1n };
}

export async function writeFacts(
  tx: StoreTx,
  scope: string,
  key: string,
  facts: Partial<Facts> | undefined,
): Promise<void> {
  if (facts === undefined) {
    await tx.projections.remove(scope, key);
    return;
  }
  const { enabled = true, identity = "i", revokes = false } = facts;
  await tx.projections.put({
    accountId: scope,
    connectorKey: key,
    connectorVersion: undefined,
    state: enabled ? "connected" : "disconnected",
    connectionId: undefined,
    connectionVersion: revokes ? 1n : 0n,
    epoch: identity,
    revision: 0n,
    quarantined: undefined,
    updatedAt: 0,
  });
}

function planOf({ enabled, identity, revokes }: Facts): Plan {
  return { enabled, identity, transition: revokes ? "revoke" : "supersede" };
}
