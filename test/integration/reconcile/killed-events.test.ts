import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { decodeTransition } from "../../../src/reconcile/event-form.js";
import type { ConvergenceRow, TransitionEvent } from "../../../src/reconcile/index.js";
import { openSqliteStore } from "../../../src/store/index.js";
import { type CompiledStore, compileStore } from "../store/store-program.js";

/**
 * Plans, converges, loses and removes a few keys, and dies at the n-th transaction: within it, after its commit and before anyone
 * is told, or after everyone was told. Says what a subscriber was told and what a reader has read.
 */
const PROGRAM = `
  import { randomUUID } from "node:crypto";
  import { writeSync } from "node:fs";
  import { Controller } from "./reconcile/index.js";

  const [directory, after, point, nth] = args;
  const say = (...words) => writeSync(1, words.join(" ") + "\\n");
  const die = () => process.kill(process.pid, "SIGKILL");
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const file = await openSqliteStore({ directory });
  let writes = 0;
  const store = {
    read: (work) => file.read(work),
    write: (work) => {
      writes += 1;
      const dies = writes === Number(nth);
      return file.write(async (tx) => {
        if (dies && point === "committed") tx.onSettled(die);
        const result = await work(tx);
        if (dies && point === "within") die();
        if (dies && point === "told") tx.onSettled(die);
        return result;
      });
    },
  };
  const published = new Map();
  const controller = new Controller({
    store,
    clock: { now: Date.now, schedule: (ms, run) => { const timer = setTimeout(run, ms); return () => clearTimeout(timer); } },
    random: () => 0,
    mintEpoch: randomUUID,
    planner: {
      keys: async (tx, scope) => (await tx.projections.list(scope)).map((row) => row.connectorKey),
      facts: async (tx, scope, key) => (await tx.projections.get(scope, key))?.epoch,
      plan: (identity) => ({ enabled: true, identity, transition: "revoke" }),
    },
    routes: {
      fence: (_scope, key, generation) => { if ((published.get(key)?.generation ?? Infinity) <= generation) published.delete(key); },
      holds: (_scope, key, generation) => published.get(key)?.generation === generation,
    },
    reconciler: {
      reconcile: async (context) => {
        if (context.enabled) published.set(context.key, context);
        return { kind: "done", readiness: "ready" };
      },
      classifyFault: () => ({ counts: true }),
    },
  });
  controller.events.subscribe(({ kind, seq }) => say("told", kind, seq));
  const reading = (async () => {
    for await (const event of controller.events.follow({ after: Number(after) })) say("read", JSON.stringify(event));
  })();
  const set = (key, identity) => store.write(async (tx) => {
    if (identity === undefined) await tx.projections.remove("s", key);
    else await tx.projections.put({ accountId: "s", connectorKey: key, state: "connected", connectionVersion: 0n, epoch: identity,
      revision: 0n, updatedAt: 0 });
    await controller.planInTx(tx, "s", [key]);
  });
  const converged = async () => {
    do {
      await controller.idle();
      await pause(1);
    } while ((await controller.status("s")).some(({ activity }) => activity !== "converged"));
  };

  await set("a", "1");
  await set("b", "1");
  controller.activateScope("s");
  await converged();
  await set("a", "2");
  await converged();
  const route = published.get("b");
  published.delete("b");
  controller.exited(route, new Error("gone"));
  await converged();
  await set("b", undefined);
  await converged();
  await controller.close();
  await reading;
  await file.close();
  process.exit(0);
`;

/** Of a row, what its transitions tell. */
interface Known {
  readonly generation: number;
  readonly identity: string;
  readonly runToken: number | undefined;
  readonly observed: number | undefined;
}

/** What the rows are by their transitions alone, by key. */
function replay(events: readonly TransitionEvent[]): ReadonlyMap<string, Known> {
  const rows = new Map<string, Known>();
  for (const event of events) {
    const { key } = event;
    const before = rows.get(key) ?? { generation: 0, identity: "", runToken: undefined, observed: undefined };
    if (event.kind === "planned") {
      const { generation, identity } = event;
      rows.set(key, { ...before, generation, identity, runToken: undefined });
    } else if (event.kind === "run_started") rows.set(key, { ...before, runToken: event.runToken });
    else if (event.kind === "observed") rows.set(key, { ...before, runToken: undefined, observed: event.generation });
    else if (event.kind === "lost") rows.set(key, { ...before, observed: undefined });
    else if (event.kind === "removed") rows.delete(key);
  }
  return rows;
}

function knownOf({ desired, observed, runToken }: ConvergenceRow): Known {
  const { generation, identity } = desired;
  return { generation, identity, runToken, observed: observed?.generation };
}

describe("events and a process that is killed", () => {
  let compiled: CompiledStore;
  let directory: string;

  beforeAll(async () => {
    compiled = await compileStore(["reconcile/index.ts"]);
  }, 60_000);

  afterAll(() => compiled.remove());

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "killed-events-"));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function rowsOf(): Promise<{ events: readonly TransitionEvent[]; rows: ReadonlyMap<string, Known> }> {
    const store = await openSqliteStore({ directory });
    const [facts, rows] = await store.read(async (tx) => [
      await tx.events.list(0, 100_000),
      await tx.convergence.listScope("s"),
    ]);
    await store.close();
    const events = facts.flatMap((row) => decodeTransition(row) ?? []);
    expect(events.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
    return { events, rows: new Map(rows.map((row) => [row.key, knownOf(row)])) };
  }

  it.each([
    { when: "within a transaction", point: "within" },
    { when: "after a commit, before anyone is told", point: "committed" },
    { when: "after a commit, when everyone was told", point: "told" },
  ])(
    "R-8, R-10: $when: what is kept is what was committed, and a reader goes on where it was",
    async ({ point }) => {
      const read: TransitionEvent[] = [];
      let ended = false;
      let before = 0;
      for (let nth = 1; !ended; nth += 1) {
        const place = String(read.at(-1)?.seq ?? 0);
        const program = await compiled.start(PROGRAM, directory, place, point, String(nth));
        await program.ended;
        ended = program.process.exitCode === 0;
        expect(program.process.signalCode).toBe(ended ? null : "SIGKILL");
        const lines = program.lines.map((line) => line.split(/ (.*)/));
        for (const [verb, rest = ""] of lines) if (verb === "read") read.push(JSON.parse(rest));

        const { events, rows } = await rowsOf();
        // The rows are what their transitions tell, whichever transaction was the last.
        expect(rows).toEqual(replay(events));
        // Nothing that was there is gone, and nothing was told of that is not there.
        expect(events.length).toBeGreaterThanOrEqual(before);
        before = events.length;
        const told = lines.flatMap(([verb, rest = ""]) => (verb === "told" ? [rest.split(" ")] : []));
        for (const [kind, seq] of told) {
          const event = events[Number(seq) - 1];
          if (NOTICES.has(kind ?? "")) expect(Number(seq)).toBeLessThanOrEqual(events.length);
          else expect(event?.kind).toBe(kind);
        }
        expect(read).toEqual(events.slice(0, read.length));
      }
      const { events, rows } = await rowsOf();
      expect(read).toEqual(events);
      expect([...rows.keys()]).toEqual(["a"]);
      expect(new Set(events.map(({ kind }) => kind))).toEqual(
        new Set(["planned", "run_started", "observed", "lost", "failed", "removed"]),
      );
    },
    120_000,
  );
});

const NOTICES: ReadonlySet<string> = new Set(["scope_activated", "scope_shut", "fenced", "superseded"]);
