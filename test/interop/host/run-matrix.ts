import { setTimeout as pause } from "node:timers/promises";
import type { Cell } from "../column.js";
import { type Access, type Agent, connectAgent } from "./agent.js";
import type { AgentKind } from "./agent-kind.js";
import type { HostColumn, HostRow } from "./host-row.js";
import { TRIAL_NAMES, type TrialName, TRIALS } from "./trials.js";
import type { Upstream } from "./upstream.js";

/** No cell takes longer. */
const CELL_MS = 15_000;
const NOT_TRIED: Cell = { kind: "failed", reason: "not connected", ms: 0 };

/** Every agent with every server, one after the other; each with a client of its own. Never rejects. */
export async function runMatrix(
  agents: readonly AgentKind[],
  upstreams: readonly Upstream[],
  access: Access,
): Promise<readonly HostRow[]> {
  const rows: HostRow[] = [];
  for (const agent of agents) {
    for (const upstream of upstreams) rows.push({ agent, upstream, cells: await runRow(agent, upstream, access) });
  }
  return rows;
}

async function runRow(kind: AgentKind, upstream: Upstream, access: Access): Promise<Record<HostColumn, Cell>> {
  let agent: Agent | undefined;
  const cells = notTried();
  cells.connect = await timed(async () => {
    agent = await connectAgent(kind, access);
    if (agent.revision !== kind.revision) throw new Error(`it speaks ${String(agent.revision)}`);
  });
  const connected = agent;
  if (connected === undefined) return cells;
  for (const name of TRIAL_NAMES) {
    const reason = upstream.lacks?.[name];
    cells[name] =
      reason === undefined ? await timed(() => TRIALS[name](connected, upstream)) : { kind: "cannot", reason };
  }
  cells.close = await timed(() => connected.close());
  return cells;
}

function notTried(): Record<HostColumn, Cell> {
  const trials: Record<TrialName, Cell> = {
    list: NOT_TRIED,
    call: NOT_TRIED,
    progress: NOT_TRIED,
    cancel: NOT_TRIED,
    prompt: NOT_TRIED,
    read: NOT_TRIED,
    subscribe: NOT_TRIED,
    elicit: NOT_TRIED,
    visit: NOT_TRIED,
    sample: NOT_TRIED,
    roots: NOT_TRIED,
  };
  return { connect: NOT_TRIED, ...trials, close: NOT_TRIED };
}

async function timed(run: () => Promise<void>): Promise<Cell> {
  const startedAt = performance.now();
  const limit = new AbortController();
  const late = pause(CELL_MS, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`nothing came of it within ${String(CELL_MS / 1_000)} s`);
  });
  try {
    await Promise.race([run(), late]);
    return { kind: "ok", ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason, ms: Math.round(performance.now() - startedAt) };
  } finally {
    late.catch(() => undefined);
    limit.abort();
  }
}
