import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import type { JournaledRequest } from "../../../../src/connector-host/index.js";
import { idIn, type LivingHost, startHost, startNotingServer } from "./killed-host.js";

const KILLS = 100;
/** Hosts side by side, each with a state of its own: a machine with two cores has work while one starts. */
const LANES = 2;
const CALLS_AT_ONCE = 16;
const HELD_CALLS = 4;

const opened: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** A call of one life. */
interface Sent {
  isAnswered: boolean;
  /** The id of the call that was made when this one was answered. */
  next: string | undefined;
}

/** The server's side of one life: the first calls get no answer while it lasts, and the others get theirs soon. */
interface Life {
  readonly name: string;
  arrived: number;
  /** Settles when it is over. */
  readonly over: Promise<void>;
  readonly end: () => void;
}

function createLife(name: string): Life {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  return { name, arrived: 0, over, end };
}

/** Has so many calls under way at any time, and ends the host by force when as many have arrived, and a moment later. */
async function live(host: LivingHost, life: Life): Promise<Map<string, Sent>> {
  const sent = new Map<string, Sent>();
  const state = { isOver: false };
  let begun = 0;
  const caller = async (): Promise<void> => {
    let before: Sent | undefined;
    while (!state.isOver) {
      const id = `${life.name}/${String((begun += 1))}`;
      const call: Sent = { isAnswered: false, next: undefined };
      if (before !== undefined) before.next = id;
      before = call;
      sent.set(id, call);
      call.isAnswered = await host.call(id);
      if (!call.isAnswered && !state.isOver) throw new Error(`${id} failed before the kill`);
    }
  };
  const callers = Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
  const kill = async (): Promise<void> => {
    await vi.waitUntil(() => life.arrived >= CALLS_AT_ONCE, { timeout: 60_000, interval: 1 });
    await new Promise((go) => setTimeout(go, Math.random() * 40));
    state.isOver = true;
    await host.kill();
    life.end();
  };
  await Promise.all([kill(), callers]);
  return sent;
}

/** What the journal says of a life that was ended by force, beside what the agent and the server know of it. */
function judge(rows: readonly JournaledRequest[], sent: ReadonlyMap<string, Sent>, arrived: ReadonlySet<string>) {
  const verdicts = new Map<string, string>();
  for (const row of rows) {
    const id = idIn(row.argumentBody);
    if (!sent.has(id)) throw new Error(`A row of a call that nobody made: ${id}`);
    if (verdicts.has(id)) throw new Error(`${id} has two rows`);
    verdicts.set(id, `${row.state} ${String(row.verdict)}`);
  }
  for (const [id, { isAnswered, next }] of sent) {
    const verdict = verdicts.get(id);
    // A verdict is written with the rows that come after it, or before them.
    const isWritten = isAnswered && next !== undefined && verdicts.has(next);
    if (arrived.has(id) && verdict === undefined) throw new Error(`${id} arrived and has no row`);
    if (isWritten && verdict !== "ended answered") {
      throw new Error(`${id} was answered and is ${String(verdict)}`);
    }
    if (verdict === "ended answered" && !arrived.has(id)) throw new Error(`${id} is answered and never arrived`);
    if (verdict !== undefined && verdict !== "ended answered" && verdict !== "ended unknown") {
      throw new Error(`${id} is ${verdict}`);
    }
  }
  return [...verdicts.values()].filter((verdict) => verdict === "ended unknown").length;
}

it(
  "H-35, F-1: a host that is killed 100 times while it serves 16 calls has a row of each that was sent, repeats none, and says unknown of those that were under way",
  { timeout: 600_000 },
  async () => {
    const lives = new Map<string, Life>();
    const upstream = await startNotingServer(async (id) => {
      const life = lives.get(id.slice(0, id.indexOf("/")));
      if (life === undefined) return;
      life.arrived += 1;
      if (life.arrived <= HELD_CALLS) await life.over;
      else await new Promise((go) => setTimeout(go, Math.random() * 20));
    });
    opened.push(upstream);
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      const directory = await mkdtemp(join(tmpdir(), "journal-kills-"));
      opened.push({ close: () => rm(directory, { recursive: true, force: true }) });
      let sent = new Map<string, Sent>();
      let last = "";
      const unknown: number[] = [];
      for (let nth = 0; nth <= KILLS / LANES; nth += 1) {
        const host = await startHost(directory, upstream.url, last);
        opened.push({ close: () => host.kill() });
        if (nth > 0) {
          const count = judge(host.rows, sent, new Set(upstream.calls));
          expect(host.unknowns).toHaveLength(count);
          unknown.push(count);
        }
        last = host.rows[0]?.id ?? last;
        if (nth === KILLS / LANES) {
          await host.kill();
          break;
        }
        const life = createLife(`${String(lane)}-${String(nth)}`);
        lives.set(life.name, life);
        sent = await live(host, life);
      }
      return unknown;
    });
    const unknown = (await Promise.all(lanes)).flat();
    expect(unknown).toHaveLength(KILLS);
    // Each kill met calls that were under way: otherwise it showed nothing.
    expect(Math.min(...unknown)).toBeGreaterThanOrEqual(HELD_CALLS);
    expect(Math.max(...unknown)).toBeLessThanOrEqual(CALLS_AT_ONCE);
    expect(new Set(upstream.calls).size).toBe(upstream.calls.length);
  },
);
