import { type ErrorCode, isRemoteConnectorError, type RemoteConnectorError } from "../../errors.js";
import { readRetryAfterMs, RpcCode } from "../../protocol/index.js";
import { readRefusal, type SubscriptionEnd } from "./subscription-end.js";

/** How the pauses between subscriptions grow. */
export interface ReopenConfig {
  readonly firstReopenDelayMs: number;
  readonly longestReopenDelayMs: number;
  readonly random: () => number;
  /** Unix time in milliseconds. */
  readonly wallNow: () => number;
}

/** What follows the end of a subscription. `failures` is how many there were in a row, this end included. */
export type ReopenPlan =
  | { readonly kind: "stop" }
  | { readonly kind: "reopen"; readonly delayMs: number; readonly failures: number };

const OURS_FOR_GOOD: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "internal_error",
  "invalid_argument",
  "invalid_header",
  "invalid_options",
  "invalid_url",
  "limit_exceeded",
  "not_admitted",
  "redirect_refused",
  "unsupported_version",
]);

/** Queues of ours, which were full when a subscription was to be opened. */
const PASSING_LIMITS: ReadonlySet<string> = new Set(["maxQueuedMessages", "maxQueuedRequests"]);

const PEERS_FOR_GOOD: ReadonlySet<number> = new Set<number>([RpcCode.invalidParams, RpcCode.invalidRequest]);

/**
 * Decides whether and when a subscription is opened again. Pure but for its ports.
 *
 * Never after our own end, a missing method or capability, a missing authorization, or what would fail in the same way again. After
 * an end in peace: the longest pause. After a failure the pause doubles with each in a row, one that comes after the
 * subscription was open for the longest pause being the first again. Half of each pause is random; a server's
 * `Retry-After` is the least. `openMs`: how long it was acknowledged, `undefined` for never.
 */
export function planReopen(
  end: SubscriptionEnd,
  before: { readonly failures: number; readonly openMs: number | undefined },
  { firstReopenDelayMs, longestReopenDelayMs, random, wallNow }: ReopenConfig,
): ReopenPlan {
  const jittered = (delayMs: number): number => Math.ceil((delayMs * (1 + random())) / 2);
  switch (end.kind) {
    case "cancelled":
      return { kind: "stop" };
    case "completed":
    case "ended_by_server":
      return { kind: "reopen", delayMs: jittered(longestReopenDelayMs), failures: 0 };
    case "refused":
    case "broken": {
      if (isForGood(end.error)) return { kind: "stop" };
      const wasStable = before.openMs !== undefined && before.openMs >= longestReopenDelayMs;
      const earlier = wasStable ? 0 : before.failures;
      const delayMs = jittered(Math.min(longestReopenDelayMs, firstReopenDelayMs * 2 ** Math.min(earlier, 40)));
      const least = isRemoteConnectorError(end.error) ? readRetryAfterMs(end.error, wallNow()) : undefined;
      return { kind: "reopen", delayMs: Math.max(delayMs, least ?? 0), failures: earlier + 1 };
    }
  }
}

function isForGood(error: RemoteConnectorError): boolean {
  if (isRemoteConnectorError(error, "limit_exceeded") && PASSING_LIMITS.has(error.details.option)) return false;
  if (readRefusal(error) !== "other" || OURS_FOR_GOOD.has(error.code)) return true;
  return isRemoteConnectorError(error, "peer_error") && PEERS_FOR_GOOD.has(error.details.rpcCode);
}
