import { isRemoteConnectorError, type RemoteConnectorError } from "../errors.js";
import { isPassing, isReadMethod } from "./retry-advice.js";
import { readRetryAfterMs } from "./retry-after.js";

/** How reads are made again. */
export interface ReadRetryConfig {
  readonly maxReadRetries: number;
  readonly random: () => number;
  /** Unix time in milliseconds. */
  readonly wallNow: () => number;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * How long to wait before a request that failed is made again, in milliseconds; `undefined` when it isn't. Pure but for its
 * ports.
 *
 * Only reads are, after failures that can pass: no connection, a broken one, a stream that ended, 429, 502, 503, 504. The
 * pause doubles, with full jitter; the server's own wish comes first. A deadline that passed is the end.
 */
export function readRetryDelayMs(
  method: string,
  error: RemoteConnectorError,
  retries: number,
  { maxReadRetries, random, wallNow }: ReadRetryConfig,
): number | undefined {
  if (retries >= maxReadRetries || !isReadMethod(method)) return undefined;
  if (!isRemoteConnectorError(error) || error.code === "timeout" || !isPassing(error)) return undefined;
  const asked = readRetryAfterMs(error, wallNow());
  return asked ?? Math.floor(random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** retries));
}
