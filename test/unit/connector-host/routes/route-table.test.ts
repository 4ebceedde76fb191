import { describe, expect, it } from "vitest";
import { type PublicationChange } from "../../../../src/connector-host/routes/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { settle } from "../../../support/fake-clock.js";
import { openBench, routeOf, ScriptedClient } from "./scripted-routes.js";

describe("H-12: commit", () => {
  it("publishes, and replaces by publishing next before the old one is fenced and closed", async () => {
    const { table } = openBench();
    const old = routeOf(1);
    expect(await table.commit(old)).toEqual({ published: true, cleanupPending: false });
    const next = routeOf(2);
    const seen: unknown[] = [];
    old.client.onClose = () => seen.push(table.current("git") === next && old.state);
    const committing = table.commit(next);
    expect(table.current("git")).toBe(next);
    expect(await committing).toEqual({ published: true, cleanupPending: false });
    expect(seen).toEqual(["superseded"]);
    expect(old.client.isClosed).toBe(true);
    expect(next.client.closeCalls).toBe(0);
    expect(table.counts).toEqual({ published: 1, retiring: 0, staged: 0, scopes: 1, fences: 0 });
  });

  it("publishes before it returns, so that several appear in one step", () => {
    const { table } = openBench();
    const results = [table.commit(routeOf(2, { key: "b" })), table.commit(routeOf(1, { key: "a" }))];
    expect(table.list().map((route) => route.connectorKey)).toEqual(["a", "b"]);
    return Promise.all(results);
  });

  it.each([
    ["of a shut scope", "stale_epoch", routeOf(9, { scope: "nobody" })],
    ["of another epoch", "stale_epoch", routeOf(9, { epoch: "e0" })],
    ["at the fence", "fenced", routeOf(4, { key: "hub" })],
    ["behind the fence", "fenced", routeOf(3, { key: "hub" })],
    ["behind the published one", "older_generation", routeOf(4)],
    ["of another scope's key", "key_in_use", routeOf(9, { scope: "device" })],
  ])("refuses a route %s, and closes it", async (_, refusal, route) => {
    const { table, clock } = openBench();
    table.openScope("device", "e1");
    table.fence("acc", "hub", 4, "revoke");
    const current = routeOf(5);
    await table.commit(current);
    expect(await table.commit(route)).toEqual({ published: false, refusal, cleanupPending: false });
    expect(table.list()).toEqual([current]);
    expect(route.state).toBe("revoked");
    expect(route.client.isClosed).toBe(true);
    expect(current.client.closeCalls).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("refuses a route that was withdrawn before, and does not close it again", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    table.retireExact(route);
    await settle();
    expect(await table.commit(route)).toEqual({ published: false, refusal: "not_open", cleanupPending: false });
    expect(route.client.closeCalls).toBe(1);
  });

  it("confirms the route that is published already, and takes an equal generation in its place", async () => {
    const { table } = openBench();
    const first = routeOf(1);
    await table.commit(first);
    expect(await table.commit(first)).toEqual({ published: true, cleanupPending: false });
    expect(first.client.closeCalls).toBe(0);
    const retry = routeOf(1);
    expect(await table.commit(retry)).toMatchObject({ published: true });
    expect(table.current("git")).toBe(retry);
    expect(first.client.isClosed).toBe(true);
  });

  it("★ item 15: a failed cleanup of the old route leaves the next one published and open, and is debt", async () => {
    const { table, clock, diagnostics } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("rejects", "closes") });
    await table.commit(old);
    const next = routeOf(2);
    expect(await table.commit(next)).toEqual({ published: true, cleanupPending: true });
    expect(table.current("git")).toBe(next);
    expect(next.state).toBe("open");
    expect(next.client.closeCalls).toBe(0);
    expect(diagnostics.map((each) => each.kind)).toEqual(["close_failed"]);
    await clock.advance(1_000);
    expect(old.client.isClosed).toBe(true);
    expect(table.counts.retiring).toBe(0);
    expect(table.current("git")).toBe(next);
    expect(clock.pending).toBe(0);
  });

  it("waits for one attempt to close only, and for its deadline only", async () => {
    const { table, clock } = openBench();
    await table.commit(routeOf(1, { client: new ScriptedClient("hangs") }));
    let result: unknown;
    const committing = table.commit(routeOf(2)).then((value) => (result = value));
    await clock.advance(2_999);
    expect(result).toBeUndefined();
    await clock.advance(1);
    expect(result).toEqual({ published: true, cleanupPending: true });
    await committing;
  });
});

