import type { UnmadeRequest } from "../local-server/index.js";
import { continuationRefused, type OpenedState } from "../rounds/index.js";
import { classifyState } from "./decide-asking.js";

/**
 * What a request fails with that was not made, by the state that it goes on with: what it would have gone on with may have acted, and
 * the verdict is that one's. Pure.
 */
export function explainUnmade(opened: OpenedState | undefined, error: unknown): UnmadeRequest {
  const verdict = opened === undefined ? undefined : classifyState(opened);
  if (verdict?.kind === "held") return { error, delivery: "unknown" };
  if (verdict?.kind !== "refused" || verdict.delivery !== "unknown") return { error, delivery: "not_sent" };
  return { error: continuationRefused(verdict.reason, verdict.delivery), delivery: verdict.delivery };
}
