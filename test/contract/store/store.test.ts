import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AccountSyncRow, FlowRow, OverlayRow, ProjectionRow } from "../../../src/auth-projection/index.js";
import type { ConvergenceRow } from "../../../src/reconcile/index.js";
import type { Store, StoreTx } from "../../../src/store/index.js";
import { memorySetup, sqliteSetup } from "./stores.js";
import { flowRow } from "../../support/flow-row.js";

const FULL_ROW: ConvergenceRow = {
  scope: "account:a",
  key: "notion",
  desired: { generation: 12, enabled: true, identity: '{"release":"sha"}' },
  observed: {
    generation: 11,
    epoch: "e-1",
    enabled: false,
    identity: "other",
    readiness: "degraded",
    since: 1_700_000_000_000,
  },
  attempts: 3,
  failures: 2,
  nextAttemptAt: 1_700_000_000_001,
  notBefore: 1_700_000_000_002,
  runToken: 13,
  lastError: { code: "timeout", message: "The run did not end." },
  updatedAt: 1_700_000_000_003,
};

const BARE_ROW: ConvergenceRow = {
  scope: "device",
  key: "everything",
  desired: { generation: 1, enabled: false, identity: "" },
  observed: undefined,
  attempts: 0,
  failures: 0,
  nextAttemptAt: undefined,
  notBefore: undefined,
  runToken: undefined,
  lastError: undefined,
  updatedAt: 0,
};

const FULL_PROJECTION: ProjectionRow = {
  accountId: "a",
  connectorKey: "notion",
  connectorVersion: "1.2.3",
  state: "connected",
  connectionId: "c-1",
  connectionVersion: 18_446_744_073_709_551_615n,
  epoch: "=e",
  revision: 9_007_199_254_740_993n,
  quarantined: "invalid_member",
  updatedAt: 1_700_000_000_000,
};

const BARE_PROJECTION: ProjectionRow = {
  accountId: "a",
  connectorKey: "asana",
  connectorVersion: undefined,
  state: "disconnected",
  connectionId: undefined,
  connectionVersion: 0n,
  epoch: "-",
  revision: 0n,
  quarantined: undefined,
  updatedAt: 0,
};

const FULL_ACCOUNT: AccountSyncRow = {
  accountId: "a",
  syncSeq: 7,
  applied: { epoch: "=e", revision: 9_007_199_254_740_993n, digest: "ab" },
  pastEpochs: ["=d", "-", "=\0 odd \ud800 \u{1f600}"],
  hold: { epoch: "=d", revision: 18_446_744_073_709_551_615n, count: 2, since: 1_700_000_000_000 },
  seenAt: 1_700_000_000_001,
};

const BARE_ACCOUNT: AccountSyncRow = {
  accountId: "b",
  syncSeq: 0,
  applied: undefined,
  pastEpochs: [],
  hold: undefined,
  seenAt: 0,
};

const FULL_OVERLAY: OverlayRow = {
  accountId: "a",
  connectorKey: "notion",
  connectionId: "c-1",
  connectionVersion: 18_446_744_073_709_551_615n,
  state: "expired",
  syncSeq: 7,
  phase: "clearing",
  stepMs: 300_000,
  heldUntil: 1_700_000_000_004,
};

const BARE_OVERLAY: OverlayRow = {
  accountId: "a",
  connectorKey: "asana",
  connectionId: undefined,
  connectionVersion: 0n,
  state: "disconnected",
  syncSeq: 0,
  phase: "standing",
  stepMs: 0,
  heldUntil: undefined,
};

const FULL_FLOW: FlowRow = {
  accountId: "a",
  clientRequestId: "request-2",
  connectorKey: "notion",
  connectorVersion: "1.2.3",
  replaces: true,
  priorConnectionId: "c-0",
  sessionId: "s-1",
  nextAction: "submit_secret",
  state: "cancelling",
  connectionId: "c-1",
  reason: "refused",
  errorCode: "quota.exceeded",
  createdAt: 1_700_000_000_005,
  updatedAt: 1_700_000_000_006,
};

const BARE_FLOW = flowRow({
  accountId: "a",
  clientRequestId: "request-1",
  connectorKey: "asana",
  connectorVersion: "",
});

