import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";

export interface Budget {
  readonly clock: Clock;
  readonly limitMs: number;
  /** The option that sets the limit. */
  readonly option: string;
  readonly signal: AbortSignal;
}

/**
 * Waits for `promise`, but no longer than the budget and the signal allow. What is waited for is not ended: others may
 * wait for it too. Rejects with `timeout` (`unknown`), or the signal's reason.
 */
export function within<T>(promise: Promise<T>, budget: Budget): Promise<T> {
  const { clock, limitMs, option, signal } = budget;
  return new Promise((resolve, reject) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(signal.reason);
    };
    const cancel = clock.schedule(limitMs, () => {
      end();
      const message = `Nothing came within ${String(limitMs)} ms (${option}).`;
      reject(
        new RemoteConnectorError("timeout", {
          message,
          delivery: "unknown",
          details: { phase: "total", option, limitMs },
        }),
      );
    });
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    promise.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
