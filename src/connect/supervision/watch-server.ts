import type { RemoteConnectorError } from "../../errors.js";
import type { SubscriptionEnd } from "../../modern-client/index.js";
import type { Clock } from "../../transport/index.js";
import type { McpClient } from "../mcp-client.js";
import { isEndOfProcess } from "./end-of-process.js";

export const TOOLS_CHANGED = "notifications/tools/list_changed";

/** After a subscription that ended although the process lives. */
const PAUSE_MS = 60_000;

/** What of a client is needed. */
export type Watched = Pick<McpClient, "era" | "listen">;

export interface WatchPorts {
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
  readonly clock: Clock;
}

/**
 * Watches a server by a subscription: for changes of its tools, and for the end of its process, which breaks every subscription.
 *
 * Resolves with what ended the process; never for a modern server that has no subscriptions.
 */
export async function watchServer(client: Watched, ports: WatchPorts): Promise<RemoteConnectorError> {
  const { signal, clock } = ports;
  for (let isFirst = true; ; isFirst = false) {
    const end = await subscribe(client, ports, isFirst);
    if (end.kind === "broken" && isEndOfProcess(end.error)) return end.error;
    if (end.kind === "cancelled" || end.kind === "refused") return never();
    if (!(await pause(clock, signal))) return never();
  }
}

async function subscribe(
  client: Watched,
  { signal, onToolsChanged }: WatchPorts,
  isFirst: boolean,
): Promise<SubscriptionEnd> {
  // Changes of a legacy server come as notifications of its session, before it is open, too.
  const isModern = client.era === "modern";
  const subscription = client.listen(isModern ? { toolsListChanged: true } : {}, { signal });
  if (isModern && !isFirst) subscription.acknowledged.then(onToolsChanged, ignore);
  try {
    for await (const { method } of subscription) if (isModern && method === TOOLS_CHANGED) onToolsChanged();
  } catch {
    // The end says why.
  }
  return subscription.closed;
}

/** False when the watch ended meanwhile. */
function pause(clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (goesOn: boolean): void => {
      signal.removeEventListener("abort", onAbort);
      cancel();
      resolve(goesOn);
    };
    const onAbort = (): void => end(false);
    const cancel = clock.schedule(PAUSE_MS, () => end(true));
    signal.addEventListener("abort", onAbort);
  });
}

function never(): Promise<never> {
  return new Promise(ignore);
}

function ignore(): void {
  // The end of the subscription says it.
}
