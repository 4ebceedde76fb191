import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  ConnectorHost,
  type HostStore,
  openConnectorHost,
  type OpenConnectorHostOptions,
} from "../../../src/connector-host/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { RawAgent } from "../../support/agent.js";
import { FakeClock } from "../../support/fake-clock.js";
import { releaseOf } from "../../support/releases.js";
import { admin, Cleanup, httpConnector, json, startGateway, startUpstream } from "../gateway/support.js";
import { type ConnectorCall, ScriptedGateway, working } from "../../support/scripted-gateway.js";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function gatewayWith(connectors: Record<string, number>): Promise<ScriptedGateway> {
  const gateway = await ScriptedGateway.start();
  cleanups.push(() => gateway.close());
  gateway.connect(1, connectors);
  return gateway;
}

async function hostOn(
  gateway: { readonly url: string },
  options: Partial<OpenConnectorHostOptions> = {},
  store?: HostStore,
) {
  const all: OpenConnectorHostOptions = {
    baseUrl: gateway.url,
    releases: [releaseOf("a"), releaseOf("b")],
    accounts: { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
    hostInfo: { name: "test", version: "1.0.0" },
    hintsUrl: false,
    ...options,
  };
  const host = store === undefined ? await openConnectorHost(all) : await ConnectorHost.start(all, store);
  cleanups.push(() => host.close());
  const published: string[] = [];
  host.onPublication(({ kind, connectorKey }) => published.push(`${kind} ${connectorKey}`));
  host.signIn("ada");
  return { host, published };
}

const agentOf = (host: ConnectorHost): RawAgent => new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));

async function statesOf(host: ConnectorHost): Promise<Record<string, string>> {
  const all = await host.status();
  return Object.fromEntries(all.map(({ connectorKey, state, reason }) => [connectorKey, reason ?? state]));
}

async function becomes(host: ConnectorHost, states: Record<string, string>): Promise<void> {
  await expect.poll(() => statesOf(host), { timeout: 10_000, interval: 10 }).toEqual(states);
}

/** Snapshots that can't be had: what was observed stays. */
function breakSnapshots(gateway: ScriptedGateway): void {
  gateway.snapshotStatus = 503;
}

type Demand = (call: ConnectorCall) => void;

const DEMANDS: readonly (readonly [string, Demand, string])[] = [
  ["-33001", (call) => call.error(-33_001, 428), "authorization_required"],
  ["-33002", (call) => call.error(-33_002, 428), "reauthorization_required"],
  ["a bare 428", ({ response }) => response.writeHead(428).end(), "authorization_required"],
];

