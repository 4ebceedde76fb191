import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type HostStore, type HostTx, openConnectorHost } from "../../../src/connector-host/index.js";
import { createMemoryStore, openSqliteStore } from "../../../src/store/index.js";
import { silentLogger } from "../../../src/transport/index.js";
import { FailingStore } from "../../support/failing-store.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { releaseOf } from "../../support/releases.js";
import { type SnapshotCall, snapshotOf, working } from "../../support/scripted-gateway.js";
import { type CompiledStore, compileStore } from "../store/store-program.js";
import { agentOf, arrived, becomes, generationsOf, holding, HostParties, kindsOf, statesOf } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

/** Requests for snapshots, each of which a test answers by hand. */
function holdSnapshots(gateway: { onSnapshot: ((call: SnapshotCall) => void) | undefined }): SnapshotCall[] {
  const held: SnapshotCall[] = [];
  gateway.onSnapshot = (call) => held.push(call);
  return held;
}

/** How long something takes until it is so, in milliseconds. */
async function timeUntil(isSo: () => boolean): Promise<number> {
  const startedAt = performance.now();
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  return performance.now() - startedAt;
}

describe("(a) logout, and login as the same account", () => {
  it("P-7, P-8, R-2: nothing of the first login counts in the second", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const accounts = { authorize: ({ generation }: { generation: number }) => ({ Cookie: `login=${generation}` }) };
    const { host, published } = await parties.host(gateway, ["a"], { accounts });

    // Signed in, with a call in flight.
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const held = holding(gateway, "a", "tools/call");
    const first = agentOf(host);
    const answer = first.call("a_echo").catch((error: unknown) => error);
    await arrived(held);

    // Signed out: everything is gone when `signOut` returns.
    host.signOut();
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    expect(await statesOf(host)).toEqual({ a: "signed_out" });
    expect((await first.send("tools/list")).status).toBe(401);

    // Signed in again: rows that the first login left publish nothing, and neither does its late answer.
    const snapshots = holdSnapshots(gateway);
    host.signIn("ada");
    await arrived(snapshots);
    held[0]?.result('{"resultType":"complete","content":[],"late":true}');
    expect(JSON.stringify(await answer)).not.toContain("late");
    expect(await statesOf(host)).toEqual({ a: "account_not_ready" });
    expect(published).toHaveLength(2);

    // Her own snapshot brings the same connector back, as a new route under new credentials.
    gateway.script("a", working);
    const { length } = gateway.calls;
    snapshots[0]?.answer();
    await becomes(host, { a: "ready" });
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a", "published a"]);
    const [before = 0, , after = 0] = generationsOf(published);
    expect(after).toBeGreaterThan(before);
    expect((await first.send("tools/list")).status).toBe(401);
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
    expect(new Set(gateway.calls.slice(length).map(({ request }) => request.headers.cookie))).toEqual(
      new Set(["login=2"]),
    );
  });
});

describe("(b) a switch from one account to another and back", () => {
  it("P-8, P-6, P-3: answers to the first login's requests come late, and change nothing", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const pending: (() => void)[] = [];
    let credentialsHang = false;
    const { host, published } = await parties.host(gateway, ["a", "b"], {
      accounts: {
        authorize: ({ accountId, generation }) => {
          const headers = { Cookie: `session=${accountId}.${String(generation)}` };
          if (!credentialsHang || generation !== 1) return headers;
          return new Promise((resolve) => pending.push(() => resolve(headers)));
        },
      },
    });

    // Ada: a call and a fetch that the gateway has, and a call that waits for its credentials.
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "authorization_required" });
    const held = holding(gateway, "a", "tools/call");
    const snapshots = holdSnapshots(gateway);
    const agent = agentOf(host);
    const answers = [agent.call("a_echo").catch((error: unknown) => error)];
    await arrived(held);
    host.refresh();
    await arrived(snapshots);
    credentialsHang = true;
    answers.push(agent.call("a_echo").catch((error: unknown) => error));
    await arrived(pending);

    // Bob: Ada's route is gone, and nothing of him is there before his snapshot.
    host.signIn("bob");
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    await arrived(snapshots, 2);
    expect(await statesOf(host)).toEqual({ a: "account_not_ready", b: "account_not_ready" });

    // Ada again, and then everything that was still to come of the two logins before.
    host.signIn("ada");
    await arrived(snapshots, 3);
    const { length } = gateway.calls;
    held[0]?.error(-33_001, 428);
    snapshots[0]?.answer({ revision: 9, connectors: [] });
    snapshots[1]?.answer(snapshotOf(5, { b: 1 }));
    for (const release of pending) release();
    await Promise.all(answers);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    expect(await statesOf(host)).toEqual({ a: "account_not_ready", b: "account_not_ready" });
    expect(gateway.calls).toHaveLength(length);

    // Her snapshot of revision 2 counts: revision 9 was never applied, and her connection was never in doubt.
    gateway.script("a", working);
    snapshots[2]?.answer(snapshotOf(2, { a: 1 }));
    await becomes(host, { a: "ready", b: "authorization_required" });
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a", "published a"]);
    expect(gateway.calls.slice(length).map(({ request }) => request.headers.cookie)).toEqual(
      gateway.calls.slice(length).map(() => "session=ada.3"),
    );
    expect(gateway.calls.some(({ request }) => request.headers.cookie?.includes("bob"))).toBe(false);
  });
});

