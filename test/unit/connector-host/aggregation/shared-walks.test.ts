import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { ListBudgets } from "../../../../src/connector-host/aggregation/list-budgets.js";
import { type Listed, SharedWalks } from "../../../../src/connector-host/aggregation/shared-walks.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

const [ada, bob] = ["ada", "bob"].map((agentSessionId): Binding => ({
  workspaceId: "w",
  agentSessionId,
  invocation: undefined,
  login: undefined,
}));

/** Walks over one route, which a test ends by hand. */
function walks() {
  const clock = new FakeClock();
  const begun: { resolve(names: string): void; reject(error: unknown): void; readonly signal: AbortSignal }[] = [];
  const listed: Listed<string>[] = [];
  const failed: unknown[] = [];
  const shared = new SharedWalks<string>({
    clock,
    read: (_route, signal) => new Promise((resolve, reject) => begun.push({ resolve, reject, signal })),
    onListed: (_route, one) => listed.push(one),
    onLateFailure: (_route, error) => failed.push(error),
  });
  const route = new Route<RemoteMcpClient>({
    connectorKey: "a",
    scope: "s",
    scopeEpoch: "e",
    generation: 1,
    releaseDigest: "d",
    connectionVersion: 1n,
    // Never asked: what is read here is read by hand.
    client: new ModernStreamableHTTPClient({ endpoint: "http://127.0.0.1:9", clientInfo: { name: "t", version: "1" } }),
    tools: new Map(),
  });
  const read = (binding?: Binding, signal = new AbortController().signal): Promise<string> => {
    const reading = shared.list(route, { binding, signal, limitMs: 100, option: "listBudgetMs" });
    reading.catch(() => undefined);
    return reading;
  };
  return { clock, begun, listed, failed, shared, route, read };
}

