import { describe, expect, it } from "vitest";
import { settle } from "../../../support/fake-clock.js";
import { openBench, routeOf, ScriptedClient } from "./scripted-routes.js";

const STAGED = { published: false, refusal: "staged", cleanupPending: false };

/** A table whose gate is closed, with what was announced of it since. */
function closedBench() {
  const bench = openBench();
  const announced: string[][] = [];
  bench.table.onPublication((changes) => {
    announced.push(changes.map(({ connectorKey, current }) => `${connectorKey}@${String(current?.generation)}`));
  });
  bench.table.closeGate("acc");
  return { ...bench, announced };
}

describe("H-15: the gate of a scope", () => {
  it("H-15: stages what is committed while it is closed, and publishes it in one step", async () => {
    const { table, announced } = closedBench();
    const [a, b] = [routeOf(1, { key: "a" }), routeOf(2, { key: "b" })];
    expect(await Promise.all([table.commit(b), table.commit(a)])).toEqual([STAGED, STAGED]);
    expect([table.list(), table.holds("acc", "a", 1), table.isStaged("acc", "a", 1)]).toEqual([[], false, true]);
    expect(table.stagedKeys("acc")).toEqual(["a", "b"]);
    expect(table.openGate("acc")).toEqual([a, b]);
    expect(announced).toEqual([["a@1", "b@2"]]);
    expect(table.list()).toEqual([a, b]);
    expect([a, b].map(({ state }) => state)).toEqual(["open", "open"]);
    expect(table.counts.staged).toBe(0);
    expect(await table.commit(a)).toEqual({ published: true, cleanupPending: false });
  });

  it("H-15: keeps the newest of a connector, refuses an older one, and closes what is left out", async () => {
    const { table } = closedBench();
    const [old, next, late] = [routeOf(2), routeOf(3), routeOf(1)];
    await table.commit(old);
    expect(await table.commit(next)).toMatchObject({ refusal: "staged" });
    expect(await table.commit(late)).toMatchObject({ refusal: "older_generation" });
    await settle();
    expect([old, late, next].map(({ client }) => client.isClosed)).toEqual([true, true, false]);
    expect(table.openGate("acc")).toEqual([next]);
  });

  it("H-15: a fence, a removal, the end of a client and the end of the scope take away what is staged", async () => {
    const { table } = closedBench();
    const routes = ["a", "b", "c", "d"].map((key, index) => routeOf(index + 1, { key }));
    await Promise.all(routes.map((route) => table.commit(route)));
    const [a, b, c, d] = routes;
    table.fence("acc", "a", 1);
    expect(await table.remove("acc", "b", 2)).toMatchObject({ removed: false });
    if (c !== undefined) expect(table.retireExact(c)).toEqual({ wasPublished: false });
    expect(table.stagedKeys("acc")).toEqual(["d"]);
    table.fenceAll("acc");
    await settle();
    expect([a, b, c, d].map((route) => [route?.state, route?.client.closeCalls])).toEqual(
      routes.map(() => ["revoked", 1]),
    );
    expect(table.openGate("acc")).toEqual([]);
    // The next epoch begins with an open gate.
    table.openScope("acc", "e2");
    expect(await table.commit(routeOf(9, { epoch: "e2" }))).toMatchObject({ published: true });
  });

  it("H-15: closing fails closed: all of the scope is revoked before it returns, and can be made again", async () => {
    const { table, clock } = openBench();
    table.openScope("device", "e1");
    const [ours, retiring, theirs] = [routeOf(2), routeOf(1), routeOf(3, { key: "files", scope: "device" })];
    const leave = retiring.enter();
    for (const route of [retiring, ours, theirs]) void table.commit(route);
    const announced: number[] = [];
    table.onPublication((changes) => announced.push(changes.length));
    expect(table.closeGate("acc")).toEqual([ours]);
    expect([ours.state, retiring.state, theirs.state]).toEqual(["revoked", "revoked", "open"]);
    expect([table.list(), announced]).toEqual([[theirs], [1]]);
    expect(table.closeGate("acc")).toEqual([]);
    leave();
    expect(await table.drained("acc", 10_000)).toBe(0);
    expect(await table.commit(routeOf(2))).toMatchObject({ refusal: "staged" });
    expect(clock.pending).toBe(0);
  });

  it("H-15: the wait for closing is bounded, and only reports", async () => {
    const { table, clock } = openBench({ closeTimeoutMs: 60_000 });
    await table.commit(routeOf(1, { client: new ScriptedClient("hangs") }));
    table.closeGate("acc");
    const drained = table.drained("acc", 10_000);
    await clock.advance(10_000);
    expect(await drained).toBe(1);
  });

  it("H-15, H-11: what is not wanted any more is not published by opening, nor by a commit", async () => {
    const off = new Set<string>();
    const { table } = openBench({ mayPublish: ({ connectorKey }) => !off.has(connectorKey) });
    table.closeGate("acc");
    const [a, b] = [routeOf(1, { key: "a" }), routeOf(2, { key: "b" })];
    await Promise.all([table.commit(a), table.commit(b)]);
    off.add("a");
    expect(table.openGate("acc")).toEqual([b]);
    await settle();
    expect([a.state, a.client.isClosed]).toEqual(["revoked", true]);
    expect(await table.commit(routeOf(3, { key: "a" }))).toMatchObject({ published: false, refusal: "not_wanted" });
  });
});
