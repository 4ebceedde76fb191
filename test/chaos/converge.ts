import { setTimeout as sleep } from "node:timers/promises";
import type { Finding } from "./finding.js";
import type { HostProcess } from "./host-process.js";
import { type AgentAccess, listTools } from "./local-agent.js";
import type { World } from "./world.js";

const LOOK_EVERY_MS = 15;

/** What became of a host that should converge. */
export type Convergence = "converged" | "dead" | Finding;

/**
 * Waits until what is published is what the world says: by the host's status, and by the list that an agent gets. A finding when
 * that takes longer than `boundMs`.
 */
export async function converge(host: HostProcess, world: World, boundMs: number): Promise<Convergence> {
  const until = Date.now() + boundMs;
  const access = await bind(host);
  let last = "nothing was answered";
  if (access === undefined) return "dead";
  for (;;) {
    const reply = await host.send({ do: "status" });
    if (reply?.kind !== "status") return "dead";
    const ready = reply.status.filter(({ state }) => state === "ready").map(({ connectorKey }) => connectorKey);
    const isReady = same(ready, world.expected);
    const tools = isReady ? await listTools(access) : undefined;
    const catalog = await host.send({ do: "catalog" });
    const isAsWished =
      catalog?.kind === "catalog" && (world.wanted === undefined || world.wishes.isWanted(catalog.found));
    if (isReady && isAsWished && tools !== undefined && same(tools, world.listed.map(toolOf))) return "converged";
    last = `expected ${world.expected.join(" ")}, got ${JSON.stringify(reply.status)}, tools ${String(tools?.join(" "))}, catalog ${JSON.stringify(catalog)}`;
    if (Date.now() > until) return { check: "convergence", says: last };
    await sleep(LOOK_EVERY_MS);
  }
}

export async function bind(host: HostProcess): Promise<AgentAccess | undefined> {
  const reply = await host.send({ do: "bind" });
  return reply?.kind === "bound" ? reply : undefined;
}

export function toolOf(key: string): string {
  return `${key}_echo`;
}

function same(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify([...some].sort()) === JSON.stringify(others);
}