describe("(c) a revocation while eight activations hang", () => {
  it("R-3: the route is gone at once, outside of queue and slots, and its call ends", async () => {
    const hanging = Array.from({ length: 8 }, (_, index) => `h${String(index)}`);
    const gateway = await parties.gateway({ a: 1 });
    const wallClock = new FakeClock(Date.now());
    const { host, published } = await parties.host(gateway, ["a", ...hanging], { wallClock });

    // One route, with a call in flight.
    host.signIn("ada");
    await wallClock.advance(0);
    await expect.poll(() => kindsOf(published), { timeout: 10_000 }).toEqual(["published a"]);
    const held = holding(gateway, "a", "tools/call");
    const answer = agentOf(host).call("a_echo");
    await arrived(held);

    // Eight more are authorized, and their servers say nothing.
    const stuck: string[] = [];
    for (const key of hanging) gateway.script(key, ({ connectorKey }) => stuck.push(connectorKey));
    gateway.connect(2, Object.fromEntries(["a", ...hanging].map((key) => [key, 1])));
    host.refresh();
    await wallClock.advance(1_000);
    await arrived(stuck, 8);

    // The first is revoked. Nothing that hangs is in its way: too little time passes for one of them to give its slot up.
    gateway.connect(3, Object.fromEntries(hanging.map((key) => [key, 1])));
    host.refresh();
    await wallClock.advance(1_000);
    await expect.poll(() => published.length, { timeout: 10_000, interval: 1 }).toBe(2);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    expect(JSON.stringify((await answer).error?.data)).toContain('"unknown"');
    await expect.poll(async () => (await statesOf(host))["a"], { timeout: 10_000 }).toBe("authorization_required");

    // The eight are still at it, and come when their servers answer.
    expect(stuck).toHaveLength(8);
    for (const key of hanging) gateway.script(key, working);
    expect((await agentOf(host).list()).names).toEqual([]);
  });
});

