import { beforeEach, describe, expect, it } from "vitest";
import type { AccountSyncRow, FlowRow, OverlayRow, ProjectionRow } from "../../../../src/auth-projection/index.js";
import { Housekeeping } from "../../../../src/connector-host/host/housekeeping.js";
import type { ConvergenceRow } from "../../../../src/reconcile/index.js";
import { createMemoryStore, type Store } from "../../../../src/store/index.js";
import { silentLogger } from "../../../../src/transport/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";
import { flowRow } from "../../../support/flow-row.js";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

function account(accountId: string, seenAt: number): AccountSyncRow {
  return { accountId, syncSeq: 1, applied: undefined, pastEpochs: [], hold: undefined, seenAt };
}

function projection(accountId: string): ProjectionRow {
  return {
    accountId,
    connectorKey: "notion",
    connectorVersion: "1.0.0",
    state: "connected",
    connectionId: "c",
    connectionVersion: 1n,
    epoch: "-",
    revision: 1n,
    quarantined: undefined,
    updatedAt: 0,
  };
}

function overlay(accountId: string): OverlayRow {
  return {
    accountId,
    connectorKey: "notion",
    connectionId: "c",
    connectionVersion: 1n,
    state: "expired",
    syncSeq: 1,
    phase: "standing",
    stepMs: 0,
    heldUntil: undefined,
  };
}

function flow(accountId: string, changes: Partial<FlowRow> = {}): FlowRow {
  return flowRow({ accountId, ...changes });
}

function convergence(scope: string, updatedAt: number): ConvergenceRow {
  return {
    scope,
    key: "notion",
    desired: { generation: 1, enabled: true, identity: "" },
    observed: undefined,
    attempts: 0,
    failures: 0,
    nextAttemptAt: undefined,
    notBefore: undefined,
    runToken: undefined,
    lastError: undefined,
    updatedAt,
  };
}

describe("housekeeping", () => {
  let clock: FakeClock;
  let store: Store;
  let active: Set<string>;
  let failing: boolean;
  let warned: number;
  /** Run inside each write, at its end. */
  let atEnd: () => void;

  beforeEach(() => {
    clock = new FakeClock(1_000 * DAY_MS);
    store = createMemoryStore();
    active = new Set();
    failing = false;
    warned = 0;
    atEnd = () => undefined;
  });

  function housekeeping(): Housekeeping {
    const write: Store["write"] = (work) =>
      store.write(async (tx) => {
        const { convergence: rows } = tx;
        const listKeys: typeof rows.listKeys = async (scope) => {
          atEnd();
          return rows.listKeys(scope);
        };
        return work({ ...tx, convergence: { ...rows, listKeys } });
      });
    const read: Store["read"] = (work) => (failing ? Promise.reject(new Error("disk")) : store.read(work));
    return new Housekeeping({
      store: { write, read, close: () => store.close() },
      clock,
      isActive: (scope) => active.has(scope),
      forgetScope: async ({ convergence: rows }, scope) => {
        for (const key of await rows.listKeys(scope)) await rows.remove(scope, key);
      },
      logger: { ...silentLogger, warn: () => (warned += 1) },
    });
  }

  async function fill(accountId: string, seenAt: number): Promise<void> {
    await store.write(async (tx) => {
      await tx.projections.putAccount(account(accountId, seenAt));
      await tx.projections.put(projection(accountId));
      await tx.overlays.put(overlay(accountId));
      await tx.flows.put(flow(accountId));
      await tx.convergence.put(convergence(`account:${accountId}`, seenAt));
    });
  }

  /** How many rows of each kind the account has. */
  function rowsOf(accountId: string): Promise<readonly number[]> {
    return store.read(async (tx) => [
      (await tx.projections.account(accountId)) === undefined ? 0 : 1,
      (await tx.projections.list(accountId)).length,
      (await tx.overlays.list(accountId)).length,
      (await tx.flows.list(accountId)).length,
      (await tx.convergence.listScope(`account:${accountId}`)).length,
    ]);
  }

  const ALL = [1, 1, 1, 1, 1];
  const NONE = [0, 0, 0, 0, 0];

  it("R-11: removes every row of accounts that were not seen for 90 days, and of no other", async () => {
    await fill("old", clock.now() - 90 * DAY_MS);
    await fill("young", clock.now() - 90 * DAY_MS + 1);
    await store.write((tx) => tx.convergence.put(convergence("device", 0)));
    const keeping = housekeeping();
    keeping.start();
    await settle();
    expect(await rowsOf("old")).toEqual(NONE);
    expect(await rowsOf("young")).toEqual(ALL);
    expect(await store.read((tx) => tx.convergence.listScope("device"))).toHaveLength(1);
    await keeping.close();
  });

  it("R-11: looks again every hour, until it is closed", async () => {
    await fill("a", clock.now() - 90 * DAY_MS + HOUR_MS);
    const keeping = housekeeping();
    keeping.start();
    await clock.advance(HOUR_MS - 1);
    expect(await rowsOf("a")).toEqual(ALL);
    await clock.advance(1);
    expect(await rowsOf("a")).toEqual(NONE);
    await keeping.close();
    expect(clock.pending).toBe(0);
  });

  it("R-11: never touches an account whose scope is active, nor one that signs in while it is at it", async () => {
    await fill("active", 0);
    await fill("coming", 0);
    active.add("account:active");
    atEnd = () => active.add("account:coming");
    const keeping = housekeeping();
    keeping.start();
    await settle();
    expect(await rowsOf("active")).toEqual(ALL);
    expect(await rowsOf("coming")).toEqual(ALL);
    expect(warned).toBe(0);
    await keeping.close();
  });

  it("R-11: removes what was planned for an account that never had a row of its own", async () => {
    await store.write(async (tx) => {
      await tx.convergence.put(convergence("account:gone", clock.now() - 90 * DAY_MS));
      await tx.convergence.put(convergence("account:new", clock.now()));
    });
    const keeping = housekeeping();
    keeping.start();
    await settle();
    expect(await rowsOf("gone")).toEqual(NONE);
    expect(await rowsOf("new")).toEqual([0, 0, 0, 0, 1]);
    await keeping.close();
  });

  it("R-11: removes flows that are over for a day, of an active account too, and none that goes on", async () => {
    const over = { state: "cancelled", reason: "cancelled" } as const;
    const updatedAt = clock.now() - DAY_MS;
    await fill("a", clock.now());
    active.add("account:a");
    await store.write(async (tx) => {
      await tx.flows.put(flow("a", { clientRequestId: "old", ...over, updatedAt }));
      await tx.flows.put(flow("a", { clientRequestId: "young", ...over, updatedAt: updatedAt + 1 }));
    });
    const keeping = housekeeping();
    keeping.start();
    await settle();
    const left = await store.read((tx) => tx.flows.list("a"));
    expect(left.map(({ clientRequestId }) => clientRequestId)).toEqual(["r", "young"]);
    await keeping.close();
  });

  it("R-11: logs a store that fails, and tries again the next time", async () => {
    await fill("old", 0);
    failing = true;
    const keeping = housekeeping();
    keeping.start();
    await settle();
    expect(warned).toBe(1);
    expect(await rowsOf("old")).toEqual(ALL);
    failing = false;
    await clock.advance(HOUR_MS);
    expect(await rowsOf("old")).toEqual(NONE);
    await keeping.close();
  });
});