describe("H-12: remove", () => {
  it("takes the route away, fences its generation, and ends its calls", async () => {
    const { table } = openBench();
    const route = routeOf(3);
    await table.commit(route);
    const removing = table.remove("acc", "git", 4);
    expect(table.current("git")).toBeUndefined();
    expect(route.signal.aborted).toBe(true);
    expect(await removing).toEqual({ removed: true, cleanupPending: false });
    expect(table.fenceOf("acc", "git")).toBe(4);
    expect(await table.commit(routeOf(4))).toMatchObject({ refusal: "fenced" });
    expect(await table.commit(routeOf(5))).toMatchObject({ published: true });
  });

  it("advances the fence without a route", async () => {
    const { table } = openBench();
    expect(await table.remove("acc", "git", 4)).toEqual({ removed: false, cleanupPending: false });
    expect(await table.commit(routeOf(4))).toMatchObject({ refusal: "fenced" });
  });

  it("of an older generation does nothing", async () => {
    const { table } = openBench();
    const route = routeOf(5);
    await table.commit(route);
    expect(await table.remove("acc", "git", 4)).toEqual({ removed: false, cleanupPending: false });
    expect(table.current("git")).toBe(route);
    expect(route.state).toBe("open");
    expect(table.fenceOf("acc", "git")).toBeUndefined();
  });

  it("of another release does nothing", async () => {
    const { table } = openBench();
    const route = routeOf(5, { digest: "d2" });
    await table.commit(route);
    expect(await table.remove("acc", "git", 9, "d1")).toEqual({ removed: false, cleanupPending: false });
    expect(table.current("git")).toBe(route);
    expect(table.fenceOf("acc", "git")).toBeUndefined();
    expect(await table.remove("acc", "git", 9, "d2")).toMatchObject({ removed: true });
  });

  it("in another scope leaves the key's route alone", async () => {
    const { table } = openBench();
    const route = routeOf(5);
    await table.commit(route);
    await table.remove("device", "git", 9);
    expect(table.current("git")).toBe(route);
  });

  it("★ item 17: keeps older routes that are not closed yet, and closes all of them", async () => {
    const { table, clock } = openBench();
    const oldest = routeOf(1, { client: new ScriptedClient("rejects", "rejects", "closes") });
    const old = routeOf(2, { client: new ScriptedClient("rejects", "closes") });
    await table.commit(oldest);
    await table.commit(old);
    expect(await table.remove("acc", "git", 3)).toEqual({ removed: true, cleanupPending: true });
    expect(table.counts.retiring).toBe(2);
    await clock.advance(10_000);
    expect([oldest.client.isClosed, old.client.isClosed]).toEqual([true, true]);
    expect(table.counts.retiring).toBe(0);
  });

  it("★ item 19: in a scope with another epoch, or none, is cleanup that may be repeated", async () => {
    const { table } = openBench();
    await table.commit(routeOf(1));
    table.openScope("acc", "e2");
    for (const scope of ["acc", "acc", "nobody"]) {
      expect(await table.remove(scope, "git", 1)).toEqual({ removed: false, cleanupPending: false });
    }
  });
});

