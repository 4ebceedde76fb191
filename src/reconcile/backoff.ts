import type { Random } from "./ports.js";

/** How a pause grows. */
export interface BackoffConfig {
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
}

/**
 * The pause before the try that follows failure number `attempt` (1 is the first), in whole milliseconds.
 *
 * Full jitter: anything from nothing to the whole pause, so that many who failed together don't come back together.
 */
export function backoffMs(attempt: number, random: Random, config: BackoffConfig): number {
  const doubled = config.firstBackoffMs * 2 ** Math.max(0, attempt - 1);
  return Math.floor(random() * Math.min(config.maxBackoffMs, doubled));
}