describe("P-6: a demand that a call or a list meets", () => {
  it.each(DEMANDS)(
    "P-6, P-9 ★ item 9: %s takes the route away, wakes one fetch, and only its own connector",
    async (_what, demand, reason) => {
      const gateway = await gatewayWith({ a: 1, b: 1 });
      const { host, published } = await hostOn(gateway);
      await becomes(host, { a: "ready", b: "ready" });
      gateway.script("a", (call) => (call.method === "tools/call" ? demand(call) : working(call)));
      breakSnapshots(gateway);
      const { snapshots } = gateway;
      expect((await agentOf(host).call("a_echo")).error).toBeDefined();
      await becomes(host, { a: reason, b: "ready" });
      await expect.poll(() => published).toContain("withdrawn a");
      expect(published).not.toContain("withdrawn b");
      await expect.poll(() => gateway.snapshots, { timeout: 3_000 }).toBeGreaterThan(snapshots);
      expect((await agentOf(host).list()).names).toEqual(["b_echo"]);
    },
  );

  it("P-6 ★ item 9: a list's demand does the same", async () => {
    const gateway = await gatewayWith({ a: 1, b: 1 });
    const { host } = await hostOn(gateway);
    await becomes(host, { a: "ready", b: "ready" });
    gateway.script("a", (call) => call.error(-33_002, 428));
    breakSnapshots(gateway);
    expect((await agentOf(host).list()).names).toEqual(["b_echo"]);
    await becomes(host, { a: "reauthorization_required", b: "ready" });
  });

  it("P-6 ★: the account authorizes again, and the route comes back by itself", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const { host, published } = await hostOn(gateway);
    await becomes(host, { a: "ready", b: "authorization_required" });
    gateway.script("a", (call) => call.error(-33_002, 428));
    breakSnapshots(gateway);
    await agentOf(host).call("a_echo");
    await becomes(host, { a: "reauthorization_required", b: "authorization_required" });
    gateway.script("a", working);
    gateway.connect(2, { a: 2 });
    gateway.snapshotStatus = 200;
    host.refresh();
    await becomes(host, { a: "ready", b: "authorization_required" });
    expect(published).toEqual(["published a", "withdrawn a", "published a"]);
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
  });

  it("P-6 ★ item 3: a transient demand ends with the next equal snapshot", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const { host, published } = await hostOn(gateway);
    await becomes(host, { a: "ready", b: "authorization_required" });
    let demands = 0;
    gateway.script("a", (call) => {
      if (call.method === "tools/call" && demands === 0) {
        demands += 1;
        call.error(-33_001, 428);
      } else working(call);
    });
    expect((await agentOf(host).call("a_echo")).error).toMatchObject({ code: -33_001 });
    await expect.poll(() => published, { timeout: 5_000 }).toEqual(["published a", "withdrawn a", "published a"]);
    await becomes(host, { a: "ready", b: "authorization_required" });
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
  });

  it("P-6 ★ item 2: a demand for a replaced connection, answered late, does not touch its successor", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const { host, published } = await hostOn(gateway);
    await becomes(host, { a: "ready", b: "authorization_required" });
    const held: ConnectorCall[] = [];
    gateway.script("a", (call) => (call.method === "tools/call" ? held.push(call) : working(call)));
    const answer = agentOf(host).call("a_echo");
    await expect.poll(() => held.length).toBe(1);
    gateway.connect(2, { a: 2 });
    host.refresh();
    await expect.poll(() => published, { timeout: 5_000 }).toEqual(["published a", "replaced a"]);
    held[0]?.error(-33_002, 428);
    expect((await answer).error).toMatchObject({ code: -33_002 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await statesOf(host)).toMatchObject({ a: "ready" });
    expect(published).toEqual(["published a", "replaced a"]);
  });

  it("P-6: sixteen calls that meet it at once take the route away once, and wake one fetch, or one more while it runs", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const { host, published } = await hostOn(gateway);
    await becomes(host, { a: "ready", b: "authorization_required" });
    gateway.script("a", (call) => (call.method === "tools/call" ? call.error(-33_001, 428) : working(call)));
    gateway.connect(2, {});
    const { snapshots } = gateway;
    const agent = agentOf(host);
    const answers = await Promise.all(Array.from({ length: 16 }, () => agent.call("a_echo")));
    for (const { error } of answers) expect(error).toBeDefined();
    await becomes(host, { a: "authorization_required", b: "authorization_required" });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(gateway.snapshots).toBeGreaterThan(snapshots);
    expect(gateway.snapshots).toBeLessThanOrEqual(snapshots + 2);
    expect(published).toEqual(["published a", "withdrawn a"]);
  });
});