describe("H-12: an exact retire", () => {
  it("takes away the published route without fencing its generation", async () => {
    const { table } = openBench();
    const route = routeOf(3);
    await table.commit(route);
    expect(table.retireExact(route)).toEqual({ wasPublished: true });
    expect(table.current("git")).toBeUndefined();
    expect(route.state).toBe("revoked");
    expect(await table.commit(routeOf(2))).toMatchObject({ refusal: "fenced" });
    expect(await table.commit(routeOf(3))).toMatchObject({ published: true });
  });

  it("★ item 16: of a retiring route leaves the newer one published, open and unreported", async () => {
    const { table, clock } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("rejects", "closes") });
    const next = routeOf(2);
    await table.commit(old);
    await table.commit(next);
    const changes: unknown[] = [];
    table.onPublication((each) => changes.push(each));
    expect(table.retireExact(old)).toEqual({ wasPublished: false });
    expect(table.current("git")).toBe(next);
    expect(next.state).toBe("open");
    await clock.advance(1_000);
    expect(old.client.isClosed).toBe(true);
    expect(next.client.closeCalls).toBe(0);
    expect(changes).toEqual([]);
  });

  it("of a route that never came in does nothing", () => {
    const { table } = openBench();
    expect(table.retireExact(routeOf(1))).toEqual({ wasPublished: false });
    expect(table.fenceOf("acc", "git")).toBeUndefined();
  });
});

