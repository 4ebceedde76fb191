import { refuseUnknownOptions } from "../options.js";
import { ActiveScope } from "./active-scope.js";
import { Agenda, cancelled } from "./agenda.js";
import { Alarms } from "./alarms.js";
import { keyLane, sweepLane, type Core, type Job } from "./core.js";
import { EventLog, type ReconcileEvents } from "./events.js";
import { Exits } from "./exits.js";
import { whenFull } from "./full-store.js";
import type { RouteToken, RunOutcome } from "./host-ports.js";
import { CONTROLLER_OPTIONS, type ControllerOptions } from "./controller-options.js";
import { KeyRuns } from "./key-runs.js";
import { KeyedQueue } from "./keyed-queue.js";
import type { LaneContext } from "./lane-run.js";
import { resolveReconcileLimits } from "./limits.js";
import { Outcomes } from "./outcomes.js";
import { Planning } from "./planning.js";
import { MetricsRecorder, type ReconcileMetrics } from "./metrics.js";
import type { ConvergenceRow, ConvergenceTx } from "./ports.js";
import { describeKey, type KeyStatus } from "./status.js";
import { Sweeps } from "./sweeps.js";

/** The alarm of the regular look at everything. No lane is called so: lanes are JSON. */
const RESYNC = "resync";

/**
 * Makes what is observed equal what is desired, key by key, for as long as a scope is active.
 *
 * Whoever changes a fact plans in the same transaction (`planInTx`); everything else only makes it faster. What has to be
 * done is derived from the rows each time, so that a lost hint, a failed write or a killed process loses nothing.
 *
 * No method throws for a store or a port that fails in the background: that is an event, and is tried again.
 */
