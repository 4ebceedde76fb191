import { setTimeout as pause } from "node:timers/promises";
import type { ConnectorHost } from "remote-connector/connector-host";

const READY_MS = 30_000;
const LOOK_MS = 20;

/** Resolves when so many connectors of a host are ready. Rejects with what they are at when that takes too long. */
export async function whenReady(host: ConnectorHost, { count }: { readonly count: number }): Promise<void> {
  const endAt = performance.now() + READY_MS;
  for (;;) {
    const statuses = await host.status();
    if (statuses.filter(({ state }) => state === "ready").length >= count) return;
    if (performance.now() > endAt) throw new Error(`not all are ready: ${JSON.stringify(statuses)}`);
    await pause(LOOK_MS);
  }
}
