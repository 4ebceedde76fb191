import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applySnapshot } from "../../../src/auth-projection/apply-snapshot.js";
import type { ProjectionRow, Snapshot } from "../../../src/auth-projection/index.js";
import { entry, snapshot } from "./bodies.js";
import { AccountStore } from "./account-store.js";

interface Step {
  readonly snapshot: Snapshot;
  readonly first: boolean;
  readonly waitMs: number;
}

const KEYS = ["a", "b", "c"];
const anyEntry = fc
  .record({
    connectorId: fc.constantFrom(...KEYS),
    state: fc.constantFrom("connected", "reauth_required", "disconnected", "odd"),
    connectionId: fc.constantFrom("x", "y"),
    connectionVersion: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ connectorId, ...members }) => entry(connectorId, members));
const anyStep: fc.Arbitrary<Step> = fc.record({
  snapshot: fc
    .record({
      revision: fc.integer({ min: 0, max: 4 }),
      epoch: fc.constantFrom(undefined, undefined, "p", "q", "r", "s", "t"),
      connectors: fc.array(anyEntry, { maxLength: 3 }),
    })
    .map(({ revision, epoch, connectors }) => snapshot(revision, connectors, { epoch })),
  first: fc.boolean(),
  waitMs: fc.constantFrom(0, 15_000, 30_000, 45_000),
});
/** Servers repeat themselves, so that holds and confirmations come in rows. */
const anySteps = fc
  .array(fc.tuple(anyStep, fc.integer({ min: 1, max: 5 })), { maxLength: 20 })
  .map((runs) => runs.flatMap(([step, times]) => Array.from({ length: times }, () => step)));

/** What a row may do, told without looking at how rows are written. */
function permission(row: Pick<ProjectionRow, "state" | "connectionId" | "connectionVersion"> | undefined): string {
  return row?.state === "connected" ? `${row.connectionId} ${row.connectionVersion}` : (row?.state ?? "disconnected");
}

function permissions(
  rows: readonly Pick<ProjectionRow, "connectorKey" | "state" | "connectionId" | "connectionVersion">[],
) {
  return KEYS.map((key) => permission(rows.find((row) => row.connectorKey === key)));
}

describe("P-3: against a model", () => {
  it("P-3: sequences of snapshots are followed forwards only, and held ones change nothing", async () => {
    const reached = { apply: 0, confirm: 0, hold: 0, accepted: 0 };
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const store = new AccountStore();
        let now = 1_000_000;
        /** Snapshots that went backwards since the last one that did not, with their times. */
        let backwards: { epoch: string; revision: bigint; at: number }[] = [];
        for (const step of steps) {
          now += step.waitMs;
          const before = { account: await store.account("acc"), rows: await store.rows("acc") };
          const planned: string[] = [];
          const { verdict, changed } = await store.write((tx) =>
            applySnapshot(tx, {
              accountId: "acc",
              snapshot: step.snapshot,
              firstFetchOfScopeEpoch: step.first,
              now,
              onChanged: (_tx, keys) => void planned.push(...keys),
            }),
          );
          const after = { account: await store.account("acc"), rows: await store.rows("acc") };
          const { epoch, revision, digest, entries } = step.snapshot;
          const applied = before.account?.applied;
          const back =
            before.account?.pastEpochs.includes(epoch) === true ||
            (applied?.epoch === epoch && revision < applied.revision);

          // Which of the three it had to be.
          if (!back) {
            backwards = [];
            const known = applied?.epoch === epoch && applied.revision === revision && applied.digest === digest;
            expect(verdict.kind).toBe(known && !step.first ? "confirm" : "apply");
          } else {
            backwards.push({ epoch, revision, at: now });
            let start = backwards.length - 1;
            while (start > 0) {
              const [one, next] = [backwards[start - 1]!, backwards[start]!];
              if (one.epoch !== next.epoch || one.revision > next.revision) break;
              start -= 1;
            }
            const insisted = backwards.length - start >= 3 && now - backwards[start]!.at >= 60_000;
            expect(verdict.kind).toBe(insisted ? "apply" : "hold");
            if (insisted) reached.accepted += 1;
            if (insisted) backwards = [];
          }

          // What had to come of it.
          if (verdict.kind === "apply") {
            expect(permissions(after.rows)).toEqual(permissions(entries));
            expect(after.account?.applied).toEqual({ epoch, revision, digest });
          } else {
            expect(after.rows).toEqual(before.rows);
            expect(after.account?.applied).toEqual(before.account?.applied);
            expect(changed).toEqual([]);
          }
          expect(planned).toEqual(changed);
          expect(changed).toEqual([...changed].sort());
          for (const [index, key] of KEYS.entries()) {
            if (permissions(before.rows)[index] !== permissions(after.rows)[index]) expect(changed).toContain(key);
          }
          const past = after.account?.pastEpochs ?? [];
          expect(new Set([...past, after.account?.applied?.epoch]).size).toBe(past.length + 1);
          expect(past.length).toBeLessThanOrEqual(4);
          reached[verdict.kind] += 1;
        }
      }),
      { seed: 30, numRuns: 250 },
    );
    // A model that never gets anywhere proves nothing.
    for (const count of Object.values(reached)) expect(count).toBeGreaterThan(20);
  });
});