describe("(d) a write that fails between apply and plan", () => {
  /** Rows of nobody, which fill a file. */
  const JUNK_ROW = {
    accountId: "nobody",
    state: "disconnected",
    connectionId: undefined,
    connectionVersion: 0n,
    epoch: "-",
    revision: 0n,
    quarantined: undefined,
    updatedAt: 0,
  } as const;
  const JUNK_OVERLAY = {
    accountId: "ada0",
    connectionId: undefined,
    connectionVersion: 0n,
    state: "expired",
    syncSeq: 0,
    phase: "cleared",
    stepMs: 0,
    heldUntil: undefined,
  } as const;
  /** The projection's state, and what is desired and observed, when all is well. */
  const RIGHT = "disconnected,false,off";
  /** Connectors that the account keeps all along. */
  const KEPT = { b: 1 };

  const CAUSES = ["a snapshot that revokes", "a demand of the gateway"] as const;
  type Cause = (typeof CAUSES)[number];

  /** How a store is broken, and mended after a while. */
  interface Harm {
    readonly seconds: number;
    readonly breaks: () => void | Promise<void>;
    readonly mends: () => void | Promise<void>;
  }

  /** One host on a file, whose store is harmed just before `cause`. */
  async function harm(
    cause: Cause,
    directory: string,
    store: HostStore,
    { seconds, breaks, mends }: Harm,
  ): Promise<void> {
    const gateway = await parties.gateway({ a: 1, ...KEPT });
    const wallClock = new FakeClock(Date.now());
    const { host, published } = await parties.host(gateway, ["a", "b"], { wallClock, random: () => 0.9 }, store);
    host.signIn("ada");
    await wallClock.advance(0);
    await becomes(host, { a: "ready", b: "ready" });
    const agent = agentOf(host);
    gateway.script("a", (call) => (call.method === "tools/call" ? call.error(-33_001, 428) : working(call)));
    const isDemand = cause === "a demand of the gateway";
    const { snapshots } = gateway;

    // The route goes by what is known already. No time passes, so that nothing is tried a second time; and a demand has no help
    // from snapshots, which can't be had.
    await wallClock.advance(1_000);
    if (isDemand) gateway.snapshotStatus = 503;
    else gateway.connect(2, KEPT);
    await breaks();
    if (isDemand) expect((await agent.call("a_echo")).error).toMatchObject({ code: -33_001 });
    else host.refresh();
    await wallClock.advance(0);
    await expect.poll(() => kindsOf(published), { timeout: 5_000, interval: 5 }).toContain("withdrawn a");
    expect(gateway.snapshots - snapshots).toBeLessThanOrEqual(1);
    expect((await agent.list()).names).toEqual(["b_echo"]);

    // It may go on for a while, and the route does not come back meanwhile.
    for (let second = 0; second < seconds; second += 1) await wallClock.advance(1_000);
    await mends();
    gateway.connect(2, KEPT);
    gateway.snapshotStatus = 200;

    // Then the rows come to what the server says, and so does the file.
    const rows = async (from: HostStore) =>
      from.read(async (tx) => {
        const row = await tx.convergence.get("account:ada", "a");
        return [(await tx.projections.get("ada", "a"))?.state, row?.desired.enabled, row?.observed?.readiness];
      });
    for (let second = 0; second < 200 && (await rows(store)).join() !== RIGHT; second += 1) {
      await wallClock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await rows(store)).join()).toBe(RIGHT);
    await becomes(host, { a: "authorization_required", b: "ready" });
    expect((await agent.list()).names).toEqual(["b_echo"]);
    expect(kindsOf(published).filter((event) => !event.endsWith(" b"))).toEqual(["published a", "withdrawn a"]);
    expect(kindsOf(published)).not.toContain("withdrawn b");
    await host.close();
    const reopened = await openSqliteStore({ directory });
    expect((await rows(reopened)).join()).toBe(RIGHT);
    await reopened.close();
  }

  /** Answers whether there was such a step to fail at. */
  async function failAt(cause: Cause, step: number, forGood: boolean): Promise<boolean> {
    const directory = await parties.folder();
    const store = new FailingStore<HostTx>(await openSqliteStore({ directory }));
    await harm(cause, directory, store, {
      seconds: forGood ? 3 : 0,
      breaks: () => store.failAt(step, { forGood }),
      mends: () => store.mend(),
    });
    return store.failed.length > 0;
  }

  it("R-2, R-10, P-7: what is being activated when its connection goes, and nothing can be planned, becomes no route", async () => {
    const gateway = await parties.gateway({ a: 1, ...KEPT });
    const store = new FailingStore<HostTx>(createMemoryStore());
    const troubles: unknown[] = [];
    const logger = {
      ...silentLogger,
      warn: (_message: string, { kind, key }: Readonly<Record<string, unknown>> = {}) => {
        if (kind === "trouble") troubles.push(key);
      },
    };
    const { host, published } = await parties.host(gateway, ["a", "b"], { random: () => 0.9, logger }, store);
    const slow = holding(gateway, "a", "server/discover");
    host.signIn("ada");
    await becomes(host, { a: "starting", b: "ready" });
    await arrived(slow);

    // Revoked, and nobody can say so in the rows: not even that anything was planned.
    store.failAt(1, { forGood: true });
    gateway.connect(2, KEPT);
    host.refresh();
    await becomes(host, { a: "account_not_ready", b: "ready" });
    gateway.script("a", working);
    for (const call of slow) working(call);
    // Its run has ended, and that could not be written down either.
    await expect.poll(() => troubles, { timeout: 10_000 }).toContain("a");
    expect(kindsOf(published)).toEqual(["published b"]);

    store.mend();
    await becomes(host, { a: "authorization_required", b: "ready" });
    expect(kindsOf(published)).toEqual(["published b"]);
  });

  it("P-6, R-10: a demand that can't be written down outlasts the fetch that runs, and ends with the next one", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const store = new FailingStore<HostTx>(createMemoryStore());
    const { host, published } = await parties.host(gateway, ["a"], {}, store);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const snapshots = holdSnapshots(gateway);
    host.refresh();
    await arrived(snapshots);

    // Demanded while it is asked what the account has, and the disk is full.
    gateway.script("a", (call) => (call.method === "tools/call" ? call.error(-33_001, 428) : working(call)));
    store.failAt(1, { forGood: true });
    expect((await agentOf(host).call("a_echo")).error).toMatchObject({ code: -33_001 });
    await expect.poll(() => kindsOf(published), { timeout: 10_000 }).toEqual(["published a", "withdrawn a"]);
    store.mend();
    snapshots[0]?.answer(snapshotOf(1, { a: 1 }));

    // That answer may be older than the demand. The next one is not.
    await arrived(snapshots, 2);
    expect(await statesOf(host)).toEqual({ a: "account_not_ready" });
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    snapshots[1]?.answer(snapshotOf(1, { a: 1 }));
    await becomes(host, { a: "ready" });
  });

  const cases = CAUSES.flatMap((cause) => [[cause, "once", false] as const, [cause, "for good", true] as const]);
  it.each(cases)(
    "R-2, R-3, R-10, P-6: %s, at each step, %s: the route is gone all the same, and the rows are right afterwards",
    async (cause, _how, forGood) => {
      const WIDTH = 16;
      const failed: number[] = [];
      for (let first = 1; first === 1 || failed.at(-1) === first - 1; first += WIDTH) {
        const steps = Array.from({ length: WIDTH }, (_, index) => first + index);
        const outcomes = await Promise.all(steps.map((step) => failAt(cause, step, forGood)));
        for (const [index, outcome] of outcomes.entries()) if (outcome) failed.push(first + index);
      }
      // Begin, reads, writes, plan, commit: all of them were there to fail.
      expect(failed.length).toBeGreaterThanOrEqual(10);
    },
    120_000,
  );

  it.each(CAUSES)("R-10, P-6: %s, on a file that is full to the last page", async (cause) => {
    const directory = await parties.folder();
    const store = await openSqliteStore({ directory, maxFileBytes: 256 * 1024 });
    const rows = { projections: 0, overlays: 0 };
    const hadRoom = (write: Promise<void>): Promise<boolean> =>
      write.then(
        () => true,
        () => false,
      );
    const fill = (size: number): Promise<boolean> => {
      const connectorKey = `k${String((rows.projections += 1))}`;
      const row = { ...JUNK_ROW, connectorKey, connectorVersion: "x".repeat(size) };
      return hadRoom(store.write((tx) => tx.projections.put(row)));
    };
    // Beside where the account's own would be, and smaller.
    const fillPage = (): Promise<boolean> => {
      const connectorKey = `k${String((rows.overlays += 1))}`;
      return hadRoom(store.write((tx) => tx.overlays.put({ ...JUNK_OVERLAY, connectorKey })));
    };
    await harm(cause, directory, store, {
      seconds: 3,
      breaks: async () => {
        for (const size of [4_000, 400, 40]) while (await fill(size));
        while (await fillPage());
      },
      mends: () =>
        store.write(async (tx) => {
          for (; rows.projections > 0; rows.projections -= 1) {
            await tx.projections.remove(JUNK_ROW.accountId, `k${String(rows.projections)}`);
          }
          for (; rows.overlays > 0; rows.overlays -= 1) {
            await tx.overlays.remove(JUNK_OVERLAY.accountId, `k${String(rows.overlays)}`);
          }
        }),
    });
  });
});

