import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/transport/index.js";
import { connect, isRunning, scripted, startsFile, verdict } from "./stdio-servers.js";

/** The clock of the system, and how many of its timers wait. */
function countingClock(): Clock & { readonly pending: number } {
  const waiting = new Set<object>();
  return {
    now: () => systemClock.now(),
    schedule(delayMs, run) {
      const timer = {};
      waiting.add(timer);
      const cancel = systemClock.schedule(delayMs, () => {
        waiting.delete(timer);
        run();
      });
      return () => {
        waiting.delete(timer);
        cancel();
      };
    },
    get pending() {
      return waiting.size;
    },
  };
}

it("F-12, L-15: 200 calls of every fate leave no listener, no timer, no pending id and no process", async () => {
  const { starts, pids } = startsFile();
  const clock = countingClock();
  const { client, valueOf } = connect(scripted({ starts }, { clock, maxConcurrentRequests: 3 }));
  const shared = new AbortController();
  const { signal } = shared;
  await client.discover();
  const kinds = {
    good: () => client.callTool({ name: "echo" }, { signal }),
    refused: () => client.callTool({ name: "nobody" }, { signal }),
    broken: () => client.callTool({ name: "no-response" }, { signal }),
    late: () => client.callTool({ name: "late", arguments: { ms: 20 } }, { signal, totalTimeoutMs: 10 }),
    aborted: () => client.callTool({ name: "silent" }, { signal: AbortSignal.any([signal, AbortSignal.timeout(5)]) }),
    fenced: () => client.callTool({ name: "echo" }, { signal, admit: () => "no" }),
    noticed: () => client.notify("notifications/example", {}, { signal }),
    subscribed: async () => {
      const subscription = client.listen({ toolsListChanged: true }, { signal });
      await subscription.acknowledged;
      subscription.close();
      await subscription.closed;
    },
  };
  const fates = Object.values(kinds);
  for (let i = 0; i < 200; i += fates.length) await Promise.all(fates.map((call) => verdict(call())));
  await verdict(client.callTool({ name: "die" }, { signal }));
  for (let i = 0; i < 5; i += 1) await Promise.all(fates.map((call) => verdict(call())));
  expect(getEventListeners(signal, "abort").length).toBe(0);
  expect(clock.pending).toBe(0);
  // It is the answer to the only request that is pending.
  await expect(client.callTool({ name: "error-without-id" })).rejects.toMatchObject({
    code: "peer_error",
    details: { withoutId: true },
  });
  await expect(valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
  await client.close();
  expect(clock.pending).toBe(0);
  expect(pids()).toHaveLength(2);
  expect(pids().filter(isRunning)).toEqual([]);
}, 30_000);
