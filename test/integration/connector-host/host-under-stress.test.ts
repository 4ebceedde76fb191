import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  ConnectorHost,
  type ConnectorHostOptions,
  type HostStore,
  openConnectorHost,
} from "../../../src/connector-host/index.js";
import type { WallClock } from "../../../src/auth-projection/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
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

function optionsFor(gateway: { url: string }, keys: readonly string[]): ConnectorHostOptions {
  return {
    baseUrl: gateway.url,
    releases: keys.map((key) => releaseOf(key)),
    accounts: { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
    hostInfo: { name: "test", version: "1.0.0" },
    hintsUrl: false,
  };
}

async function hostOn(
  gateway: { url: string },
  keys: readonly string[],
  options: Partial<ConnectorHostOptions> = {},
  store: HostStore = createMemoryStore(),
): Promise<ConnectorHost> {
  const host = await ConnectorHost.start({ ...optionsFor(gateway, keys), wallClock: quickClock, ...options }, store);
  cleanups.push(() => host.close());
  return host;
}

/** The pauses between fetches and tries pass twenty times as fast. */
const quickClock: WallClock = {
  now: () => Date.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs / 20);
    return () => clearTimeout(timer);
  },
};

const agentOf = (host: ConnectorHost): RawAgent => new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
const statesOf = async (host: ConnectorHost): Promise<Record<string, string>> =>
  Object.fromEntries((await host.status()).map(({ connectorKey, state }) => [connectorKey, state]));
const becomes = (host: ConnectorHost, states: Record<string, string>) =>
  expect.poll(() => statesOf(host), { timeout: 10_000 }).toEqual(states);
const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

/** Holds the calls of one method back until they are let go. */
function holding(gateway: ScriptedGateway, connectorKey: string, method: string) {
  const held: ConnectorCall[] = [];
  gateway.script(connectorKey, (call) => {
    if (call.method === method) held.push(call);
    else working(call);
  });
  return {
    held,
    arrived: () => expect.poll(() => held.length).toBeGreaterThan(0),
    letGo() {
      gateway.script(connectorKey, working);
      for (const call of held.splice(0)) working(call);
    },
  };
}

describe("starting and signing in", () => {
  it("F-8: a start that fails leaves no timer that would keep the process alive", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    cleanups.push(() => new Promise((resolve) => taken.close(resolve)));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const before = timers();
    for (let i = 0; i < 3; i += 1) {
      const options = { ...optionsFor({ url: "http://127.0.0.1:9" }, ["a"]), localServer: { port } };
      await expect(openConnectorHost(options)).rejects.toMatchObject({ code: "listen_failed" });
    }
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it.each([
    ["hintsUrl", { hintsUrl: "http://example.test/events" }],
    ["hintsUrl", { hintsUrl: "ws://example.test/events" }],
    ["baseUrl", { baseUrl: "https://example.test/?tenant=1" }],
  ])("F-15: a bad %s is refused before anyone can sign in", async (_, options) => {
    await expect(hostOn({ url: "http://127.0.0.1:9" }, [], options)).rejects.toMatchObject({ code: "invalid_url" });
  });

  it("an empty account id is refused", async () => {
    const host = await hostOn(await gatewayWith({}), []);
    expect(() => host.signIn("")).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(host.login).toBeUndefined();
  });

  it("a logger that throws, and one that writes JSON, do no harm", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const written: string[] = [];
    const json = (message: string, fields: object): void => void written.push(JSON.stringify({ message, ...fields }));
    const throwing = (): never => {
      throw new Error("disk full");
    };
    for (const log of [json, throwing]) {
      const host = await hostOn(gateway, ["a"], { logger: { debug: log, info: log, warn: log, error: log } });
      host.signIn("ada");
      await becomes(host, { a: "ready" });
    }
    expect(written.some((line) => line.includes('"revision":"1"'))).toBe(true);
  });

  it("a listener that throws, or signs out, keeps nothing from the others, and the order stands", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    const heard: string[] = [];
    host.onPublication(({ kind }) => {
      if (kind === "published") host.signOut();
      throw new Error("mine");
    });
    host.onPublication(({ kind }) => heard.push(kind));
    host.signIn("ada");
    await expect.poll(() => heard).toEqual(["published", "withdrawn"]);
  });
});