describe("(e) a captive network at boot", () => {
  it("P-1, P-7 ★ item 7: nothing is published and nothing lost; it is asked again after a second, doubling to a minute", async () => {
    const elsewhere: string[] = [];
    const portal = createServer(({ url = "", headers }, response) => {
      elsewhere.push(url, headers.cookie ?? "");
      response.end("<html>sign in</html>");
    }).listen(0, "127.0.0.1");
    await once(portal, "listening");
    parties.opened.push({ close: () => new Promise((resolve) => portal.close(resolve)) });
    const address = portal.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const traps: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>sign in</html>"),
      (response) => response.writeHead(302, { Location: `http://127.0.0.1:${String(port)}/login` }).end(),
      (response) => response.destroy(),
    ];
    const gateway = await parties.gateway({ a: 1 });
    const directory = await parties.folder();

    // A boot before, so that there are rows of the account.
    const earlier = await parties.host(gateway, ["a"], {}, await openSqliteStore({ directory }));
    earlier.host.signIn("ada");
    await becomes(earlier.host, { a: "ready" });
    await earlier.host.close();

    // The boot in the captive network.
    gateway.onSnapshot = ({ response }) => traps[gateway.snapshots % traps.length]?.(response);
    const { length } = gateway.calls;
    const wallClock = new FakeClock(Date.now());
    const options = { wallClock, random: () => 1 };
    const { host, published } = await parties.host(gateway, ["a"], options, await openSqliteStore({ directory }));
    const before = gateway.snapshots;
    host.signIn("ada");
    const pauses: number[] = [];
    await wallClock.advance(0);
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      await expect.poll(() => gateway.snapshots - before, { timeout: 10_000, interval: 5 }).toBe(attempt);
      const startedAt = wallClock.now();
      // In steps of a second, since the answer comes in its own time.
      await expect.poll(async () => (await statesOf(host))["a"], { timeout: 10_000 }).toBe("account_not_ready");
      while (gateway.snapshots - before === attempt) {
        await wallClock.advance(1_000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      pauses.push((wallClock.now() - startedAt) / 1_000);
      expect(published).toEqual([]);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(gateway.calls).toHaveLength(length);
    expect(elsewhere).toEqual([]);

    // The real network: by itself, within the minute, under the same account.
    gateway.onSnapshot = undefined;
    await wallClock.advance(60_000);
    await expect.poll(() => kindsOf(published), { timeout: 10_000 }).toEqual(["published a"]);
    expect(await statesOf(host)).toEqual({ a: "ready" });
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
  });
});

describe("(f) a new connection version every hour, under load", () => {
  it("R-1, R-3, R-7, H-13: sixteen callers lose no call in three hours; each version is a generation, and the old route drains", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const wallClock = new FakeClock(Date.now());
    const options = { wallClock, random: () => 0.5, contracts: "last_list" } as const;
    const { host, published } = await parties.host(gateway, ["a"], options);
    host.signIn("ada");
    await wallClock.advance(0);
    await expect.poll(() => kindsOf(published), { timeout: 10_000 }).toEqual(["published a"]);
    const agent = agentOf(host);
    const stopping = new AbortController();
    let calls = 0;
    const caller = async (): Promise<string[]> => {
      const failures: string[] = [];
      while (!stopping.signal.aborted) {
        const { result, text } = await agent.call("a_echo", { x: 1 });
        calls += 1;
        if (result === undefined) failures.push(text);
      }
      return failures;
    };
    const callers = Array.from({ length: 16 }, caller);
    for (let hour = 1; hour <= 3; hour += 1) {
      gateway.connect(hour + 1, { a: hour + 1 });
      for (let poll = 0; poll < 12; poll += 1) {
        const { snapshots } = gateway;
        await wallClock.advance(300_000);
        await expect.poll(() => gateway.snapshots, { timeout: 10_000, interval: 2 }).toBe(snapshots + 1);
        if (poll === 0) await expect.poll(() => published.length, { timeout: 10_000, interval: 2 }).toBe(hour + 1);
        // The poll after this one is scheduled when the answer was applied.
        await expect.poll(() => wallClock.dueInMs, { timeout: 10_000, interval: 1 }).toBeLessThanOrEqual(300_000);
        await settle();
      }
    }
    const callsUnderWay = calls;
    stopping.abort();
    expect((await Promise.all(callers)).flat()).toEqual([]);
    expect(callsUnderWay).toBeGreaterThan(100);
    expect(kindsOf(published)).toEqual(["published a", ...Array.from({ length: 3 }, () => "replaced a")]);
    const generations = generationsOf(published);
    expect(generations).toEqual([...new Set(generations)].sort((one, other) => one - other));
    expect(gateway.calls.filter(({ method }) => method === "server/discover")).toHaveLength(4);
    // What is left is of the last route, one connection for each caller at most, and of the control plane.
    await expect.poll(() => gateway.connections(), { timeout: 5_000 }).toBeLessThanOrEqual(17);
  }, 60_000);
});

