import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { applySnapshot } from "../../../src/auth-projection/apply-snapshot.js";
import { effectiveRow, parseSnapshot } from "../../../src/auth-projection/index.js";
import { clearDueOverlays } from "../../../src/auth-projection/overlays.js";
import { openSqliteStore, type Store, type StoreTx } from "../../../src/store/index.js";
import { type CompiledStore, compileStore, type StoreProgram } from "../store/store-program.js";

const START = 1_000_000;

const BODY = {
  revision: 1,
  connectors: [
    { connectorId: "github", connectorVersion: "1.0.0", state: "connected", connectionId: "c-1", connectionVersion: 4 },
  ],
};

/**
 * What one process does to one account: a transaction each. It is killed with all of them written up to number `args[1]`, or
 * within that one, when all of its work is done and nothing is committed. Every plan is a row beside what it follows from.
 */
const STEPS = `
  import { applySnapshot } from "./auth-projection/apply-snapshot.js";
  import { clearDueOverlays, writeObservation } from "./auth-projection/overlays.js";
  import { effectiveRow, parseSnapshot } from "./auth-projection/index.js";
  const store = await openSqliteStore({ directory: args[0] });
  const [stopAt, isWithin] = [Number(args[1]), args[2] === "within"];
  const snapshot = parseSnapshot(new TextEncoder().encode(args[3]));
  const observation = { connectorKey: "github", connectionId: "c-1", connectionVersion: 4n, state: "expired" };
  const accountId = "acc";
  let now = ${String(START)};
  let fetchSeq;
  const onChanged = async (tx) => {
    const row = await tx.projections.get(accountId, "github");
    const { state } = effectiveRow(row, await tx.overlays.get(accountId, "github"));
    const generation = await tx.convergence.nextGeneration();
    await tx.convergence.put({ scope: "account:acc", key: "github", attempts: 0, failures: 0, updatedAt: now,
      desired: { generation, enabled: state === "connected", identity: state } });
  };
  const start = async (tx) => { fetchSeq = await tx.projections.nextSyncSeq(accountId, now); };
  const apply = (tx) => applySnapshot(tx, { accountId, snapshot, fetchSeq, firstFetchOfScopeEpoch: false, now, onChanged });
  const observe = (tx) => writeObservation(tx, { accountId, observation, now, onChanged });
  const clear = (tx) => { now += 1_000; return clearDueOverlays(tx, accountId, now, onChanged); };
  for (const [index, step] of [start, apply, observe, start, apply, observe, start, apply, clear].entries()) {
    await store.write(async (tx) => {
      await step(tx);
      if (isWithin && index === stopAt) process.kill(process.pid, "SIGKILL");
      if (isWithin && index === stopAt) await new Promise(() => setTimeout(() => {}, 60_000));
    });
    if (index === stopAt) process.kill(process.pid, "SIGKILL");
  }
`;

/** What is on disk when so many of the steps were committed. */
const WRITTEN: readonly {
  readonly after: string;
  readonly seq: number;
  readonly state?: string;
  readonly overlay?: object;
}[] = [
  { after: "nothing", seq: 0 },
  { after: "the start of a fetch", seq: 1 },
  { after: "its apply", seq: 1, state: "connected" },
  { after: "an observation", seq: 1, state: "expired", overlay: { phase: "standing", stepMs: 0, syncSeq: 1 } },
  { after: "the start of a fetch after it", seq: 2, state: "expired", overlay: { phase: "standing", syncSeq: 1 } },
  { after: "the clearing", seq: 2, state: "connected", overlay: { phase: "cleared" } },
  { after: "the observation that comes back", seq: 2, state: "expired", overlay: { phase: "standing", stepMs: 1_000 } },
  {
    after: "the start of a fetch within its hold",
    seq: 3,
    state: "expired",
    overlay: { phase: "standing", syncSeq: 2 },
  },
  {
    after: "the recorded clearing",
    seq: 3,
    state: "expired",
    overlay: { phase: "clearing", heldUntil: START + 1_000 },
  },
  { after: "the timed clearing", seq: 3, state: "connected", overlay: { phase: "cleared", stepMs: 1_000 } },
];

const POINTS = WRITTEN.slice(1).flatMap(({ after }, index) => [
  { step: index, where: "within", after, expected: WRITTEN[index] },
  { step: index, where: "after", after, expected: WRITTEN[index + 1] },
]);

describe("observations and kills", () => {
  let compiled: CompiledStore;
  let directory: string;
  let program: StoreProgram | undefined;

  beforeAll(async () => {
    compiled = await compileStore(["auth-projection/index.ts", "auth-projection/overlays.ts"]);
  });
  afterAll(() => compiled.remove());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "overlay-crashes-"));
  });
  afterEach(async () => {
    program?.process.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  });

  /** What counts, and what is planned. */
  async function look(store: Store) {
    return store.read(async (tx) => {
      const row = await tx.projections.get("acc", "github");
      const overlay = await tx.overlays.get("acc", "github");
      const planned = await tx.convergence.get("account:acc", "github");
      const seq = (await tx.projections.account("acc"))?.syncSeq ?? 0;
      return { seq, row, overlay, state: row && effectiveRow(row, overlay).state, planned: planned?.desired.identity };
    });
  }

  it.each(POINTS)("R-10, P-6: killed $where $after", async ({ step, where, expected }) => {
    program = await compiled.start(STEPS, directory, String(step), where, JSON.stringify(BODY));
    await program.ended;
    expect(program.process.signalCode).toBe("SIGKILL");

    const store = await openSqliteStore({ directory });
    const left = await look(store);
    expect(left.seq).toBe(expected?.seq);
    expect(left.state).toBe(expected?.state);
    if (expected?.overlay === undefined) expect(left.overlay).toBeUndefined();
    else expect(left.overlay).toMatchObject(expected.overlay);
    // The plan is of the same transaction as what it follows from, and the row is never overwritten.
    expect(left.planned).toBe(left.state);
    if (left.row !== undefined) expect(left.row.state).toBe("connected");

    // The next process fetches the same, waits for what is held, and ends where it would have ended without the kill.
    const planned: string[] = [];
    const onChanged = (_tx: StoreTx, keys: readonly string[]) => void planned.push(...keys);
    const at = { accountId: "acc", now: START + 10, onChanged };
    const fetchSeq = await store.write((tx) => tx.projections.nextSyncSeq("acc", START));
    expect(fetchSeq).toBe(left.seq + 1);
    const snapshot = parseSnapshot(new TextEncoder().encode(JSON.stringify(BODY)));
    const facts = { ...at, snapshot, fetchSeq, firstFetchOfScopeEpoch: true };
    const outcome = await store.write((tx) => applySnapshot(tx, facts));
    if (outcome.nextClearingAt !== undefined) {
      expect(outcome.nextClearingAt).toBe(START + 1_000);
      await store.write((tx) => clearDueOverlays(tx, "acc", START + 1_000, onChanged));
    }
    expect(planned).toEqual(left.state === "connected" ? [] : ["github"]);
    const ended = await look(store);
    expect(ended.state).toBe("connected");
    expect(ended.overlay?.phase).toBe(left.overlay === undefined ? undefined : "cleared");
    expect(ended.overlay?.stepMs).toBe(left.overlay?.stepMs);
    await store.close();
  });
});