export class Controller<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;
  readonly #mintEpoch: () => string;
  readonly #agenda: Agenda<Tx, Facts>;
  readonly #planning: Planning<Tx, Facts>;
  readonly #runs: KeyRuns<Tx, Facts>;
  readonly #exits: Exits<Tx, Facts>;
  readonly #sweeps: Sweeps<Tx, Facts>;
  #closed = false;

  /** Throws `invalid_options`. */
  constructor(options: ControllerOptions<Tx, Facts>) {
    refuseUnknownOptions(options, CONTROLLER_OPTIONS);
    const { store, clock, random, planner, routes, reconciler } = options;
    const config = resolveReconcileLimits(options.limits);
    const queue = new KeyedQueue<Job>({
      clock,
      limits: config,
      work: (job, lane) => this.#work(job, lane),
      onAbandoned: (job, reason) => this.#onAbandoned(job, reason),
    });
    const events = new EventLog<Tx>(store, clock, config);
    const metrics = new MetricsRecorder();
    events.subscribe((event) => metrics.count(event));
    const alarms = new Alarms(clock);
    this.#mintEpoch = options.mintEpoch;
    this.#core = {
      store: whenFull(store, () => void events.makeRoom()),
      clock,
      random,
      planner,
      routes,
      reconciler,
      config,
      events,
      metrics,
      alarms,
      queue,
      scopes: new Map(),
    };
    this.#agenda = new Agenda(this.#core);
    this.#planning = new Planning(this.#core, this.#agenda);
    const outcomes = new Outcomes(this.#core, this.#agenda);
    this.#runs = new KeyRuns(this.#core, this.#agenda, this.#planning, outcomes);
    this.#exits = new Exits(this.#core, this.#agenda, outcomes);
    this.#sweeps = new Sweeps(this.#core, this.#agenda, this.#planning);
    this.#scheduleResync();
  }

  /** What happens, in order; and what happened, also before this process began. */
  get events(): ReconcileEvents {
    return this.#core.events;
  }

  /**
   * Plans keys within the caller's transaction, after it wrote their facts. Awaits only methods of `tx` and the planner.
   *
   * What is revoked is fenced synchronously when the transaction ends, committed or not. After a commit, runs of something
   * older are aborted, and keys that are due are queued if the scope is active. Rejects with what `tx` or the planner
   * rejects with; the caller lets its transaction fail then.
   */
  async planInTx(tx: Tx, scope: string, keys: readonly string[]): Promise<void> {
    await this.#planning.plan(tx, scope, keys, "enqueue");
  }

  /**
   * Gives up the older half of the kept transitions. The controller does that by itself when a transaction of its own finds no
   * room; this is for those who write to the same store (`whenFull`). Never rejects.
   */
  makeRoom(): Promise<void> {
    return this.#core.events.makeRoom();
  }

  /**
   * Makes a scope active and returns its epoch, a new one if it was shut. All its keys are planned soon, and those that are
   * due run; what was observed in another epoch is due. Throws `cancelled` after `close`.
   */
  activateScope(scope: string): string {
    if (this.#closed) throw cancelled("closed");
    let active = this.#core.scopes.get(scope);
    if (active === undefined) {
      active = this.#planning.openScope(scope, this.#mintEpoch());
      this.#core.scopes.set(scope, active);
      this.#core.events.notify({ kind: "scope_activated", scope, epoch: active.epoch });
      void this.#core.events.prune();
    }
    this.wake(scope);
    return active.epoch;
  }

  /** The epoch of an active scope; `undefined` when it is shut. */
  epochOf(scope: string): string | undefined {
    return this.#core.scopes.get(scope)?.epoch;
  }

  /**
   * Ends a scope's epoch at once: everything running in it is aborted, nothing of it may write any more, and its rows count
   * for nothing until it is activated, with another epoch. Returns before the runs have ended. Routes are the caller's to end.
   */
  shutScope(scope: string): void {
    const active = this.#core.scopes.get(scope);
    if (active === undefined) return;
    this.#core.scopes.delete(scope);
    const reason = cancelled("scope_shut");
    for (const lane of [sweepLane(scope), ...Array.from(active.keys, (key) => keyLane(scope, key))]) {
      this.#core.alarms.cancel(lane);
      this.#core.queue.cancel(lane, reason);
    }
    this.#core.events.notify({ kind: "scope_shut", scope, epoch: active.epoch });
  }

  /**
   * Removes all rows of a scope that is shut, and that nobody comes back to, within the caller's transaction. Each is an event.
   * Rejects with what `tx` rejects with.
   */
  async forgetInTx(tx: Tx, scope: string): Promise<void> {
    for (const { key } of await tx.convergence.listScope(scope)) {
      await tx.convergence.remove(scope, key);
      await this.#core.events.record(tx, { kind: "removed", scope, key });
    }
  }

  /**
   * Something may have changed. The keys, or all of the scope, are planned anew and run if they are due; a key that waits
   * for a report is run again. Does not shorten the pause after a failure.
   */
  wake(scope: string, keys?: readonly string[]): void {
    const active = this.#core.scopes.get(scope);
    if (active === undefined) return;
    if (keys === undefined) this.#agenda.add({ kind: "sweep", active }, true);
    for (const key of keys ?? []) {
      active.key(key).endStarting();
      this.#agenda.add({ kind: "key", active, key });
    }
  }

  /**
   * Something needs the keys, or all of the scope, now: a call, or the network is back. Keys that are not what they should
   * be are tried once without waiting for their next attempt, parked ones too. Only a pause that the peer asked for holds.
   * Keys that are named go before those that merely wait their turn, and begin even while everything that works or waits
   * hangs.
   */
  probe(scope: string, keys?: readonly string[]): void {
    const active = this.#core.scopes.get(scope);
    if (active === undefined) return;
    if (keys === undefined) {
      active.probingAll = true;
      this.#agenda.add({ kind: "sweep", active }, true);
    }
    for (const key of keys ?? []) {
      const state = active.key(key);
      state.probing = true;
      state.needed = true;
      this.#agenda.add({ kind: "key", active, key });
    }
  }

  /**
   * What became of work that a run answered with `starting`, or a change in how a converged route does. Ignored when the
   * token is not of what is desired now, in the scope's present epoch.
   */
  report(token: RouteToken, outcome: RunOutcome): void {
    const active = this.#activeOf(token);
    if (active === undefined) return;
    active.key(token.key).report = { generation: token.generation, outcome };
    this.#agenda.add({ kind: "key", active, key: token.key }, true);
  }

  /**
   * A route, or what was to become one, is gone by itself: it is not observed any more, and its key is due. With an `error`
   * that is a failure of the key like any other. Ignored for a route that was replaced or fenced.
   */
  exited(token: RouteToken, error?: unknown): void {
    const active = this.#activeOf(token);
    if (active !== undefined) this.#agenda.add({ kind: "exit", active, token, error }, true);
  }

  /**
   * A route has lost what it stands on, and the store could not take that in: it is fenced now, as by a transaction that was
   * rolled back after its plan, and its key is planned anew after a pause. Ignored for a token of another epoch.
   */
  revoke(token: RouteToken): void {
    if (this.#activeOf(token) !== undefined) this.#planning.revoke(token.scope, token.key, token.generation);
  }

  /**
   * The keys of a scope that have a row: all of them, ordered by key, or those that are named, in their order. Rejects with what the
   * store rejects with.
   */
  async status(scope: string, keys?: readonly string[]): Promise<readonly KeyStatus[]> {
    const rows = await this.#core.store.read((tx) =>
      keys === undefined ? tx.convergence.listScope(scope) : rowsOf(tx, scope, keys),
    );
    const active = this.#core.scopes.get(scope);
    // A scope that is shut: nothing goes on, and nothing that was observed counts.
    const looked = active ?? new ActiveScope(scope, "");
    return rows.map((row) =>
      describeKey(
        row,
        {
          epoch: active?.epoch,
          verdict: this.#agenda.judge(looked, row),
          lane: this.#core.queue.stateOf(keyLane(scope, row.key)),
        },
        this.#core.config,
      ),
    );
  }

  /**
   * Counts since this controller was made, and what is the case now. Reads no store: a key counts since it was first looked
   * at in the scope's epoch. Costs a step for each key of the active scopes.
   */
  metrics(): ReconcileMetrics {
    const { metrics, queue, scopes } = this.#core;
    return metrics.snapshot({ depth: queue.depth, scopes: scopes.values() });
  }

  /** Resolves when nothing is queued and nothing runs. Keys that wait for a report or for their next attempt don't count. */
  idle(): Promise<void> {
    return this.#core.queue.whenIdle();
  }

  /** Shuts all scopes, and resolves when every run has ended or was abandoned. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const scope of this.#core.scopes.keys()) this.shutScope(scope);
    this.#core.alarms.cancelAll();
    await this.#core.queue.close(cancelled("closed"));
    this.#core.events.end();
  }

  #activeOf({ scope, epoch }: RouteToken): ActiveScope | undefined {
    const active = this.#core.scopes.get(scope);
    return active?.epoch === epoch ? active : undefined;
  }

  #work(job: Job, lane: LaneContext): Promise<void> {
    switch (job.kind) {
      case "key":
        return this.#runs.run(job.active, job.key, lane);
      case "sweep":
        return this.#sweeps.run(job.active, lane);
      case "exit":
        return this.#exits.run(job.active, job.token, job.error);
    }
  }

  #onAbandoned(job: Job, reason: unknown): void {
    if (job.kind === "key") this.#runs.abandon(job.active, job.key, reason);
  }

  /** Rows are looked at once in a while even if every hint was lost. */
  #scheduleResync(): void {
    const at = this.#core.clock.now() + this.#core.config.resyncIntervalMs;
    this.#core.alarms.set(RESYNC, at, () => {
      void this.#core.events.prune();
      for (const scope of this.#core.scopes.keys()) this.wake(scope);
      this.#scheduleResync();
    });
  }
}

async function rowsOf(tx: ConvergenceTx, scope: string, keys: readonly string[]): Promise<ConvergenceRow[]> {
  const rows: ConvergenceRow[] = [];
  for (const key of keys) {
    const row = await tx.convergence.get(scope, key);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}