describe("H-13: fences", () => {
  it("★ item 18: a revoking one aborts the calls in flight at once, with a reason", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const leave = route.enter();
    const reasons: unknown[] = [];
    route.signal.addEventListener("abort", () => reasons.push(route.signal.reason));
    table.fence("acc", "git", 1, "revoke");
    expect(table.current("git")).toBeUndefined();
    expect(reasons).toHaveLength(1);
    expect(isRemoteConnectorError(reasons[0], "cancelled")).toBe(true);
    expect(route.client.closeCalls).toBe(1);
    leave();
  });

  it("a superseding one ends new calls, lets those in flight finish, then closes", async () => {
    const { table, clock } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const leaves = [route.enter(), route.enter()];
    table.fence("acc", "git", 1, "supersede");
    expect(table.current("git")).toBeUndefined();
    expect(route.state).toBe("superseded");
    expect(route.signal.aborted).toBe(false);
    await clock.advance(59_999);
    leaves[0]?.();
    expect(route.client.closeCalls).toBe(0);
    leaves[1]?.();
    leaves[1]?.();
    await settle();
    expect(route.client.isClosed).toBe(true);
    expect(route.signal.aborted).toBe(false);
    expect(table.counts.retiring).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("a superseded route is aborted when the drain limit passes", async () => {
    const { table, clock, diagnostics } = openBench({ drainTimeoutMs: 5_000 });
    const old = routeOf(1);
    await table.commit(old);
    old.enter();
    expect(await table.commit(routeOf(2))).toEqual({ published: true, cleanupPending: true });
    await clock.advance(4_999);
    expect(old.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(old.signal.aborted).toBe(true);
    expect(old.client.isClosed).toBe(true);
    expect(diagnostics.map((each) => each.kind)).toEqual(["drain_expired"]);
    expect(table.counts.retiring).toBe(0);
  });

  it.each([
    ["a revoking fence", (table: ReturnType<typeof openBench>["table"]) => table.fence("acc", "git", 2, "revoke")],
    ["a removal", (table: ReturnType<typeof openBench>["table"]) => void table.remove("acc", "git", 2)],
    ["shutting the scope", (table: ReturnType<typeof openBench>["table"]) => table.fenceAll("acc")],
    ["another epoch", (table: ReturnType<typeof openBench>["table"]) => table.openScope("acc", "e2")],
    ["closing the table", (table: ReturnType<typeof openBench>["table"]) => void table.close(1_000)],
  ])("%s reaches calls that still drain over superseded routes", async (_, end) => {
    const { table } = openBench();
    const old = routeOf(1);
    await table.commit(old);
    old.enter();
    await table.commit(routeOf(2));
    expect(old.signal.aborted).toBe(false);
    end(table);
    expect(old.signal.aborted).toBe(true);
    expect(old.client.closeCalls).toBe(1);
    await settle();
  });

  it("an older fence does not lower a newer one, nor touch a newer route", async () => {
    const { table } = openBench();
    table.fence("acc", "git", 5, "revoke");
    table.fence("acc", "git", 3, "revoke");
    expect(table.fenceOf("acc", "git")).toBe(5);
    const route = routeOf(7);
    await table.commit(route);
    table.fence("acc", "git", 6, "revoke");
    expect(table.current("git")).toBe(route);
    expect(route.state).toBe("open");
  });

  it("R-11: of shut scopes are kept for 256 of them; those of the scope that was fenced first go", () => {
    const { table } = openBench();
    for (let i = 0; i < 300; i += 1) table.fence(`shut ${String(i)}`, "git", 4, "revoke");
    expect(table.counts).toMatchObject({ scopes: 257, fences: 256 });
    expect(table.fenceOf("shut 43", "git")).toBeUndefined();
    expect(table.fenceOf("shut 44", "git")).toBe(4);
    table.openScope("shut 44", "e1");
    table.forgetFence("shut 45", "git");
    table.fence("another", "git", 4, "revoke");
    table.fence("and another", "git", 4, "revoke");
    expect(table.fenceOf("shut 44", "git")).toBe(4);
    expect(table.fenceOf("shut 46", "git")).toBe(4);
    expect(table.fenceOf("acc", "git")).toBeUndefined();
  });

  it("of a shut scope holds in the epoch that opens next, and not in the one after", async () => {
    const { table } = openBench();
    table.fenceAll("acc");
    table.fence("acc", "git", 5, "revoke");
    table.openScope("acc", "e2");
    expect(await table.commit(routeOf(5, { epoch: "e2" }))).toMatchObject({ refusal: "fenced" });
    table.openScope("acc", "e3");
    expect(await table.commit(routeOf(5, { epoch: "e3" }))).toMatchObject({ published: true });
  });

  it("of everything in a scope is one step, and leaves other scopes alone", async () => {
    const { table } = openBench();
    table.openScope("device", "e1");
    const mine = [routeOf(1, { key: "a" }), routeOf(2, { key: "b" })];
    const other = routeOf(3, { key: "c", scope: "device" });
    for (const route of [...mine, other]) await table.commit(route);
    const seen: [number, number][] = [];
    table.onPublication((changes) => seen.push([changes.length, table.list().length]));
    table.fenceAll("acc");
    expect(seen).toEqual([[2, 1]]);
    expect(table.list()).toEqual([other]);
    expect(mine.map((route) => route.state)).toEqual(["revoked", "revoked"]);
    expect(await table.commit(routeOf(9))).toMatchObject({ refusal: "stale_epoch" });
    await settle();
  });

  it("opening the epoch that is open changes nothing", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    table.openScope("acc", "e1");
    expect(table.current("git")).toBe(route);
  });
});

describe("H-12: cleanup debt", () => {
  it("is retried with growing pauses and given up after ten attempts, with a diagnostic", async () => {
    const { table, clock, diagnostics } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("rejects") });
    await table.commit(old);
    await table.commit(routeOf(2));
    const attempts: number[] = [];
    const start = clock.now();
    old.client.onClose = () => attempts.push((clock.now() - start) / 1_000);
    await clock.advance(600_000);
    expect(attempts).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243]);
    expect(diagnostics.map((each) => each.kind)).toEqual([
      ...Array.from({ length: 9 }, () => "close_failed"),
      "cleanup_abandoned",
    ]);
    expect(diagnostics.at(-1)).toMatchObject({ connectorKey: "git", generation: 1, attempts: 10 });
    expect(table.counts.retiring).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("is paid by an attempt that succeeds after its deadline", async () => {
    const { table, clock } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("hangs") });
    await table.commit(old);
    const committing = table.commit(routeOf(2));
    await clock.advance(3_500);
    expect(await committing).toEqual({ published: true, cleanupPending: true });
    old.client.release();
    await settle();
    expect(table.counts.retiring).toBe(0);
    expect(clock.pending).toBe(0);
    expect(old.client.closeCalls).toBe(1);
  });

  it("is not counted twice when an attempt fails after its deadline", async () => {
    const { table, clock, diagnostics } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("hangs") });
    await table.commit(old);
    const committing = table.commit(routeOf(2));
    await clock.advance(3_500);
    await committing;
    old.client.failLate();
    await clock.advance(500);
    expect(old.client.closeCalls).toBe(2);
    await clock.advance(1_000);
    old.client.failLate();
    await settle();
    expect(diagnostics.map((each) => each.kind)).toEqual(["close_failed", "close_failed"]);
    expect(diagnostics.at(-1)).toMatchObject({ attempts: 2, cause: expect.any(Error) });
  });

  it("a failure of an attempt that is over does not end the one under way", async () => {
    const { table, clock, diagnostics } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("hangs") });
    await table.commit(old);
    const committing = table.commit(routeOf(2));
    await clock.advance(4_500);
    await committing;
    expect(old.client.closeCalls).toBe(2);
    old.client.failLate();
    await settle();
    expect(diagnostics.map((each) => each.attempts)).toEqual([1]);
  });

  it("of a client that throws is debt like any other", async () => {
    const { table, clock } = openBench();
    const old = routeOf(1, { client: new ScriptedClient("throws", "closes") });
    await table.commit(old);
    expect(await table.commit(routeOf(2))).toEqual({ published: true, cleanupPending: true });
    await clock.advance(1_000);
    expect(old.client.isClosed).toBe(true);
  });

  it("holds four routes of a connector; a fifth gives up the oldest, whose calls are aborted", async () => {
    const { table, diagnostics } = openBench();
    const routes = [1, 2, 3, 4, 5, 6].map((generation) => routeOf(generation));
    for (const route of routes) {
      await table.commit(route);
      route.enter();
    }
    expect(table.counts.retiring).toBe(4);
    expect(routes.map((route) => route.state)).toEqual([
      "revoked",
      "superseded",
      "superseded",
      "superseded",
      "superseded",
      "open",
    ]);
    expect(routes.map((route) => route.client.closeCalls)).toEqual([1, 0, 0, 0, 0, 0]);
    expect(diagnostics.map((each) => [each.kind, each.generation])).toEqual([["cleanup_abandoned", 1]]);
  });

  it("a diagnostic hook that throws stops no cleanup", async () => {
    const { table, clock } = openBench({
      onDiagnostic: () => {
        throw new Error("hook");
      },
    });
    const old = routeOf(1, { client: new ScriptedClient("rejects", "closes") });
    await table.commit(old);
    await table.commit(routeOf(2));
    await clock.advance(1_000);
    expect(old.client.isClosed).toBe(true);
  });
});