/** Texts that a store could take for one another, or lose. */
const ODD_TEXTS = [
  "",
  "a",
  "A",
  "a ",
  "a\0b",
  "a\0",
  "\0",
  "\u0001",
  '\u0001"a"',
  "\ud800",
  "\udbff",
  "\ufffd",
  "é",
  "e\u0301",
];

describe.each([memorySetup, sqliteSetup].map((setup) => ({ name: setup().name, setup })))(
  "$name store",
  ({ setup }) => {
    const kind = setup();
    let store: Store;

    beforeEach(async () => {
      store = await kind.open();
    });

    afterEach(async () => {
      await store.close();
      await kind.cleanUp();
    });

    const put = (row: ConvergenceRow): Promise<void> => store.write((tx) => tx.convergence.put(row));
    const get = (scope: string, key: string): Promise<ConvergenceRow | undefined> =>
      store.read((tx) => tx.convergence.get(scope, key));

    describe("transactions", () => {
      it("R-9: commits what the work wrote, and resolves with what it returned", async () => {
        const answer = await store.write(async (tx) => {
          await tx.convergence.put(FULL_ROW);
          await tx.projections.put(FULL_PROJECTION);
          return 42;
        });
        expect(answer).toBe(42);
        expect(await get("account:a", "notion")).toEqual(FULL_ROW);
        expect(await store.read((tx) => tx.projections.get("a", "notion"))).toEqual(FULL_PROJECTION);
      });

      it("R-9: sees its own writes", async () => {
        await store.write(async (tx) => {
          await tx.convergence.put(BARE_ROW);
          expect(await tx.convergence.get("device", "everything")).toEqual(BARE_ROW);
          await tx.convergence.remove("device", "everything");
          expect(await tx.convergence.get("device", "everything")).toBeUndefined();
        });
      });

      it("R-9: rolls back everything when the work rejects, and rejects with the same value", async () => {
        await put(FULL_ROW);
        await store.write((tx) => tx.projections.putAccount(FULL_ACCOUNT));
        const reason = { mine: true };
        const failing = store.write(async (tx) => {
          await tx.convergence.put({ ...FULL_ROW, attempts: 99 });
          await tx.convergence.put(BARE_ROW);
          await tx.convergence.remove(FULL_ROW.scope, FULL_ROW.key);
          await tx.projections.put(FULL_PROJECTION);
          await tx.projections.putAccount({ ...FULL_ACCOUNT, syncSeq: 100 });
          await tx.projections.nextSyncSeq("b", 1);
          await tx.overlays.put(FULL_OVERLAY);
          throw reason;
        });
        await expect(failing).rejects.toBe(reason);
        expect(await get(FULL_ROW.scope, FULL_ROW.key)).toEqual(FULL_ROW);
        expect(await get("device", "everything")).toBeUndefined();
        expect(await store.read((tx) => tx.projections.list("a"))).toEqual([]);
        expect(await store.read((tx) => tx.projections.account("a"))).toEqual(FULL_ACCOUNT);
        expect(await store.read((tx) => tx.projections.account("b"))).toBeUndefined();
        expect(await store.read((tx) => tx.overlays.list("a"))).toEqual([]);
      });

      it("R-9: goes on after a rollback", async () => {
        await expect(store.write(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
        await put(FULL_ROW);
        expect(await get("account:a", "notion")).toEqual(FULL_ROW);
      });

      it("R-9: does work one after the other, in the order in which it was asked for", async () => {
        const trace: string[] = [];
        const work = (name: string) => async (tx: StoreTx) => {
          trace.push(`${name} begins`);
          for (let i = 0; i < 5; i += 1) await tx.convergence.get("device", "x");
          trace.push(`${name} ends`);
        };
        await Promise.all([
          store.write(work("a")),
          store.read(work("b")),
          store
            .write(async (tx) => {
              await work("c")(tx);
              throw new Error("c");
            })
            .catch(() => trace.push("c rejected")),
          store.write(work("d")),
        ]);
        const order = trace.filter((line) => line !== "c rejected");
        expect(order).toEqual(["a", "b", "c", "d"].flatMap((name) => [`${name} begins`, `${name} ends`]));
      });

      it("R-9: loses no update of concurrent writes", async () => {
        await put(BARE_ROW);
        const raise = async (tx: StoreTx): Promise<void> => {
          const row = await tx.convergence.get("device", "everything");
          if (row !== undefined) await tx.convergence.put({ ...row, attempts: row.attempts + 1 });
        };
        await Promise.all(Array.from({ length: 50 }, () => store.write(raise)));
        expect((await get("device", "everything"))?.attempts).toBe(50);
      });

      it.each(["committed", "rolled_back"])("refuses a transaction that has %s", async (outcome) => {
        let kept: StoreTx | undefined;
        const write = store.write(async (tx) => {
          kept = tx;
          if (outcome === "rolled_back") throw new Error("no");
        });
        await write.catch(() => {});
        await expect(kept?.convergence.put(BARE_ROW)).rejects.toMatchObject({ code: "invalid_argument" });
        await expect(kept?.projections.get("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
        await expect(kept?.overlays.get("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
        expect(() => kept?.onSettled(() => {})).toThrow(expect.objectContaining({ code: "invalid_argument" }));
        expect(await get("device", "everything")).toBeUndefined();
      });

      it("refuses to write while it reads", async () => {
        await store.read(async (tx) => {
          await expect(tx.convergence.put(BARE_ROW)).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.convergence.remove("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.convergence.nextGeneration()).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.projections.put(BARE_PROJECTION)).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.projections.putAccount(BARE_ACCOUNT)).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.projections.nextSyncSeq("a", 1)).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.projections.remove("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.overlays.put(BARE_OVERLAY)).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.overlays.remove("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
          expect(() => tx.onSettled(() => {})).toThrow(expect.objectContaining({ code: "invalid_argument" }));
        });
        expect(await get("device", "everything")).toBeUndefined();
      });

      it("finishes what was asked for before it closes, and refuses what comes after", async () => {
        const before = put(FULL_ROW);
        const closed = store.close();
        const after = store.read((tx) => tx.convergence.get("account:a", "notion"));
        await expect(after).rejects.toMatchObject({ code: "store_unavailable", details: { reason: "closed" } });
        await before;
        await closed;
        await store.close();
      });
    });

    describe("the end of a transaction", () => {
      it("R-3: is told synchronously, before the write resolves, in order", async () => {
        const trace: string[] = [];
        const write = store.write(async (tx) => {
          tx.onSettled((outcome) => trace.push(`first ${outcome}`));
          await tx.convergence.put(BARE_ROW);
          tx.onSettled((outcome) => trace.push(`second ${outcome}`));
          trace.push("work ends");
        });
        await write.then(() => trace.push("resolved"));
        expect(trace).toEqual(["work ends", "first committed", "second committed", "resolved"]);
      });

      it("R-3: is told of a rollback too, whenever the work failed", async () => {
        const trace: string[] = [];
        const write = store.write(async (tx) => {
          tx.onSettled((outcome) => trace.push(outcome));
          await tx.convergence.put(BARE_ROW);
          throw new Error("no");
        });
        await write.catch(() => trace.push("rejected"));
        expect(trace).toEqual(["rolled_back", "rejected"]);
      });

      it("R-3: tells everyone, also when one of them throws, and nobody twice", async () => {
        const trace: string[] = [];
        const write = store.write(async (tx) => {
          tx.onSettled(() => {
            throw new Error("hook");
          });
          tx.onSettled((outcome) => trace.push(outcome));
          await tx.convergence.put(BARE_ROW);
        });
        await expect(write).rejects.toThrow("hook");
        expect(trace).toEqual(["committed"]);
        expect(await get("device", "everything")).toEqual(BARE_ROW);
      });

      it("R-3: keeps the error of the work when a listener throws as well", async () => {
        const write = store.write(async (tx) => {
          tx.onSettled(() => {
            throw new Error("hook");
          });
          throw new Error("work");
        });
        await expect(write).rejects.toThrow("work");
      });

      it("R-3: lets a listener ask for the next transaction", async () => {
        let next: Promise<void> | undefined;
        await store.write(async (tx) => {
          tx.onSettled(() => {
            next = put(FULL_ROW);
          });
        });
        await next;
        expect(await get("account:a", "notion")).toEqual(FULL_ROW);
      });
    });

    describe("convergence rows", () => {
      it.each([
        ["with everything", FULL_ROW],
        ["with nothing optional", BARE_ROW],
      ])("R-1: keep a row %s", async (_what, row) => {
        await put(row);
        expect(await get(row.scope, row.key)).toEqual(row);
      });

      it("R-1: replace a whole row, members that are gone included", async () => {
        await put(FULL_ROW);
        const bare = { ...BARE_ROW, scope: FULL_ROW.scope, key: FULL_ROW.key };
        await put(bare);
        expect(await get(FULL_ROW.scope, FULL_ROW.key)).toEqual(bare);
      });

      it("R-1: keep a copy", async () => {
        const row = { ...FULL_ROW, attempts: 1 };
        await put(row);
        row.attempts = 2;
        expect((await get(row.scope, row.key))?.attempts).toBe(1);
      });

      it("list one scope, ordered by code units", async () => {
        const keys = ["b", "a", "\u{1f600}", "\uffee", "B", ""];
        await store.write(async (tx) => {
          for (const key of keys) await tx.convergence.put({ ...BARE_ROW, key });
          await tx.convergence.put({ ...BARE_ROW, scope: "device2", key: "other" });
        });
        const listed = await store.read((tx) => tx.convergence.listScope("device"));
        expect(listed.map((row) => row.key)).toEqual([...keys].sort());
        expect(await store.read((tx) => tx.convergence.listScope("nobody"))).toEqual([]);
        const found = await store.read((tx) => tx.convergence.listKeys("device"));
        expect([...found].sort()).toEqual([...keys].sort());
        expect(await store.read((tx) => tx.convergence.listKeys("nobody"))).toEqual([]);
      });

      it("never take one text for another", async () => {
        await store.write(async (tx) => {
          for (const scope of ODD_TEXTS)
            for (const key of ODD_TEXTS)
              await tx.convergence.put({
                ...FULL_ROW,
                scope,
                key,
                desired: { ...FULL_ROW.desired, identity: scope + key },
              });
        });
        for (const scope of ODD_TEXTS) {
          const rows = await store.read((tx) => tx.convergence.listScope(scope));
          expect(rows.map((row) => row.key)).toEqual([...ODD_TEXTS].sort());
          const found = await store.read((tx) => tx.convergence.listKeys(scope));
          expect([...found].sort()).toEqual([...ODD_TEXTS].sort());
          for (const row of rows) expect(row).toMatchObject({ scope, desired: { identity: scope + row.key } });
        }
      });

      it.each([1.5, Number.NaN, Infinity, 2 ** 53])("refuse %s as a number", async (value) => {
        await expect(put({ ...FULL_ROW, nextAttemptAt: value })).rejects.toMatchObject({
          code: "invalid_argument",
          details: { argument: "nextAttemptAt" },
        });
        expect(await get(FULL_ROW.scope, FULL_ROW.key)).toBeUndefined();
      });

      it("remove nothing but the row that is meant", async () => {
        await put(FULL_ROW);
        await put({ ...FULL_ROW, key: "other" });
        await store.write((tx) => tx.convergence.remove(FULL_ROW.scope, "other"));
        await store.write((tx) => tx.convergence.remove(FULL_ROW.scope, "never was"));
        expect(await get(FULL_ROW.scope, FULL_ROW.key)).toEqual(FULL_ROW);
        expect(await get(FULL_ROW.scope, "other")).toBeUndefined();
      });
    });

    describe("generations", () => {
      const next = (): Promise<number> => store.write((tx) => tx.convergence.nextGeneration());

      it("R-1: begin at 1 or later, and grow", async () => {
        const first = await next();
        expect(first).toBeGreaterThanOrEqual(1);
        expect(await next()).toBeGreaterThan(first);
      });

      it("R-1: never come again after a rollback", async () => {
        const given: number[] = [];
        const failing = store.write(async (tx) => {
          given.push(await tx.convergence.nextGeneration(), await tx.convergence.nextGeneration());
          throw new Error("no");
        });
        await expect(failing).rejects.toThrow("no");
        const after = await next();
        expect(after).toBeGreaterThan(Math.max(...given));
      });

      it.each([1_100, 5_000])("R-1: never come again after %s in a transaction that was rolled back", async (count) => {
        let last = 0;
        const failing = store.write(async (tx) => {
          for (let i = 0; i < count; i += 1) last = await tx.convergence.nextGeneration();
          throw new Error("no");
        });
        await expect(failing).rejects.toThrow("no");
        expect(await next()).toBeGreaterThan(last);
        if (kind.reopen === undefined) return;
        await store.close();
        store = await kind.reopen();
        expect(await next()).toBeGreaterThan(last + 1);
      });

      if (kind.reopen === undefined) return;

      it("R-1: never come again after a restart", async () => {
        for (let restart = 0; restart < 3; restart += 1) {
          const before = await next();
          await store.write(async (tx) => {
            for (let i = 0; i < 1_500; i += 1) await tx.convergence.nextGeneration();
          });
          const last = await next();
          expect(last).toBeGreaterThan(before);
          await store.close();
          store = (await kind.reopen?.()) ?? store;
          expect(await next()).toBeGreaterThan(last);
        }
      });
    });

    it("R-11: convergence rows tell which scopes have one, each once", async () => {
      await store.write(async (tx) => {
        for (const scope of ["device", "", "account:a\0"])
          for (const key of ["a", "b"]) await tx.convergence.put({ ...BARE_ROW, scope, key });
        await tx.convergence.remove("", "a");
        await tx.convergence.remove("", "b");
      });
      const scopes = await store.read((tx) => tx.convergence.listScopes());
      expect(new Set(scopes)).toEqual(new Set(["device", "account:a\0"]));
      expect(scopes).toHaveLength(2);
    });

    describe("projection rows", () => {
      it.each([
        ["with everything", FULL_PROJECTION],
        ["with nothing optional", BARE_PROJECTION],
      ])("R-9: keep a row %s, numbers beyond 2^53 included", async (_what, row) => {
        await store.write((tx) => tx.projections.put(row));
        expect(await store.read((tx) => tx.projections.get(row.accountId, row.connectorKey))).toEqual(row);
      });

      it("P-1: refuse a revision or version below zero, which could not be read again", async () => {
        await store.write(async (tx) => {
          const refused = (argument: string) => ({ code: "invalid_argument", details: { argument } });
          const { projections, overlays } = tx;
          const { applied } = FULL_ACCOUNT;
          const account = { ...FULL_ACCOUNT, applied: applied && { ...applied, revision: -1n } };
          await expect(projections.putAccount(account)).rejects.toMatchObject(refused("applied.revision"));
          const version = { connectionVersion: -1n };
          await expect(projections.put({ ...FULL_PROJECTION, ...version })).rejects.toMatchObject(
            refused("connectionVersion"),
          );
          await expect(projections.put({ ...FULL_PROJECTION, revision: -1n })).rejects.toMatchObject(
            refused("revision"),
          );
          await expect(overlays.put({ ...FULL_OVERLAY, ...version })).rejects.toMatchObject(
            refused("connectionVersion"),
          );
        });
      });

      it("list one account, ordered by key, and remove one row", async () => {
        await store.write(async (tx) => {
          await tx.projections.put(FULL_PROJECTION);
          await tx.projections.put(BARE_PROJECTION);
          await tx.projections.put({ ...BARE_PROJECTION, accountId: "b" });
        });
        expect(await store.read((tx) => tx.projections.list("a"))).toEqual([BARE_PROJECTION, FULL_PROJECTION]);
        await store.write((tx) => tx.projections.remove("a", BARE_PROJECTION.connectorKey));
        expect(await store.read((tx) => tx.projections.list("a"))).toEqual([FULL_PROJECTION]);
        expect(await store.read((tx) => tx.projections.list("b"))).toHaveLength(1);
      });

      it.each([
        ["with everything", FULL_ACCOUNT],
        ["with nothing optional", BARE_ACCOUNT],
      ])("P-3: keep an account %s", async (_what, row) => {
        await store.write((tx) => tx.projections.putAccount(row));
        expect(await store.read((tx) => tx.projections.account(row.accountId))).toEqual(row);
      });

      it("R-11: list every account, ordered by its id in code units, and remove the row of one alone", async () => {
        await store.write(async (tx) => {
          await tx.projections.put(FULL_PROJECTION);
          for (const accountId of ["\uffff", "\u{1f600}", "", "a\0", "a"])
            await tx.projections.putAccount({ ...FULL_ACCOUNT, accountId });
        });
        const listed = await store.read((tx) => tx.projections.listAccounts());
        expect(listed.map(({ accountId }) => accountId)).toEqual(["", "a", "a\0", "\u{1f600}", "\uffff"]);
        expect(listed[1]).toEqual(FULL_ACCOUNT);
        await store.write(async (tx) => {
          await tx.projections.removeAccount("a");
          await tx.projections.removeAccount("none");
        });
        expect(await store.read((tx) => tx.projections.account("a"))).toBeUndefined();
        expect(await store.read((tx) => tx.projections.listAccounts())).toHaveLength(4);
        expect(await store.read((tx) => tx.projections.list("a"))).toEqual([FULL_PROJECTION]);
      });

      it("R-11: take a removed account back when the transaction is rolled back", async () => {
        await store.write((tx) => tx.projections.putAccount(FULL_ACCOUNT));
        const failing = store.write(async (tx) => {
          await tx.projections.removeAccount("a");
          expect(await tx.projections.listAccounts()).toEqual([]);
          throw new Error("no");
        });
        await expect(failing).rejects.toThrow("no");
        expect(await store.read((tx) => tx.projections.listAccounts())).toEqual([FULL_ACCOUNT]);
      });

      it("P-6: count the fetches of an account, and make its row", async () => {
        const first = await store.write((tx) => tx.projections.nextSyncSeq("c", 10));
        expect(first).toBe(1);
        expect(await store.read((tx) => tx.projections.account("c"))).toEqual({
          ...BARE_ACCOUNT,
          accountId: "c",
          syncSeq: 1,
          seenAt: 10,
        });
        await store.write((tx) => tx.projections.putAccount(FULL_ACCOUNT));
        expect(await store.write((tx) => tx.projections.nextSyncSeq("a", 20))).toBe(8);
        expect(await store.read((tx) => tx.projections.account("a"))).toEqual({
          ...FULL_ACCOUNT,
          syncSeq: 8,
          seenAt: 20,
        });
      });
    });

    describe("overlay rows", () => {
      it.each([
        ["with everything", FULL_OVERLAY],
        ["with nothing optional", BARE_OVERLAY],
      ])("P-6: keep a row %s, versions beyond 2^53 included", async (_what, row) => {
        await store.write((tx) => tx.overlays.put(row));
        expect(await store.read((tx) => tx.overlays.get(row.accountId, row.connectorKey))).toEqual(row);
      });

      it("P-6: are one at most for each connector, listed by account in order of the key, and removed alone", async () => {
        await store.write(async (tx) => {
          await tx.projections.put(FULL_PROJECTION);
          await tx.overlays.put({ ...FULL_OVERLAY, phase: "standing" });
          await tx.overlays.put(FULL_OVERLAY);
          await tx.overlays.put(BARE_OVERLAY);
          await tx.overlays.put({ ...BARE_OVERLAY, accountId: "b" });
        });
        expect(await store.read((tx) => tx.overlays.list("a"))).toEqual([BARE_OVERLAY, FULL_OVERLAY]);
        await store.write((tx) => tx.overlays.remove("a", FULL_OVERLAY.connectorKey));
        expect(await store.read((tx) => tx.overlays.list("a"))).toEqual([BARE_OVERLAY]);
        expect(await store.read((tx) => tx.overlays.list("b"))).toHaveLength(1);
        expect(await store.read((tx) => tx.projections.list("a"))).toEqual([FULL_PROJECTION]);
      });

      it.each(["standing", "clearing", "cleared"] as const)("P-6: keep the phase %s", async (phase) => {
        await store.write((tx) => tx.overlays.put({ ...FULL_OVERLAY, phase }));
        expect(await store.read((tx) => tx.overlays.list("a"))).toEqual([{ ...FULL_OVERLAY, phase }]);
      });
    });

    describe("flow rows", () => {
      it.each([
        ["with everything", FULL_FLOW],
        ["with nothing optional", BARE_FLOW],
      ])("P-10: keep a row %s", async (_what, row) => {
        await store.write((tx) => tx.flows.put(row));
        expect(await store.read((tx) => tx.flows.get(row.accountId, row.clientRequestId))).toEqual(row);
      });

      it("P-10: are one for each request, listed by account in order of the request, and removed alone", async () => {
        await store.write(async (tx) => {
          await tx.flows.put({ ...FULL_FLOW, state: "waiting" });
          await tx.flows.put(FULL_FLOW);
          await tx.flows.put(BARE_FLOW);
          await tx.flows.put({ ...BARE_FLOW, accountId: "b" });
        });
        expect(await store.read((tx) => tx.flows.list("a"))).toEqual([BARE_FLOW, FULL_FLOW]);
        await store.write((tx) => tx.flows.remove("a", FULL_FLOW.clientRequestId));
        expect(await store.read((tx) => tx.flows.list("a"))).toEqual([BARE_FLOW]);
        expect(await store.read((tx) => tx.flows.list("b"))).toHaveLength(1);
      });

      it("P-10: a transaction that fails leaves no flow", async () => {
        const failed = store.write(async (tx) => {
          await tx.flows.put(FULL_FLOW);
          throw new Error("no");
        });
        await expect(failed).rejects.toThrow("no");
        expect(await store.read((tx) => tx.flows.list("a"))).toEqual([]);
      });

      it.each(["starting", "waiting", "authorized", "cancelling", "connected", "failed", "cancelled"] as const)(
        "P-10: keep the state %s",
        async (state) => {
          await store.write((tx) => tx.flows.put({ ...FULL_FLOW, state }));
          expect(await store.read((tx) => tx.flows.list("a"))).toEqual([{ ...FULL_FLOW, state }]);
        },
      );

      it.each([
        "provider_failed",
        "session_canceled",
        "expired",
        "refused",
        "unreachable",
        "invalid_answer",
        "secret_lost",
        "connection_not_shown",
        "cancelled",
        "replaced",
        "disconnected",
      ] as const)("P-10: keep the reason %s", async (reason) => {
        await store.write((tx) => tx.flows.put({ ...FULL_FLOW, reason }));
        expect(await store.read((tx) => tx.flows.list("a"))).toEqual([{ ...FULL_FLOW, reason }]);
      });

      it("P-10: write nothing in a read, nor after the end", async () => {
        await store.read(async (tx) => {
          await expect(tx.flows.put(BARE_FLOW)).rejects.toMatchObject({ code: "invalid_argument" });
          await expect(tx.flows.remove("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
        });
        const kept = await store.write(async (tx) => tx);
        await expect(kept.flows.get("a", "b")).rejects.toMatchObject({ code: "invalid_argument" });
      });
    });

    if (kind.reopen === undefined) return;

    it("R-9: keeps everything over a restart", async () => {
      await store.write(async (tx) => {
        await tx.convergence.put(FULL_ROW);
        await tx.convergence.put(BARE_ROW);
        await tx.projections.put(FULL_PROJECTION);
        await tx.projections.putAccount(FULL_ACCOUNT);
        await tx.overlays.put(FULL_OVERLAY);
        await tx.overlays.put(BARE_OVERLAY);
        await tx.flows.put(FULL_FLOW);
        await tx.flows.put(BARE_FLOW);
      });
      await store.close();
      store = (await kind.reopen?.()) ?? store;
      expect(await get(FULL_ROW.scope, FULL_ROW.key)).toEqual(FULL_ROW);
      expect(await get(BARE_ROW.scope, BARE_ROW.key)).toEqual(BARE_ROW);
      expect(await store.read((tx) => tx.projections.list("a"))).toEqual([FULL_PROJECTION]);
      expect(await store.read((tx) => tx.projections.account("a"))).toEqual(FULL_ACCOUNT);
      expect(await store.read((tx) => tx.overlays.list("a"))).toEqual([BARE_OVERLAY, FULL_OVERLAY]);
      expect(await store.read((tx) => tx.flows.list("a"))).toEqual([BARE_FLOW, FULL_FLOW]);
    });
  },
);