describe("R-6: a demand that an activation meets", () => {
  it.each(DEMANDS)(
    "R-6: %s is no failure: the connector is observed disabled, and not tried again",
    async (_what, demand, reason) => {
      const gateway = await gatewayWith({ a: 1, b: 1 });
      gateway.script("a", (call) => {
        // So that nothing clears it again.
        breakSnapshots(gateway);
        demand(call);
      });
      const { host } = await hostOn(gateway, { random: () => 0.5 });
      await becomes(host, { a: reason, b: "ready" });
      const { length } = gateway.calls.filter(({ connectorKey }) => connectorKey === "a");
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(gateway.calls.filter(({ connectorKey }) => connectorKey === "a")).toHaveLength(length);
      const [status] = await host.status();
      expect(status).toMatchObject({ state: "authorization_required", nextAttemptAt: undefined });
    },
  );

  it("R-6: it comes by itself when the account has authorized it", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.script("a", (call) => {
      gateway.connect(2, { a: 2 });
      gateway.script("a", working);
      call.error(-33_001, 428);
    });
    const { host } = await hostOn(gateway);
    await becomes(host, { a: "ready", b: "authorization_required" });
  });

  it("P-6: a gateway that demands what the snapshot grants is held, and asked ever more seldom", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.script("a", (call) => call.error(-33_001, 428));
    const { host } = await hostOn(gateway);
    await expect.poll(() => gateway.calls.length, { timeout: 15_000, interval: 50 }).toBe(4);
    const { snapshots } = gateway;
    // At once, after the fetch that was spaced by a second, then after holds of one and two seconds; the next is four.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(gateway.calls).toHaveLength(4);
    expect(gateway.snapshots - snapshots).toBeLessThanOrEqual(1);
    await becomes(host, { a: "authorization_required", b: "authorization_required" });
  }, 30_000);

  it("P-6: a connector that needs no authorization and answers 428 is at fault, with pauses", async () => {
    const gateway = await gatewayWith({});
    gateway.script("a", ({ response }) => response.writeHead(428).end());
    const { host } = await hostOn(gateway, {
      releases: [releaseOf("a", { authorization: { kind: "none" } })],
      random: () => 0.99,
    });
    await becomes(host, { a: "invalid_answer" });
    const [status] = await host.status();
    expect(status).toMatchObject({ state: "offline", nextAttemptAt: expect.any(Number) });
    expect(gateway.snapshots).toBeLessThanOrEqual(1);
  });

  it.each(DEMANDS)(
    "P-6 ★ item 10: a published one that answers %s is at fault, keeps its route, and is made anew after pauses that grow",
    async (_what, demand) => {
      const gateway = await gatewayWith({});
      const wallClock = new FakeClock(Date.now());
      const store = createMemoryStore();
      const { host, published } = await hostOn(
        gateway,
        { releases: [releaseOf("a", { authorization: { kind: "none" } })], wallClock, random: () => 1 },
        store,
      );
      await wallClock.advance(0);
      await becomes(host, { a: "ready" });
      await expect.poll(() => gateway.snapshots).toBe(1);
      await wallClock.advance(2_000);
      const discoveries = () => gateway.calls.filter(({ method }) => method === "server/discover").length;
      const ofCalls: Demand = (call) => (call.method === "tools/call" ? demand(call) : working(call));

      // Sixteen calls meet it: each is told so, and it is one fault.
      gateway.script("a", ofCalls);
      const agent = agentOf(host);
      const answers = await Promise.all(Array.from({ length: 16 }, () => agent.call("a_echo")));
      for (const { error } of answers) expect(error).toBeDefined();
      await becomes(host, { a: "invalid_answer" });
      expect((await host.status())[0]).toMatchObject({ state: "degraded", nextAttemptAt: wallClock.now() + 1_000 });
      expect(published).toEqual(["published a"]);
      expect((await agent.list()).names).toEqual(["a_echo"]);

      // It is made anew, and is fine until it does it again; that is a second fault.
      await wallClock.advance(1_000);
      await expect.poll(() => published).toEqual(["published a", "replaced a"]);
      await becomes(host, { a: "ready" });
      expect(discoveries()).toBe(2);
      await agent.call("a_echo");
      await becomes(host, { a: "invalid_answer" });
      expect((await host.status())[0]?.nextAttemptAt).toBe(wallClock.now() + 2_000);

      // Nothing works: the pauses grow, and the sixth fault parks it.
      gateway.script("a", demand);
      const pauses: number[] = [];
      for (let fault = 2; fault < 6; fault += 1) {
        const before = discoveries();
        const startedAt = wallClock.now();
        while (discoveries() === before) {
          await wallClock.advance(1_000);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        pauses.push((wallClock.now() - startedAt) / 1_000);
        await becomes(host, { a: "invalid_answer" });
      }
      expect(pauses).toEqual([2, 4, 8, 16]);
      await expect.poll(async () => (await host.status())[0]?.state).toBe("failed");

      // Then it works again. None of it was about the account: nothing was fetched, and nothing lies beside its rows.
      gateway.script("a", working);
      await wallClock.advance(300_000);
      await becomes(host, { a: "ready" });
      expect((await agent.call("a_echo")).result).toBeDefined();
      expect(new Set(published)).toEqual(new Set(["published a", "replaced a"]));
      expect(await store.read((tx) => tx.overlays.list("ada"))).toEqual([]);
      expect(gateway.snapshots).toBeLessThanOrEqual(3);
    },
  );

  it("R-6: what the gateway says of the moment is obeyed, and is no demand", async () => {
    const gateway = await gatewayWith({ a: 1, b: 1 });
    gateway.script("a", (call) => call.error(-33_005, 429, { retryAfterMs: 60_000 }));
    gateway.script("b", (call) => call.error(-33_003, 503));
    const { host } = await hostOn(gateway);
    const startedAt = Date.now();
    await becomes(host, { a: "peer_error", b: "peer_error" });
    const [a] = await host.status();
    expect((a?.nextAttemptAt ?? 0) - startedAt).toBeGreaterThan(50_000);
  });
});