describe("SharedWalks", () => {
  it("H-25: a walk is joined however old it is, and not when something was invalidated since it began", async () => {
    const { begun, clock, listed, shared, route, read } = walks();
    const first = read(ada);
    await clock.advance(90);
    const second = read(bob);
    expect(begun).toHaveLength(1);
    shared.invalidate(route);
    const third = read(bob);
    expect(begun).toHaveLength(2);
    begun[1]?.resolve("new");
    begun[0]?.resolve("old");
    expect(await Promise.all([first, second, third])).toEqual(["old", "old", "new"]);
    expect([shared.newest(route), shared.valid(route)]).toEqual(["new", "new"]);
    // What comes last is not the newest: no catalog is made of it.
    expect(listed.map(({ listing }) => listing)).toEqual(["new"]);
  });

  it("H-25: one that leaves ends nothing; the last one does, unless somebody left because it was late", async () => {
    const { begun, clock, read } = walks();
    const [first, second] = [new AbortController(), new AbortController()];
    void read(ada, first.signal);
    void read(bob, second.signal);
    first.abort();
    await settle();
    expect(begun[0]?.signal.aborted).toBe(false);
    second.abort();
    await settle();
    expect(begun[0]?.signal.aborted).toBe(true);
    const late = read(ada);
    await clock.advance(100);
    await expect(late).rejects.toMatchObject({ code: "timeout", details: { option: "listBudgetMs" } });
    expect([begun.length, begun[1]?.signal.aborted]).toEqual([2, false]);
  });

  it("H-24: a walk that ends late is kept for those who missed it, once each", async () => {
    const { begun, clock, listed, read, shared, route } = walks();
    void read(ada);
    void read(bob);
    await clock.advance(150);
    begun[0]?.resolve("late");
    await settle();
    expect(listed).toEqual([{ listing: "late", tookMs: 150, wasMissed: true, before: undefined }]);
    expect([await read(ada), await read(bob), begun.length]).toEqual(["late", "late", 1]);
    void read(ada);
    expect([begun.length, shared.newest(route)]).toEqual([2, "late"]);
  });

  it("H-24: what is kept is dropped by an invalidation, and after 30 seconds", async () => {
    for (const drop of ["invalidation", "time"]) {
      const { begun, clock, read, shared, route } = walks();
      void read(ada);
      await clock.advance(150);
      begun[0]?.resolve("late");
      await settle();
      if (drop === "invalidation") shared.invalidate(route);
      else await clock.advance(30_000);
      void read(ada);
      expect(begun, drop).toHaveLength(2);
    }
  });

  it("H-24: a walk during which something was invalidated is kept for nobody, and valid for nobody", async () => {
    const { begun, clock, listed, read, shared, route } = walks();
    void read(ada);
    await clock.advance(150);
    shared.invalidate(route);
    begun[0]?.resolve("late");
    await settle();
    expect([listed[0]?.wasMissed, shared.newest(route), shared.valid(route)]).toEqual([false, "late", undefined]);
  });

  it("H-25: one lost answer costs the lists that waited for it, not those that come after it", async () => {
    const { begun, clock, listed, read } = walks();
    const first = read(ada);
    await clock.advance(100);
    await expect(first).rejects.toMatchObject({ code: "timeout" });
    const [again, other] = [read(ada), read(bob)];
    await clock.advance(10);
    begun[1]?.resolve("list");
    expect([await again, await other, begun.length]).toEqual(["list", "list", 2]);
    // Nobody needs the first one any more, nobody is owed anything, and what took long is not the server's way.
    expect([begun[0]?.signal.aborted, listed.map(({ tookMs }) => tookMs)]).toEqual([true, [10]]);
    void read(ada);
    expect(begun).toHaveLength(3);
  });

  it("H-24, H-25: who asks after a late walk gets what comes first, and a silent server is asked twice at most", async () => {
    const { begun, clock, listed, read } = walks();
    void read(ada);
    await clock.advance(100);
    const second = read(bob);
    await clock.advance(100);
    await expect(second).rejects.toMatchObject({ code: "timeout" });
    const third = read(ada);
    expect(begun).toHaveLength(2);
    // That one of the two fails costs neither the other nor those who wait for it.
    begun[0]?.reject("down");
    await clock.advance(50);
    begun[1]?.resolve("late");
    expect([await third, await read(bob), begun.length]).toEqual(["late", "late", 2]);
    expect(listed).toEqual([{ listing: "late", tookMs: 150, wasMissed: true, before: undefined }]);
  });

  it("H-24: of two questions one answer is enough, whichever it is and whichever fails", async () => {
    for (const fails of [0, 1]) {
      const { begun, clock, read } = walks();
      const patient = read();
      void read(ada);
      await clock.advance(99);
      const second = read(bob);
      await clock.advance(1);
      const third = read(ada);
      begun[fails]?.reject("down");
      await settle();
      begun[1 - fails]?.resolve("list");
      await settle();
      // The first one has had its time, and had asked before anybody was late.
      await expect(patient, String(fails)).rejects.toMatchObject({ code: "timeout" });
      expect([await second, await third], String(fails)).toEqual(["list", "list"]);
    }
  });

  it("H-25: nothing is asked for somebody who has left already", async () => {
    const { begun, read } = walks();
    await expect(read(ada, AbortSignal.abort("gone"))).rejects.toBe("gone");
    expect(begun).toEqual([]);
  });

  it("H-24: a route whose walk ended without an answer is silent until it answers; one that refuses is not", async () => {
    const { begun, clock, read, shared, route } = walks();
    const ends = async (end: () => void): Promise<boolean> => {
      const reading = read(ada);
      end();
      await reading.catch(() => undefined);
      return shared.isSilent(route);
    };
    const silence = new RemoteConnectorError("timeout", {
      message: "Nothing came.",
      delivery: "unknown",
      details: { phase: "total", option: "totalTimeoutMs", limitMs: 30_000 },
    });
    expect(await ends(() => begun.at(-1)?.reject(silence))).toBe(true);
    expect(await ends(() => begun.at(-1)?.resolve("list"))).toBe(false);
    expect(await ends(() => begun.at(-1)?.reject(silence))).toBe(true);
    expect(await ends(() => begun.at(-1)?.reject("down"))).toBe(false);
    // It is known though lists come so often that it is always being read.
    void read(ada);
    await clock.advance(100);
    void read(bob);
    begun.at(-2)?.reject(silence);
    await settle();
    expect(shared.isSilent(route)).toBe(true);
  });

  it("H-24: a failure for which nobody waits any more is told", async () => {
    const { begun, clock, failed, read } = walks();
    void read(ada);
    await clock.advance(150);
    begun[0]?.reject("down");
    await settle();
    expect(failed).toEqual(["down"]);
    const heard = read(ada);
    begun[1]?.reject("down again");
    await expect(heard).rejects.toBe("down again");
    expect(failed).toEqual(["down"]);
  });
});

describe("ListBudgets", () => {
  it("H-24: a late connector gets 1.5 times what it took last, at most 30 seconds, until it is in time", () => {
    const budgets = new ListBudgets();
    expect(budgets.of("a", 5_000)).toBe(5_000);
    const after = (tookMs: number): number => {
      budgets.note("a", tookMs, 5_000);
      return budgets.of("a", 5_000);
    };
    expect([6_000, 5_001, 25_000, 5_000].map(after)).toEqual([9_000, 7_502, 30_000, 5_000]);
    // A silent one is not waited for as long as a slow one.
    expect([budgets.of("a", 5_000, true), budgets.of("a", 500, true)]).toEqual([1_000, 500]);
    budgets.note("a", 90_000, 60_000);
    expect([budgets.of("a", 60_000), budgets.of("b", 5_000)]).toEqual([60_000, 5_000]);
  });

  it("H-16: remembers 1,024 connectors, those that were late last", () => {
    const budgets = new ListBudgets();
    for (let index = 0; index <= 1_024; index += 1) budgets.note(`c${String(index)}`, 6_000, 5_000);
    expect(["c0", "c1", "c1024"].map((key) => budgets.of(key, 5_000))).toEqual([5_000, 9_000, 9_000]);
  });
});
