import { describe, expect, it } from "vitest";
import { CatalogRefreshes } from "../../../../src/connector-host/aggregation/catalog-refreshes.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

/** Readings of one route's list, which a test ends by hand. */
function refreshes(random = 0) {
  const clock = new FakeClock();
  const begun: { readonly at: number; succeed(isPublished?: boolean): Promise<void>; fail(): Promise<void> }[] = [];
  const facts = { isCurrent: true, hasCatalog: true, toldAt: 0, readAt: 0 };
  const all = new CatalogRefreshes({
    clock,
    random: () => random,
    relist: () =>
      new Promise<void>((resolve, reject) => {
        const { toldAt } = facts;
        begun.push({
          at: clock.now(),
          succeed(isPublished = true) {
            facts.readAt = toldAt;
            facts.hasCatalog = isPublished;
            resolve();
            return settle();
          },
          fail() {
            reject(new Error("down"));
            return settle();
          },
        });
      }),
    isCurrent: () => facts.isCurrent,
    isOutdated: () => facts.readAt !== facts.toldAt,
    hasCatalog: () => facts.hasCatalog,
  });
  const route = new Route<RemoteMcpClient>({
    connectorKey: "a",
    scope: "device",
    scopeEpoch: "e",
    generation: 1,
    releaseDigest: "d",
    connectionVersion: 0n,
    // Never asked: what is read here is read by hand.
    client: new ModernStreamableHTTPClient({ endpoint: "http://127.0.0.1:9", clientInfo: { name: "t", version: "1" } }),
    tools: new Map(),
  });
  /** The server says that its list is another. */
  const tell = (): void => {
    facts.toldAt += 1;
    all.soon(route, true);
  };
  return { all, begun, clock, facts, route, tell };
}

describe("CatalogRefreshes", () => {
  it("H-25 H-30: a storm of news causes two readings: one, and one for what came while it ran", async () => {
    const { begun, clock, tell } = refreshes();
    for (let index = 0; index < 100; index += 1) tell();
    await clock.advance(20);
    expect(begun).toHaveLength(1);
    for (let index = 0; index < 100; index += 1) tell();
    await clock.advance(1_000);
    expect(begun).toHaveLength(1);
    await begun[0]?.succeed();
    await clock.advance(20);
    await begun[1]?.succeed();
    await clock.advance(60_000);
    expect([begun.length, clock.pending]).toEqual([2, 0]);
  });

  it("H-30: whoever lists has an old one read at once, and once for all who do", async () => {
    const { all, begun, clock, route, tell } = refreshes();
    tell();
    all.now(route);
    all.now(route);
    await begun[0]?.succeed();
    await clock.advance(60_000);
    expect(begun).toHaveLength(1);
  });

  it("H-30: after failures it is read after growing pauses, whoever lists, and by itself five times", async () => {
    const { all, begun, clock, route, tell } = refreshes();
    tell();
    await clock.advance(20);
    for (let index = 0; index < 4; index += 1) {
      const failedAt = clock.now();
      await begun.at(-1)?.fail();
      const count = begun.length;
      const pause = 500 * 2 ** index;
      await clock.advance(pause - 1);
      all.now(route);
      tell();
      expect(begun).toHaveLength(count);
      await clock.advance(1);
      expect(begun.at(-1)?.at).toBe(failedAt + pause);
    }
    await begun.at(-1)?.fail();
    await clock.advance(600_000);
    expect([begun.length, clock.pending]).toEqual([5, 0]);
    // Then those who list have it read, and no pause is longer than a minute.
    for (let index = 0; index < 20; index += 1) {
      all.now(route);
      await begun.at(-1)?.fail();
      await clock.advance(30_000);
    }
    expect(begun).toHaveLength(25);
    all.now(route);
    await begun.at(-1)?.succeed();
    // One success, and the next failure is the first.
    tell();
    await clock.advance(20);
    await begun.at(-1)?.fail();
    await clock.advance(500);
    expect(begun).toHaveLength(28);
  });

  it("H-30: pauses are random in part", async () => {
    const { begun, clock, tell } = refreshes(0.5);
    tell();
    await clock.advance(20);
    await begun[0]?.fail();
    await clock.advance(749);
    expect(begun).toHaveLength(1);
    await clock.advance(1);
    expect(begun).toHaveLength(2);
  });

  it("H-16 H-25: a server that says that its list changed whenever it is read is read less and less often", async () => {
    const { begun, clock, tell } = refreshes();
    tell();
    for (let second = 0; second < 120; second += 1) {
      await clock.advance(1_000);
      tell();
      await begun.at(-1)?.succeed();
    }
    expect(begun.length).toBeGreaterThan(20);
    expect(begun.length).toBeLessThan(35);
  });

  it("H-25 H-30: streams that are opened again and again have it read each time, also when its server told too often", async () => {
    const { all, begun, clock, facts, route, tell } = refreshes();
    for (let index = 0; index < 50; index += 1) {
      facts.toldAt += 1;
      all.soon(route, false);
      await clock.advance(20);
      await begun[index]?.succeed();
    }
    for (let index = 0; index < 21; index += 1) {
      tell();
      await clock.advance(20);
      await begun.at(-1)?.succeed();
    }
    expect(begun).toHaveLength(70);
    // The one before waits for its turn; this does not.
    all.soon(route, false);
    await clock.advance(20);
    expect(begun).toHaveLength(71);
    await begun.at(-1)?.succeed();
    await clock.advance(60_000);
    expect(begun).toHaveLength(71);
  });

  it("H-30: what somebody who waited for it has read is not read once more", async () => {
    const { begun, clock, facts, tell } = refreshes();
    tell();
    facts.readAt = facts.toldAt;
    await clock.advance(20);
    expect(begun).toEqual([]);
  });

  it("H-30: one that was never read is read, and tried again when that fails", async () => {
    const { all, begun, clock, facts, route } = refreshes();
    facts.hasCatalog = false;
    all.soon(route, false);
    await clock.advance(20);
    await begun[0]?.fail();
    await clock.advance(500);
    await begun[1]?.succeed();
    await clock.advance(60_000);
    expect(begun).toHaveLength(2);
  });

  it("H-16 H-30: one that is read and can't be published, as one that is too large, is read once a minute, however often it is listed", async () => {
    const { all, begun, clock, facts, route } = refreshes();
    for (let second = 0; second < 120; second += 1) {
      facts.hasCatalog = false;
      all.now(route);
      await begun.at(-1)?.succeed(false);
      await clock.advance(1_000);
    }
    expect(begun).toHaveLength(2);
  });

  it.each(["replaced", "forgotten", "closed"])("H-30: nothing is read of a route that was %s", async (how) => {
    const { all, begun, clock, facts, route, tell } = refreshes();
    tell();
    const end = (): void => {
      if (how === "forgotten") all.forget(route);
      else if (how === "closed") all.close();
      else facts.isCurrent = false;
    };
    end();
    expect(clock.pending).toBe(how === "replaced" ? 1 : 0);
    await clock.advance(20);
    expect(begun).toEqual([]);
    if (how === "forgotten") return;
    tell();
    all.now(route);
    await clock.advance(60_000);
    expect([begun, clock.pending]).toEqual([[], 0]);
  });

  it("H-30: one that fails when its route is over is not tried again", async () => {
    const { all, begun, clock, tell } = refreshes();
    tell();
    await clock.advance(20);
    all.close();
    await begun[0]?.fail();
    await clock.advance(60_000);
    expect([begun.length, clock.pending]).toEqual([1, 0]);
  });
});
