import { RemoteConnectorError } from "../errors.js";
import type { ActiveScope } from "./active-scope.js";
import { backoffMs } from "./backoff.js";
import { keyLane, laneOf, type Core, type Job } from "./core.js";
import { decideDue, type DueVerdict } from "./due.js";
import { isParked } from "./failure-budget.js";
import type { ConvergenceRow, ConvergenceTx } from "./ports.js";

/** What runs next: turns verdicts on rows into queued keys and alarms. */
export class Agenda<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;

  constructor(core: Core<Tx, Facts>) {
    this.#core = core;
  }

  /** Whether this activation of the scope is still the present one. */
  isCurrent(active: ActiveScope): boolean {
    return this.#core.scopes.get(active.scope) === active;
  }

  /** Makes a job run, unless its scope was shut meanwhile. `urgent`: without waiting for its turn, and without a slot. */
  add(job: Job, urgent = false): void {
    if (!this.isCurrent(job.active)) return;
    // A key that is queued has a state, so that shutting the scope finds it.
    const needed = job.kind === "key" && job.active.key(job.key).needed;
    this.#core.queue.add(laneOf(job), job, urgent ? "urgent" : needed ? "needed" : "ordinary");
  }

  /** The verdict on a row at this moment. */
  judge(active: ActiveScope, row: ConvergenceRow): DueVerdict {
    const state = active.find(row.key);
    const { generation, enabled } = row.desired;
    return decideDue(row, {
      epoch: active.epoch,
      now: this.#core.clock.now(),
      holds: enabled && this.#core.routes.holds(row.scope, row.key, generation),
      starting: state?.phase.kind === "starting" && state.phase.generation === generation,
      probing: state?.probing === true,
    });
  }

  /**
   * Acts on the verdict on a row that has just been read or written: queues the key, or sets its alarm. `known`: there are
   * facts of the key; without them its row goes as soon as it is converged.
   */
  consider(active: ActiveScope, row: ConvergenceRow, known: boolean): void {
    if (!this.isCurrent(active)) return;
    const job: Job = { kind: "key", active, key: row.key };
    // Disabling needs no slot: it must not wait behind runs that wait for the network.
    const urgent = !row.desired.enabled;
    const lane = keyLane(row.scope, row.key);
    this.#core.alarms.cancel(lane);
    const verdict = this.judge(active, row);
    const state = active.key(row.key);
    state.pause = verdict.kind !== "later" ? undefined : isParked(row, this.#core.config) ? "parked" : "waiting";
    if (verdict.kind === "converged") state.endProbing();
    if (verdict.kind === "run") this.add(job, urgent);
    else if (verdict.kind === "later") this.#core.alarms.set(lane, verdict.at, () => this.add(job, urgent));
    else if (verdict.kind === "converged" && !known) this.add(job, true);
  }

  /**
   * The key was fenced, and what it was fenced for was rolled back. Nobody may ever plan it again, for instance when the cause
   * is gone by the next time: it is planned after a pause. The pause grows with each rollback, and begins anew each time, so
   * that whoever tries again and again to revoke the key does so before it comes back.
   */
  planAfterRollback(active: ActiveScope, key: string): void {
    const { alarms, clock, config } = this.#core;
    const state = active.key(key);
    const now = clock.now();
    const inARow = state.rolledBackAt !== undefined && now - state.rolledBackAt < config.resyncIntervalMs;
    state.rollbacks = inARow ? state.rollbacks + 1 : 1;
    state.rolledBackAt = now;
    const pauseMs = Math.min(config.maxBackoffMs, config.firstBackoffMs * 2 ** state.rollbacks);
    const job: Job = { kind: "key", active, key };
    alarms.set(laneOf(job), now + pauseMs, () => this.add(job, true));
  }

  /** A store or a port failed in a job: says so, and does the job again after a pause that grows. */
  trouble(job: Job, error: unknown): void {
    const { active } = job;
    const key = job.kind === "exit" ? job.token.key : job.kind === "key" ? job.key : undefined;
    this.#core.events.notify({ kind: "trouble", scope: active.scope, key, error });
    if (!this.isCurrent(active)) return;
    const record = key === undefined ? active : active.key(key);
    record.troubles += 1;
    const pauseMs = backoffMs(record.troubles, this.#core.random, this.#core.config);
    this.#core.alarms.set(laneOf(job), this.#core.clock.now() + pauseMs, () => this.add(job, true));
  }

  /** Tells the key's run to end. */
  abort(scope: string, key: string, reason: string): void {
    this.#core.queue.abort(keyLane(scope, key), cancelled(reason));
  }
}

/** Why a run is told to end from our side. */
export function cancelled(reason: string): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", { message: `The run was ended: ${reason}.`, details: { reason } });
}