describe("(g) logout during a slow activation", () => {
  it("P-8, R-3 ★ item 12: is fenced within 50 ms, and nothing of the account is delivered afterwards", async () => {
    const gateway = await parties.gateway({ a: 1, slow: 1 });
    const slow = holding(gateway, "slow", "server/discover");
    const { host, published } = await parties.host(gateway, ["a", "slow"]);

    // One route with a call and a list in flight, and one activation that does not end.
    host.signIn("ada");
    await expect.poll(() => kindsOf(published), { timeout: 10_000 }).toEqual(["published a"]);
    await arrived(slow);
    const agent = agentOf(host);
    const calls = holding(gateway, "a", "tools/call");
    const call = agent.send("tools/call", { name: "a_echo", arguments: {} }).catch(() => ({ status: 0, text: "" }));
    await arrived(calls);
    const lists = holding(gateway, "a", "tools/list");
    const list = agent.send("tools/list").catch(() => ({ status: 0, text: "" }));
    await arrived(lists);

    // Signed out: fenced before `signOut` returns, and all three requests are ended.
    const startedAt = performance.now();
    host.signOut();
    expect(performance.now() - startedAt).toBeLessThan(50);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    const requests = [...slow, ...calls, ...lists].map(({ request }) => request.socket);
    expect(await timeUntil(() => requests.every((socket) => socket.destroyed))).toBeLessThan(1_000);

    // What the gateway still says of it reaches nobody.
    for (const each of [...slow, ...calls, ...lists]) {
      each.result('{"resultType":"complete","tools":[{"name":"ghost","inputSchema":{"type":"object"}}],"content":[]}');
    }
    for (const { text } of await Promise.all([call, list])) expect(text).not.toMatch(/ghost|a_echo|"result"/);
    expect(await statesOf(host)).toEqual({ a: "signed_out", slow: "signed_out" });

    // The next account finds nothing of it.
    gateway.script("a", working);
    gateway.script("slow", working);
    const { length } = gateway.calls;
    gateway.connect(1, {});
    host.signIn("bob");
    await becomes(host, { a: "authorization_required", slow: "authorization_required" });
    expect(await agentOf(host).list()).toEqual({ names: [], omitted: {} });
    expect(gateway.calls).toHaveLength(length);
    expect(published).toHaveLength(2);
  });
});