describe("lists", () => {
  it("H-25: one lost answer costs its own list, not those that come after it", async () => {
    const gateway = await gatewayWith({ a: 1, b: 1 });
    const host = await hostOn(gateway, ["a", "b"], { listBudgetMs: 200 });
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready" });
    const lists = holding(gateway, "a", "tools/list");
    const agent = agentOf(host);
    expect((await agent.list()).omitted).toEqual({ a: "timeout" });
    gateway.script("a", working);
    expect(await agent.list()).toEqual({ names: ["a_echo", "b_echo"], omitted: {} });
    expect((await agent.call("a_echo")).result).toBeDefined();
    await expect.poll(() => lists.held[0]?.request.socket.destroyed).toBe(true);
  });

  it("H-25: agents that ask at once share one walk, and one who leaves does not end it for the others", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const lists = holding(gateway, "a", "tools/list");
    const leaving = new AbortController();
    const agent = agentOf(host);
    const left = agent.send("tools/list", {}, leaving.signal).catch(() => "left");
    const others = [agent.list(), agent.list()];
    await lists.arrived();
    leaving.abort();
    expect(await left).toBe("left");
    expect(lists.held).toHaveLength(1);
    lists.letGo();
    for (const { names } of await Promise.all(others)) expect(names).toEqual(["a_echo"]);
  });

  it("P-8: a list that began before a sign-out ends without the account's tools", async () => {
    const gateway = await gatewayWith({ a: 1, b: 1 });
    const host = await hostOn(gateway, ["a", "b"]);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready" });
    const lists = holding(gateway, "b", "tools/list");
    const answer = agentOf(host)
      .send("tools/list")
      .catch(() => ({ text: "" }));
    await lists.arrived();
    host.signOut();
    lists.letGo();
    expect((await answer).text).not.toContain("a_echo");
  });

  it("H-13: a list does not show what was withdrawn while it waited for another", async () => {
    const gateway = await gatewayWith({ a: 1, b: 1 });
    const host = await hostOn(gateway, ["a", "b"]);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready" });
    const lists = holding(gateway, "b", "tools/list");
    const listing = agentOf(host).list();
    await lists.arrived();
    gateway.connect(2, { b: 1 });
    host.refresh();
    await becomes(host, { a: "authorization_required", b: "ready" });
    lists.letGo();
    expect(await listing).toEqual({ names: ["b_echo"], omitted: {} });
  });

  it("H-24: twenty connectors in one list, with nothing to be warned of", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    const keys = Array.from({ length: 20 }, (_, index) => `c${String(index)}`);
    const gateway = await gatewayWith(Object.fromEntries(keys.map((key) => [key, 1])));
    const host = await hostOn(gateway, keys);
    host.signIn("ada");
    await becomes(host, Object.fromEntries(keys.map((key) => [key, "ready"])));
    const agent = agentOf(host);
    const lists = await Promise.all([agent.list(), agent.list()]);
    for (const { names } of lists)
      expect(names).toEqual(keys.map((key) => `${key}_echo`).sort((a, b) => (a < b ? -1 : 1)));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it("P-7, H-18: before the first snapshot connectors are named as missing, and a call waits for theirs", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.snapshotStatus = 503;
    const host = await hostOn(gateway, ["a"], { random: () => 0.2 });
    host.signIn("ada");
    await expect.poll(() => gateway.snapshots).toBe(1);
    const agent = agentOf(host);
    expect(await agent.list()).toEqual({ names: [], omitted: { a: "offline" } });
    const call = agent.call("a_echo");
    gateway.snapshotStatus = 200;
    expect((await call).result).toBeDefined();
  });
});

