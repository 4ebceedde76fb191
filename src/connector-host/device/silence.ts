import { deliveryOf, type ErrorCode, isRemoteConnectorError } from "../../errors.js";

/** Requests in a row that nobody answered after which a server is asked whether it is there at all. */
export const STRIKES = 3;

const UNANSWERED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "connect_failed",
  "connection_broken",
  "stream_ended",
  "timeout",
]);

/**
 * What the failure of a request says of its server's life. Pure.
 *
 * `silence`: it did not answer, or could not be reached. `life`: it answered. `nothing`: our own side ended the request. That one
 * request took too long is no more than that.
 */
export function classifySilence(error: unknown): "silence" | "life" | "nothing" {
  if (isRemoteConnectorError(error) && UNANSWERED.has(error.code)) return "silence";
  return deliveryOf(error) === "answered" ? "life" : "nothing";
}
