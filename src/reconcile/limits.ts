import { countOption, durationOption, refuseUnknownOptions } from "../options.js";

/** How much at once, and how patiently. Durations are milliseconds. */
export interface ReconcileLimits {
  /** Runs that work at the same time. 8. */
  readonly maxWorking?: number | undefined;
  /** Runs beside those that begin before their turn, for keys that something needs now (`Controller.probe`). 4. */
  readonly maxNeeded?: number | undefined;
  /**
   * Runs that gave their place up while they wait, and as many again of those that began before their turn. 64; beyond that a
   * waiting run keeps its place.
   */
  readonly maxWaiting?: number | undefined;
  /** A wait that is longer gives the place up. 2,000. */
  readonly yieldAfterMs?: number | undefined;
  /** A run that takes longer is aborted. 120,000. */
  readonly runTimeoutMs?: number | undefined;
  /** An aborted run that has not ended by then is left to itself. 3,000. */
  readonly abandonAfterMs?: number | undefined;
  /** The pause after a failure, before jitter: this at first, 1,000, doubling each time. */
  readonly firstBackoffMs?: number | undefined;
  /** The pause after a failure grows up to this. 60,000. */
  readonly maxBackoffMs?: number | undefined;
  /** Failures that count, in a row, after which a key is parked. 6. */
  readonly failureBudget?: number | undefined;
  /** A key that was ready for this long starts with a clean record. 60,000. */
  readonly healthyAfterMs?: number | undefined;
  /** A parked key is tried this often. 300,000. */
  readonly probeIntervalMs?: number | undefined;
  /** Every key of every active scope is looked at this often, in case nothing else did. 300,000. */
  readonly resyncIntervalMs?: number | undefined;
  /** Transitions that are kept for those who read them at their own pace. 10,000. */
  readonly maxKeptEvents?: number | undefined;
  /** No transition is kept for longer. 3,600,000. */
  readonly keepEventsMs?: number | undefined;
}

/** {@link ReconcileLimits} with nothing left open. */
export type ReconcileConfig = { readonly [Name in keyof ReconcileLimits]-?: number };

const DEFAULTS: ReconcileConfig = {
  maxWorking: 8,
  maxNeeded: 4,
  maxWaiting: 64,
  yieldAfterMs: 2_000,
  runTimeoutMs: 120_000,
  abandonAfterMs: 3_000,
  firstBackoffMs: 1_000,
  maxBackoffMs: 60_000,
  failureBudget: 6,
  healthyAfterMs: 60_000,
  probeIntervalMs: 300_000,
  resyncIntervalMs: 300_000,
  maxKeptEvents: 10_000,
  keepEventsMs: 3_600_000,
};

/** The limits with their defaults. Throws `invalid_options` for an unknown name or a value out of range. */
export function resolveReconcileLimits(limits: ReconcileLimits = {}): ReconcileConfig {
  refuseUnknownOptions(limits, Object.keys(DEFAULTS));
  const count = (name: keyof ReconcileConfig, least = 1): number =>
    countOption(name, limits[name], DEFAULTS[name], least);
  const duration = (name: keyof ReconcileConfig): number => durationOption(name, limits[name], DEFAULTS[name]);
  return {
    maxWorking: count("maxWorking"),
    maxNeeded: count("maxNeeded"),
    maxWaiting: count("maxWaiting", 0),
    yieldAfterMs: duration("yieldAfterMs"),
    runTimeoutMs: duration("runTimeoutMs"),
    abandonAfterMs: duration("abandonAfterMs"),
    firstBackoffMs: duration("firstBackoffMs"),
    maxBackoffMs: duration("maxBackoffMs"),
    failureBudget: count("failureBudget"),
    healthyAfterMs: duration("healthyAfterMs"),
    probeIntervalMs: duration("probeIntervalMs"),
    resyncIntervalMs: duration("resyncIntervalMs"),
    maxKeptEvents: count("maxKeptEvents"),
    keepEventsMs: duration("keepEventsMs"),
  };
}
