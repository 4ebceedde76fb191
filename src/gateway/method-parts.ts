import type { RequestId } from "../protocol/index.js";
import { addMissingMembers, changeMembers } from "../serving/index.js";
import type { CallAnswer } from "./call-answer.js";
import type { AcceptedCall } from "./accepted-call.js";
import { logLine, progressLine } from "./relay.js";
import type { UpstreamCallOptions } from "./upstream.js";

/** What a legacy result lacks. */
export const COMPLETE = { resultType: '"complete"' };

/** What a legacy page or resource lacks: it may not be kept, and by nobody else. Source: 2026-07-28, Caching. */
export const CACHEABLE = { ...COMPLETE, ttlMs: "0", cacheScope: '"private"' };

/**
 * A result as it goes out. A legacy one is complete whatever it holds; a `resultType` of its own would mean something else to
 * a modern reader.
 */
export function modernResult(
  raw: Uint8Array,
  era: "legacy" | "modern",
  defaults: Readonly<Record<string, string>>,
): Uint8Array {
  return addMissingMembers(era === "legacy" ? changeMembers(raw, { resultType: undefined }) : raw, defaults);
}

/** What an upstream is told of a request: what it tells on the way goes to the caller that asked for it. */
export function callOptionsOf({ answer, call, meta }: AcceptedCall): UpstreamCallOptions {
  const { logLevel, progressToken } = call.meta;
  return {
    signal: answer.signal,
    meta,
    logLevel,
    onProgress: relayProgress(answer, progressToken),
    onNotification: (notification) => {
      const line = logLine(notification, logLevel);
      if (line !== undefined) answer.notify(line);
    },
  };
}

function relayProgress(answer: CallAnswer, token: RequestId | undefined): UpstreamCallOptions["onProgress"] {
  if (token === undefined) return undefined;
  return (progress) => answer.notify(progressLine(token, progress));
}