describe("P-6: with the reference gateway", () => {
  const target = { accountId: "ada", connectorId: "a" };

  async function setUp() {
    const cleanup = new Cleanup();
    cleanups.push(() => cleanup.run());
    const upstream = await startUpstream(cleanup, ({ method, id, response }) => {
      if (method === "tools/list") return undefined;
      json(
        response,
        id,
        method === "server/discover"
          ? '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}'
          : '{"resultType":"complete","content":[]}',
      );
      return true;
    });
    const gateway = await startGateway(cleanup, [httpConnector("a", upstream.url, "account")]);
    await admin(gateway, "POST", "/admin/grant", target);
    const { host, published } = await hostOn(
      { url: gateway.origin },
      { releases: [releaseOf("a")], accounts: { authorize: () => ({ Cookie: "session=s-ada" }) } },
    );
    await becomes(host, { a: "ready" });
    return { gateway, host, published };
  }

  it("P-6, R-7: an authorization that expires without a hint is met by the call, and a grant brings it back", async () => {
    const { gateway, host, published } = await setUp();
    await admin(gateway, "POST", "/admin/expire", target);
    expect((await agentOf(host).call("a_echo")).error).toMatchObject({ code: -33_002 });
    await becomes(host, { a: "reauthorization_required" });
    expect(published).toEqual(["published a", "withdrawn a"]);
    await admin(gateway, "POST", "/admin/grant", target);
    host.refresh();
    await becomes(host, { a: "ready" });
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
  });

  it("P-6: a 428 that was nothing is over by itself", async () => {
    const { gateway, host, published } = await setUp();
    await admin(gateway, "POST", "/admin/faults", { kind: "status", status: 428, connectorId: "a" });
    expect((await agentOf(host).call("a_echo")).error).toBeDefined();
    await expect.poll(() => published, { timeout: 5_000 }).toEqual(["published a", "withdrawn a", "published a"]);
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
  });
});

describe("P-6: over the end of a process", () => {
  it("P-6, R-9: what was observed is still there after a restart, until a fetch that started later", async () => {
    const stateDirectory = await mkdtemp(join(tmpdir(), "demands-"));
    cleanups.push(() => rm(stateDirectory, { recursive: true, force: true }));
    const gateway = await gatewayWith({ a: 1 });
    const first = await hostOn(gateway, { stateDirectory });
    await becomes(first.host, { a: "ready", b: "authorization_required" });
    gateway.script("a", (call) => call.error(-33_002, 428));
    breakSnapshots(gateway);
    await agentOf(first.host).call("a_echo");
    await becomes(first.host, { a: "reauthorization_required", b: "authorization_required" });
    await first.host.close();
    gateway.script("a", working);
    const second = await hostOn(gateway, { stateDirectory, random: () => 0.1 });
    await expect.poll(() => gateway.snapshots, { timeout: 5_000 }).toBeGreaterThan(2);
    expect(second.published).toEqual([]);
    gateway.snapshotStatus = 200;
    await becomes(second.host, { a: "ready", b: "authorization_required" });
  });
});
