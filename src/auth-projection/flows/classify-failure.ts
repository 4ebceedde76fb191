import { type ErrorCode, isRemoteConnectorError } from "../../errors.js";
import { parseRetryAfter } from "../../protocol/index.js";
import type { FlowReason } from "../ports.js";

/** What a failed request to the control plane means for its flow. */
export interface FlowFailure {
  /**
   * - `passing`: it may go better another time.
   * - `account`: the account's credentials are missing or refused; it may come back.
   * - `lasting`: it would fail again.
   */
  readonly kind: "passing" | "account" | "lasting";
  readonly reason: FlowReason;
  /** The control plane's code, or ours. */
  readonly errorCode: string | undefined;
}

/** Statuses of refusals that pass, where the control plane does not say itself. */
const PASSING = new Set([408, 425, 429]);

/** Failures on the way, and of the product's own authorizer. */
const ON_THE_WAY: ReadonlySet<ErrorCode> = new Set([
  "authorize_failed",
  "cancelled",
  "connect_failed",
  "connection_broken",
  "timeout",
]);

/** Classifies what a request was rejected with. Pure and total; text is never looked at. */
export function classifyFailure(error: unknown): FlowFailure {
  if (!isRemoteConnectorError(error)) return { kind: "lasting", reason: "invalid_answer", errorCode: undefined };
  const errorCode = error.code;
  if (isRemoteConnectorError(error, "control_plane_error")) {
    const { status, controlCode, retryable } = error.details;
    const passes = retryable ?? (status >= 500 || PASSING.has(status));
    return {
      kind: passes ? "passing" : "lasting",
      reason: "refused",
      errorCode: controlCode ?? `http_${String(status)}`,
    };
  }
  if (errorCode === "account_not_ready") return { kind: "account", reason: "refused", errorCode };
  if (!ON_THE_WAY.has(errorCode)) return { kind: "lasting", reason: "invalid_answer", errorCode };
  const lasts = isRemoteConnectorError(error, "connect_failed") && error.details.lasting === true;
  return { kind: lasts ? "lasting" : "passing", reason: "unreachable", errorCode };
}

const LONGEST_ASKED_MS = 60_000;

/** How long to pause after a failure: as long as was meant, or as the control plane asks for, up to a minute. Pure. */
export function pauseAfter(error: unknown, ownMs: number, nowMs: number): number {
  if (!isRemoteConnectorError(error, "control_plane_error")) return ownMs;
  const askedMs = parseRetryAfter(error.details.retryAfter, nowMs) ?? 0;
  return Math.max(ownMs, Math.min(askedMs, LONGEST_ASKED_MS));
}