describe("H-12: readers", () => {
  it("keep the list that they took", async () => {
    const { table } = openBench();
    await table.commit(routeOf(1));
    const before = table.list();
    expect(table.list()).toBe(before);
    table.fenceAll("acc");
    expect(before).toHaveLength(1);
    expect(table.list()).toEqual([]);
    expect(Object.isFrozen(before)).toBe(true);
  });

  it("know whether a generation is held", async () => {
    const { table } = openBench();
    await table.commit(routeOf(3));
    expect(table.holds("acc", "git", 3)).toBe(true);
    expect(table.holds("acc", "git", 2)).toBe(false);
    expect(table.holds("device", "git", 3)).toBe(false);
    table.fence("acc", "git", 3, "revoke");
    expect(table.holds("acc", "git", 3)).toBe(false);
  });

  it("are told of each change when they can see it, until they leave, though another throws", async () => {
    const { table, diagnostics } = openBench();
    const [first, second] = [routeOf(1), routeOf(2)];
    const told: PublicationChange[] = [];
    table.onPublication(() => {
      throw new Error("listener");
    });
    const leave = table.onPublication((changes) => {
      for (const change of changes) {
        expect(table.current(change.connectorKey)).toBe(change.current);
        told.push(change);
      }
    });
    await table.commit(first);
    await table.commit(second);
    await table.remove("acc", "git", 2);
    leave();
    await table.commit(routeOf(3));
    expect(told.map(({ previous, current }) => [previous?.generation, current?.generation])).toEqual([
      [undefined, 1],
      [1, 2],
      [2, undefined],
    ]);
    expect(diagnostics.filter((each) => each.kind === "listener_failed")).toHaveLength(4);
  });

  it("may change the table while they are told: what was just replaced can be revoked", async () => {
    const { table } = openBench();
    const old = routeOf(1);
    await table.commit(old);
    old.enter();
    table.onPublication(() => table.fence("acc", "git", 1, "revoke"));
    await table.commit(routeOf(2));
    expect(old.signal.aborted).toBe(true);
    expect(table.current("git")?.generation).toBe(2);
  });
});

