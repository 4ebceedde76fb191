import type { Planner, Reconciler, Routes } from "./host-ports.js";
import type { ReconcileLimits } from "./limits.js";
import type { Clock, ConvergenceTx, Random, UnitOfWork } from "./ports.js";

/** What a `Controller` is made of. */
export interface ControllerOptions<Tx extends ConvergenceTx, Facts> {
  /** Has no other controller: what this one did not write it does not hear of. */
  readonly store: UnitOfWork<Tx>;
  readonly clock: Clock;
  readonly random: Random;
  /** A text that was never used as an epoch before, not by an earlier process either: a random UUID. */
  readonly mintEpoch: () => string;
  readonly planner: Planner<Tx, Facts>;
  readonly routes: Routes;
  readonly reconciler: Reconciler;
  readonly limits?: ReconcileLimits | undefined;
}

/** Their names. */
export const CONTROLLER_OPTIONS: readonly (keyof ControllerOptions<ConvergenceTx, unknown>)[] = [
  "store",
  "clock",
  "random",
  "mintEpoch",
  "planner",
  "routes",
  "reconciler",
  "limits",
];
