/** Boots a host with many connectors, of which one is slow and one is dead: `boot-child ORIGIN COUNT`. Sends a {@link Boot}. */
import { expectSame } from "../support/bar.js";
import { closedHost, publish } from "./open-host.js";
import { tellCpu } from "./tell-cpu.js";

/** How it went. */
export interface Boot {
  /** When the last of the others was published, in milliseconds after the sign-in. */
  readonly othersMs: number;
  /** When the slow one was. */
  readonly slowMs: number;
  /** Bytes that each connector holds while nothing happens. */
  readonly idleBytes: number;
}

const [origin = "", count = ""] = process.argv.slice(2);
const others = Array.from({ length: Number(count) - 2 }, (_, i) => `connector-${String(i)}`);
// In the middle of the others, so that neither comes first or last.
const keys = [...others.slice(0, others.length / 2), "slow", "dead", ...others.slice(others.length / 2)];

tellCpu();
const host = await closedHost({ baseUrl: origin, keys });
const before = await held();
const published = await publish(host, keys.length - 1);
const slowMs = published.get("slow") ?? Number.NaN;
expectSame("the dead one is published", published.has("dead"), false);
const othersMs = Math.max(...others.map((key) => published.get(key) ?? Number.NaN));
const idleBytes = ((await held()) - before) / keys.length;
const boot: Boot = { othersMs, slowMs, idleBytes };
process.send?.(boot);

/** Bytes on the heap and beside it, once all that can go has gone. */
async function held(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
