import type { ActiveScope } from "./active-scope.js";
import type { Alarms } from "./alarms.js";
import type { EventLog } from "./events.js";
import type { Planner, Reconciler, RouteToken, Routes } from "./host-ports.js";
import type { KeyedQueue } from "./keyed-queue.js";
import type { ReconcileConfig } from "./limits.js";
import type { MetricsRecorder } from "./metrics.js";
import type { Clock, ConvergenceTx, Random, UnitOfWork } from "./ports.js";

/** A piece of work of a controller. Each has a lane: see {@link laneOf}. */
export type Job =
  | { readonly kind: "key"; readonly active: ActiveScope; readonly key: string }
  | { readonly kind: "sweep"; readonly active: ActiveScope }
  | { readonly kind: "exit"; readonly active: ActiveScope; readonly token: RouteToken; readonly error: unknown };

/** What the parts of a controller share. */
export interface Core<Tx extends ConvergenceTx, Facts> {
  readonly store: UnitOfWork<Tx>;
  readonly clock: Clock;
  readonly random: Random;
  readonly planner: Planner<Tx, Facts>;
  readonly routes: Routes;
  readonly reconciler: Reconciler;
  readonly config: ReconcileConfig;
  readonly events: EventLog<Tx>;
  readonly metrics: MetricsRecorder;
  readonly alarms: Alarms;
  readonly queue: KeyedQueue<Job>;
  /** Scopes that are active, each with its present epoch. A scope that is not here is shut. */
  readonly scopes: Map<string, ActiveScope>;
}

/** The lane of a scope's sweeps. */
export function sweepLane(scope: string): string {
  return JSON.stringify([scope]);
}

/** The lane of a key. It outlives epochs: one run at a time means that of an earlier login too. */
export function keyLane(scope: string, key: string): string {
  return JSON.stringify([scope, key]);
}

/** The lane of a job. */
export function laneOf(job: Job): string {
  switch (job.kind) {
    case "key":
      return keyLane(job.active.scope, job.key);
    case "sweep":
      return sweepLane(job.active.scope);
    case "exit": {
      const { scope, key, generation, epoch } = job.token;
      return JSON.stringify([scope, key, generation, epoch]);
    }
  }
}