describe("H-12: a closed table", () => {
  it("publishes nothing, and closes what comes", async () => {
    const { table, clock } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const closing = table.close(1_000);
    expect(table.list()).toEqual([]);
    expect(route.state).toBe("revoked");
    expect(await closing).toEqual({ abandoned: 0 });
    const [late, stubborn] = [routeOf(2), routeOf(3, { client: new ScriptedClient("rejects") })];
    expect(await table.commit(late)).toEqual({ published: false, refusal: "table_closed", cleanupPending: false });
    expect(late.client.isClosed).toBe(true);
    await table.commit(stubborn);
    expect(stubborn.client.closeCalls).toBe(2);
    expect(clock.pending).toBe(0);
  });

  it("is closed within its deadline, whatever its clients do, and closes once", async () => {
    const { table, clock, diagnostics } = openBench();
    await table.commit(routeOf(1, { client: new ScriptedClient("hangs") }));
    await table.commit(routeOf(2, { key: "hub", client: new ScriptedClient("rejects") }));
    await table.commit(routeOf(3, { key: "good" }));
    let result: unknown;
    const closing = table.close(2_000);
    expect(table.close(9)).toBe(closing);
    const done = closing.then((value) => (result = value));
    await clock.advance(1_999);
    expect(result).toBeUndefined();
    await clock.advance(1);
    expect(result).toEqual({ abandoned: 2 });
    await done;
    expect(diagnostics.filter((each) => each.kind === "cleanup_abandoned")).toHaveLength(2);
    expect(table.counts).toMatchObject({ published: 0, retiring: 0 });
    expect(clock.pending).toBe(0);
  });
});

describe("H-16: what grows shrinks", () => {
  it("★ item 19: 10,000 connectors and logins leave nothing behind", async () => {
    const { table, clock } = openBench();
    for (let n = 1; n <= 10_000; n += 1) {
      const [scope, key] = [`account-${String(n % 100)}`, `connector-${String(n)}`];
      table.openScope(scope, `epoch-${String(n)}`);
      await table.commit(routeOf(n, { scope, key, epoch: `epoch-${String(n)}` }));
      if (n % 2 === 0) {
        await table.remove(scope, key, n);
        table.forgetFence(scope, key);
      }
      table.fenceAll(scope);
      if (n % 3 === 0) {
        table.fence(scope, key, n, "revoke");
        table.forgetFence(scope, key);
      }
    }
    await settle();
    expect(table.counts).toEqual({ published: 0, retiring: 0, staged: 0, scopes: 1, fences: 0 });
    expect(clock.pending).toBe(0);
  });
});

describe("options", () => {
  it.each([{ drainTimeoutMs: 0 }, { maxCloseAttempts: 0 }, { maxRetiringPerKey: 1.5 }, { drainTimeout: 5 }])(
    "%j is refused",
    (options: object) => {
      expect(() => openBench(options)).toThrowError(expect.objectContaining({ code: "invalid_options" }));
    },
  );
});