describe("(h) a second process on the store", () => {
  const HOLD = `
    try {
      const store = await openSqliteStore({ directory: args[0] });
      console.log("open");
      process.stdin.on("end", async () => { await store.close(); process.exit(0); }).resume();
    } catch (error) {
      console.log(error.code);
      process.exit(0);
    }
  `;
  let compiled: CompiledStore;

  beforeAll(async () => {
    compiled = await compileStore();
  });
  afterAll(() => compiled.remove());

  it("R-5: gets store_in_use, whichever of the two is the host, until the first is gone", async () => {
    const stateDirectory = await parties.folder();
    const gateway = await parties.gateway({ a: 1 });
    const open = () =>
      openConnectorHost({
        baseUrl: gateway.url,
        releases: [releaseOf("a")],
        accounts: { authorize: () => ({ Cookie: "session=ada" }) },
        hostInfo: { name: "test", version: "1.0.0" },
        hintsUrl: false,
        stateDirectory,
      });

    // Another process has the store: there is no host.
    const holder = await compiled.start(HOLD, stateDirectory);
    parties.opened.push({ close: () => holder.process.kill("SIGKILL") });
    await holder.heard(1);
    expect(holder.lines).toEqual(["open"]);
    await expect(open()).rejects.toMatchObject({ code: "store_in_use", delivery: "not_sent" });
    expect(gateway.snapshots).toBe(0);

    // It is killed: the host starts, and publishes.
    holder.process.kill("SIGKILL");
    await holder.ended;
    const host = await open();
    parties.opened.push(host);
    host.signIn("ada");
    await becomes(host, { a: "ready" });

    // Now the host has it, and goes on.
    const second = await compiled.start(HOLD, stateDirectory);
    await second.ended;
    expect(second.lines).toEqual(["store_in_use"]);
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
  });
});
