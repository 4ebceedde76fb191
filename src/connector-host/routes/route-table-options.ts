import { countOption, durationOption, functionOption, refuseUnknownOptions } from "../../options.js";
import { type Clock, systemClock } from "../../transport/index.js";
import type { Route } from "./route.js";

/** Something that a route table had to live with. `message` is for people; decide by `kind`. */
export interface RouteDiagnostic {
  readonly kind:
    /** Closing a withdrawn route's client failed or took too long. It is tried again. */
    | "close_failed"
    /** A withdrawn route was given up: its client may still hold something. */
    | "cleanup_abandoned"
    /** Calls over a superseded route took longer than the drain limit and were aborted. */
    | "drain_expired"
    /** A listener threw. */
    | "listener_failed";
  readonly message: string;
  /** Absent for what concerns no single route. */
  readonly connectorKey?: string | undefined;
  readonly generation?: number | undefined;
  /** Attempts to close so far. */
  readonly attempts?: number | undefined;
  /** What was caught. */
  readonly cause?: unknown;
}

export interface RouteTableOptions {
  /** How long calls over a superseded route may go on before they are aborted. 60,000 when left out. */
  readonly drainTimeoutMs?: number | undefined;
  /** How long one attempt to close a client may take. 3,000 when left out. */
  readonly closeTimeoutMs?: number | undefined;
  /** Pause after the first failed attempt to close; doubles up to a minute. 1,000 when left out. */
  readonly closeRetryMs?: number | undefined;
  /** Attempts to close before a route is given up. 10 when left out. */
  readonly maxCloseAttempts?: number | undefined;
  /** Withdrawn routes of one connector that wait for their end; one more gives up the oldest. 4 when left out. */
  readonly maxRetiringPerKey?: number | undefined;
  /**
   * Whether a route may still be published, asked in the same step: what was decided about it may have changed while it was made.
   * Must not throw. Left out: every one may.
   */
  readonly mayPublish?: ((route: Pick<Route, "connectorKey" | "scope">) => boolean) | undefined;
  readonly onDiagnostic?: ((diagnostic: RouteDiagnostic) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** {@link RouteTableOptions} with nothing left open. */
export interface RouteTableConfig {
  readonly drainTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly closeRetryMs: number;
  readonly maxCloseAttempts: number;
  readonly maxRetiringPerKey: number;
  readonly mayPublish: (route: Pick<Route, "connectorKey" | "scope">) => boolean;
  readonly onDiagnostic: (diagnostic: RouteDiagnostic) => void;
  readonly clock: Clock;
}

/** Fills in defaults. Throws `invalid_options` for an unknown option or a number out of range. */
export function resolveRouteTableOptions(options: RouteTableOptions): RouteTableConfig {
  refuseUnknownOptions(options, [
    "clock",
    "closeRetryMs",
    "closeTimeoutMs",
    "drainTimeoutMs",
    "maxCloseAttempts",
    "maxRetiringPerKey",
    "mayPublish",
    "onDiagnostic",
  ]);
  return {
    drainTimeoutMs: durationOption("drainTimeoutMs", options.drainTimeoutMs, 60_000),
    closeTimeoutMs: durationOption("closeTimeoutMs", options.closeTimeoutMs, 3_000),
    closeRetryMs: durationOption("closeRetryMs", options.closeRetryMs, 1_000),
    maxCloseAttempts: countOption("maxCloseAttempts", options.maxCloseAttempts, 10),
    maxRetiringPerKey: countOption("maxRetiringPerKey", options.maxRetiringPerKey, 4),
    mayPublish: functionOption("mayPublish", options.mayPublish, () => true),
    onDiagnostic: (diagnostic) => tell(options.onDiagnostic, diagnostic),
    clock: options.clock ?? systemClock,
  };
}

function tell(hook: RouteTableOptions["onDiagnostic"], diagnostic: RouteDiagnostic): void {
  try {
    hook?.(diagnostic);
  } catch {
    // It is the place where failures are told. A cleanup must not stop because of it.
  }
}
