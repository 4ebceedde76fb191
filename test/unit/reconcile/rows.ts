import type { ConvergenceRow, Observed } from "../../../src/reconcile/index.js";
import { resolveReconcileLimits } from "../../../src/reconcile/limits.js";

export const CONFIG = resolveReconcileLimits();

/** A row that desires generation 5, enabled, and has nothing observed. */
export function rowOf(changes: Partial<ConvergenceRow> = {}): ConvergenceRow {
  return {
    scope: "s",
    key: "k",
    desired: { generation: 5, enabled: true, identity: "i" },
    observed: undefined,
    attempts: 0,
    failures: 0,
    nextAttemptAt: undefined,
    notBefore: undefined,
    runToken: undefined,
    lastError: undefined,
    updatedAt: 0,
    ...changes,
  };
}

/** The observation that makes `rowOf()` converged in epoch "e". */
export function observedOf(changes: Partial<Observed> = {}): Observed {
  return { generation: 5, epoch: "e", enabled: true, identity: "i", readiness: "ready", since: 0, ...changes };
}
