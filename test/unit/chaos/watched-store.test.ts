import { describe, expect, it } from "vitest";
import { createMemoryStore, type StoreTx } from "../../../src/store/index.js";
import { Generations } from "../../chaos/generations.js";
import { type JournalLine, rowName } from "../../chaos/journal.js";
import type { KillPoint } from "../../chaos/kill-points.js";
import { WatchedStore } from "../../chaos/watched-store.js";

const ROW = {
  scope: "account:ada",
  key: "alpha",
  desired: { generation: 3, enabled: true, identity: "i" },
  observed: undefined,
  attempts: 0,
  failures: 0,
  nextAttemptAt: undefined,
  notBefore: undefined,
  runToken: undefined,
  lastError: undefined,
  updatedAt: 1,
};

function watch() {
  const lines: JournalLine[] = [];
  const points: KillPoint[] = [];
  const store = createMemoryStore();
  const watched = new WatchedStore({
    store,
    journal: { write: (line) => lines.push(line) },
    at: (point) => points.push(point),
    generations: new Generations(),
  });
  return { lines, points, store, watched };
}

describe("a store that is watched", () => {
  it("R-10: comes to a point at each step, and writes down all that it changes", async () => {
    const { lines, points, watched } = watch();
    const answer = await watched.write(async (tx) => {
      tx.onSettled((outcome) => lines.push({ t: "kill", point: outcome, nth: 0 }));
      await tx.convergence.get("account:ada", "alpha");
      await tx.convergence.put(ROW);
      await tx.convergence.put({ ...ROW, runToken: 4 });
      await tx.projections.nextSyncSeq("ada", 5);
      await tx.events.append(6, "{}");
      return "done";
    });
    expect(answer).toBe("done");
    const kinds = lines.map(({ t }) => t);
    expect(kinds).toEqual(["begin", "write", "commit", "kill", "end"]);
    const steps = ["begin", "get", "plan", "converge", "number", "record", "done", "commit"];
    expect(points).toEqual([...steps, "committed", "settling", "settled", "returned"]);
    const written = lines.flatMap((line) => (line.t === "write" ? line.rows : []));
    expect(written.map(({ name }) => name)).toEqual([
      rowName("convergence", "account:ada", "alpha"),
      rowName("event", "1"),
      rowName("account", "ada"),
    ]);
    expect(written[0]?.row).toMatchObject({ runToken: 4 });
    expect(written[2]?.row).toMatchObject({ syncSeq: 1 });
  });

  it("says which snapshot a transaction took in, or could not", async () => {
    const { lines, watched } = watch();
    const account = {
      accountId: "ada",
      syncSeq: 1,
      applied: { epoch: "=e1", revision: 7n, digest: "d" },
      pastEpochs: [],
      hold: undefined,
      seenAt: 0,
    };
    const take = (tx: StoreTx): Promise<void> => tx.projections.putAccount(account);
    await watched.write(take);
    const failing = watched.write(async (tx) => {
      await take(tx);
      throw new Error("full");
    });
    await expect(failing).rejects.toThrow("full");
    const applied = { account: "ada", epoch: "=e1", revision: "7" };
    expect(lines.filter(({ t }) => t === "commit" || t === "rollback")).toEqual([
      { t: "commit", tx: 1, applied },
      { t: "rollback", tx: 2, applied },
    ]);
    expect(lines.at(-1)).toEqual({ t: "end", tx: 2 });
  });
});
