/** Desired and observed state, and what makes them equal. Knows no MCP. */
export { Controller } from "./controller.js";
export type { ControllerOptions } from "./controller-options.js";
export type {
  EventGap,
  NoticeEvent,
  NoticeFact,
  ReconcileEvent,
  ReconcileFact,
  TransitionEvent,
  TransitionFact,
} from "./event-facts.js";
export type { ReconcileListener } from "./event-listeners.js";
export type { FollowOptions, ReconcileEvents } from "./events.js";
export { whenFull } from "./full-store.js";
export type {
  FaultClass,
  Outcome,
  Plan,
  Planner,
  Reconciler,
  RouteToken,
  Routes,
  RunContext,
  RunOutcome,
  Transition,
} from "./host-ports.js";
export type { ReconcileLimits } from "./limits.js";
export type { KeyMetrics, ReconcileMetrics, RunDurations } from "./metrics.js";
export type {
  Clock,
  ConvergenceRow,
  ConvergenceRows,
  ConvergenceTx,
  Desired,
  EventRow,
  EventRows,
  LastError,
  Observed,
  Random,
  Readiness,
  TxOutcome,
  UnitOfWork,
} from "./ports.js";
export type { KeyActivity, KeyStatus } from "./status.js";
