import { isModernRevision } from "../../protocol/index.js";
import type { ConnectStdioOptions } from "../connect-options.js";
import type { ServerOpening } from "./open-server.js";
import { TOOLS_CHANGED } from "./watch-server.js";

/**
 * What `connect` is told for one start. Its process may take its time, is not started again by the client, and is never doubted to
 * be of the era that it was found to be of. `leaving` gets the ends of processes that a failed start doesn't wait for.
 */
export function startOptions(
  options: Omit<ConnectStdioOptions, "signal">,
  { signal, onToolsChanged }: ServerOpening,
  leaving: Promise<void>[],
): ConnectStdioOptions {
  const { lifecycleTimeoutMs, modern, legacy, onNotification, revisions } = options;
  // Where nothing but a modern server can be meant, its silence says nothing of the era.
  const isModern = revisions?.every(isModernRevision) === true;
  return {
    ...options,
    signal,
    lifecycleTimeoutMs: lifecycleTimeoutMs ?? Infinity,
    recheckLegacyAfterMs: options.recheckLegacyAfterMs ?? Infinity,
    recheckPauseMs: options.recheckPauseMs ?? Infinity,
    modern: { restart: "never", ...(isModern ? { probeTimeoutMs: Infinity } : {}), ...modern },
    legacy: {
      ...legacy,
      onStartAbandoned: (ended) => {
        leaving.push(ended);
        legacy?.onStartAbandoned?.(ended);
      },
    },
    onNotification: (notification) => {
      if (notification.method === TOOLS_CHANGED) onToolsChanged();
      return onNotification?.(notification);
    },
  };
}
