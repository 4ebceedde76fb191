import type { KeyStatus } from "../../reconcile/index.js";
import type { ConnectorState } from "../status/index.js";
import type { Obstacle } from "./plan-connector.js";
import type { AuthorizationDemanded, UnsettledFault } from "./unsettled-faults.js";

export interface ConnectorStatus {
  readonly connectorKey: string;
  readonly state: ConnectorState;
  /** A code for why; `undefined` when there is nothing to say. */
  readonly reason: string | undefined;
  /** Epoch milliseconds. */
  readonly since: number | undefined;
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number | undefined;
}

/** Everything that a status is read from. */
export interface StatusFacts {
  readonly connectorKey: string;
  /** What stands in the way by the account's facts; `signed_out` when there is no account. */
  readonly obstacle: Obstacle | "signed_out" | undefined;
  /** `undefined` while nothing was planned yet. */
  readonly convergence: KeyStatus | undefined;
  /** Whether readers see a route of it. */
  readonly isPublished: boolean;
  /** Why the last list left it out, although it is published. */
  readonly omission?: string | undefined;
  /** What was learnt of it and is not in the store yet. */
  readonly unsettled?: UnsettledFault | undefined;
}

/** The one place that says what a connector is at. Pure. */
export function describeConnector(facts: StatusFacts): ConnectorStatus {
  const { connectorKey, convergence, unsettled } = facts;
  const { state, reason } = stateOf(facts);
  // What was learnt later than the row was written, which knows no time for it.
  const isNews = unsettled !== undefined && unsettled.reason === reason;
  return {
    connectorKey,
    state,
    reason,
    since: isNews ? unsettled.since : convergence?.since,
    nextAttemptAt: isNews || !isWaiting(convergence) ? undefined : convergence?.nextAttemptAt,
  };
}

interface StateAndReason {
  readonly state: ConnectorState;
  readonly reason: string | undefined;
}

function stateOf(facts: StatusFacts): StateAndReason {
  const { convergence, isPublished, omission, unsettled } = facts;
  const obstacle = facts.obstacle ?? demandIn(unsettled);
  switch (obstacle) {
    case "signed_out":
    case "authorization_required":
    case "reauthorization_required":
      return { state: "authorization_required", reason: obstacle };
    case "account_not_ready":
      return { state: "offline", reason: obstacle };
    case "release_mismatch":
    case "switched_off":
    case "paused":
    case "uninstalling":
      return { state: "disabled", reason: obstacle };
    case "invalid_release":
      return { state: "failed", reason: obstacle };
    case undefined:
      if (unsettled?.kind === "lost" && !isPublished) return whileWaiting(unsettled.reason, false);
      return byConvergence(convergence, isPublished, omission);
  }
}

function byConvergence(
  convergence: KeyStatus | undefined,
  isPublished: boolean,
  omission: string | undefined,
): StateAndReason {
  const reason = convergence?.lastError?.code;
  switch (convergence?.activity) {
    case "converged":
      if (!isPublished) return { state: "starting", reason };
      if (omission !== undefined) return { state: "degraded", reason: omission };
      return { state: convergence.readiness === "degraded" ? "degraded" : "ready", reason: undefined };
    case "waiting":
      return whileWaiting(reason, isPublished);
    case "parked":
      // However often it was tried: a person has to act.
      if (reason === "authorization_required") return whileWaiting(reason, isPublished);
      return { state: "failed", reason };
    case "failed":
      return { state: "failed", reason };
    case "queued":
    case "running":
    case "starting":
    case "inactive":
    case undefined:
      return { state: isPublished ? "ready" : "starting", reason };
  }
}

function whileWaiting(reason: string | undefined, isPublished: boolean): StateAndReason {
  if (reason === "authorization_required") return { state: "authorization_required", reason };
  return { state: isPublished ? "degraded" : "offline", reason };
}

function demandIn(unsettled: UnsettledFault | undefined): AuthorizationDemanded | undefined {
  return unsettled?.kind === "demanded" ? unsettled.reason : undefined;
}

/** One that is being tried has no next attempt yet. */
function isWaiting(convergence: KeyStatus | undefined): boolean {
  return convergence?.activity === "waiting" || convergence?.activity === "parked";
}
