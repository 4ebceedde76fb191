import { isRemoteConnectorError } from "../errors.js";
import type { SharedStoreClock } from "./shared-options.js";

/** Pauses between tries: short at first, since transactions are. */
const LONGEST_PAUSE_MS = 50;

/**
 * Tries again what others keep busy, until that was waited for long enough. Rejects with the last `store_in_use` then, and at
 * once with anything else. Between the tries the process goes on with other things.
 */
export async function patiently<T>(clock: SharedStoreClock, timeoutMs: number, attempt: () => T): Promise<T> {
  let waitedMs = 0;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return attempt();
    } catch (error) {
      if (!isRemoteConnectorError(error, "store_in_use") || waitedMs >= timeoutMs) throw error;
    }
    // Counted, not measured: a clock that is set back must not make this wait forever.
    waitedMs += pauseMs;
    await new Promise<void>((resolve) => clock.schedule(pauseMs, resolve));
  }
}