describe("changes under load", () => {
  it("H-13: a call whose contract is read while the token is refreshed goes over the new route", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    const events: string[] = [];
    host.onPublication(({ kind }) => events.push(kind));
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const lists = holding(gateway, "a", "tools/list");
    const call = agentOf(host).call("a_echo", { x: 1 });
    await lists.arrived();
    gateway.connect(2, { a: 2 });
    gateway.script("a", (other) => working(other));
    host.refresh();
    await expect.poll(() => events, { timeout: 5_000 }).toEqual(["published", "replaced"]);
    for (const one of lists.held) working(one);
    expect((await call).result).toMatchObject({ content: [{ text: '{"x":1}' }] });
  });

  it.each(["last_list", "reread"] as const)(
    "R-4: hourly tokens under sixteen callers, with contracts by %s: no call is lost",
    async (contracts) => {
      const gateway = await gatewayWith({ a: 1 });
      const host = await hostOn(gateway, ["a"], { contracts });
      host.signIn("ada");
      await becomes(host, { a: "ready" });
      const agent = agentOf(host);
      const stopping = new AbortController();
      let calls = 0;
      const worker = async (): Promise<string[]> => {
        const failures: string[] = [];
        while (!stopping.signal.aborted) {
          const { result, text } = await agent.call("a_echo");
          calls += 1;
          if (result === undefined) failures.push(text);
        }
        return failures;
      };
      const workers = Array.from({ length: 16 }, worker);
      const replaced: number[] = [];
      host.onPublication(({ generation }) => replaced.push(generation));
      for (let version = 2; version <= 4; version += 1) {
        const before = calls;
        gateway.connect(version, { a: version });
        host.refresh();
        await expect.poll(() => replaced.length, { timeout: 10_000, interval: 5 }).toBe(version - 1);
        // Each route carries some before the next one comes.
        await expect.poll(() => calls, { timeout: 10_000, interval: 5 }).toBeGreaterThan(before + 50);
      }
      stopping.abort();
      expect((await Promise.all(workers)).flat()).toEqual([]);
    },
  );

  it("P-1: refused credentials leave what runs alone, and a recovery is noticed", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a", "b"], { random: () => 0.2 });
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "authorization_required" });
    gateway.snapshotStatus = 401;
    const { snapshots } = gateway;
    host.refresh();
    await expect.poll(() => gateway.snapshots, { timeout: 5_000 }).toBeGreaterThan(snapshots);
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
    gateway.snapshotStatus = 200;
    gateway.connect(2, { a: 1, b: 1 });
    await becomes(host, { a: "ready", b: "ready" });
  });

  it("R-9: a store that can't be read fails neither lists nor calls of what runs", async () => {
    const inner = createMemoryStore();
    let broken = false;
    const store: HostStore = {
      write: (work) => inner.write(work),
      read: (work) => (broken ? Promise.reject(new Error("disk")) : inner.read(work)),
      close: () => inner.close(),
    };
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a", "b"], {}, store);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "authorization_required" });
    broken = true;
    const agent = agentOf(host);
    expect(await agent.list()).toEqual({ names: ["a_echo"], omitted: {} });
    expect((await agent.call("a_echo")).result).toBeDefined();
    broken = false;
  });

  it("R-10, P-6: a demand that the disk has no room for takes the route away all the same", async () => {
    const inner = createMemoryStore();
    let full = false;
    const store: HostStore = {
      write: (work) =>
        inner.write(async (tx) => {
          const result = await work(tx);
          if (full) throw new Error("full");
          return result;
        }),
      read: (work) => inner.read(work),
      close: () => inner.close(),
    };
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"], {}, store);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    gateway.script("a", (call) => (call.method === "tools/call" ? call.error(-33_001, 428) : working(call)));
    full = true;
    const agent = agentOf(host);
    expect((await agent.call("a_echo")).error).toMatchObject({ code: -33_001 });
    await expect.poll(async () => (await agent.list()).names, { timeout: 3_000, interval: 5 }).toEqual([]);
    full = false;
    gateway.script("a", working);
    await becomes(host, { a: "ready" });
    await expect.poll(async () => (await agent.list()).names, { timeout: 10_000 }).toEqual(["a_echo"]);
  });

  it("F-7: an authorizer that hangs is bounded by the connect deadline, and nothing is sent", async () => {
    const gateway = await gatewayWith({ a: 1 });
    let hangs = false;
    const host = await hostOn(gateway, ["a"], {
      accounts: { authorize: () => (hangs ? new Promise(() => undefined) : { Cookie: "session=ada" }) },
      client: { connectTimeoutMs: 100 },
      contracts: "last_list",
    });
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const agent = agentOf(host);
    await agent.list();
    hangs = true;
    const { error } = await agent.call("a_echo");
    expect(error?.data?.["sh.tutti/delivery"]).toMatchObject({ delivery: "not_sent", code: "timeout" });
  });
});
