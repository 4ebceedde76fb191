import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type ConnectorHost,
  openConnectorHost,
  type OpenConnectorHostOptions,
} from "../../../src/connector-host/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
import { connected, type ConnectorCall, ScriptedGateway, working } from "../../support/scripted-gateway.js";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "host-test-"));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function gatewayWith(connectors: Record<string, number>): Promise<ScriptedGateway> {
  const gateway = await ScriptedGateway.start();
  cleanups.push(() => gateway.close());
  gateway.connect(1, connectors);
  return gateway;
}

async function hostOn(
  gateway: { url: string },
  keys: readonly string[],
  options: Partial<OpenConnectorHostOptions> = {},
) {
  const host = await openConnectorHost({
    baseUrl: gateway.url,
    releases: keys.map((key) => releaseOf(key)),
    accounts: { authorize: ({ accountId }) => ({ Cookie: `session=${accountId}` }) },
    hostInfo: { name: "test", version: "1.0.0" },
    hintsUrl: false,
    ...options,
  });
  cleanups.push(() => host.close());
  return host;
}

const agentOf = (host: ConnectorHost): RawAgent => new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));

async function becomes(host: ConnectorHost, states: Record<string, string>): Promise<void> {
  const read = async () =>
    Object.fromEntries((await host.status()).map(({ connectorKey, state }) => [connectorKey, state]));
  await expect.poll(read, { timeout: 10_000 }).toEqual(states);
}

describe("publication", () => {
  it("P-7, H-9: nothing before the first snapshot; then what the account authorized", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a", "b"]);
    await becomes(host, { a: "authorization_required", b: "authorization_required" });
    expect(gateway.calls).toHaveLength(0);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "authorization_required" });
    const agent = agentOf(host);
    expect(await agent.list()).toEqual({ names: ["a_echo"], omitted: {} });
    expect((await agent.call("a_echo", { x: 1 })).result).toMatchObject({ content: [{ text: '{"x":1}' }] });
  });

  it("H-6: every request pins the release, in a header and in _meta, and carries the account's credentials", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    await agentOf(host).call("a_echo");
    expect(gateway.calls.map(({ method }) => method)).toEqual([
      "server/discover",
      "tools/list",
      "tools/list",
      "tools/call",
    ]);
    for (const { request, params } of gateway.calls) {
      expect(request.headers).toMatchObject({
        "tutti-connector-version": "1.0.0",
        cookie: "session=ada",
        "mcp-protocol-version": "2026-07-28",
      });
      expect(params["_meta"]).toMatchObject({
        "sh.tutti/connectorVersion": "1.0.0",
        "io.modelcontextprotocol/clientCapabilities": {},
      });
    }
  });

  it("H-26: results and definitions pass through untouched, digits and order included", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const tool =
      '{"z":18446744073709551616,"name":"big","inputSchema":{"type":"object","maximum":1e400},"annotations":{"readOnlyHint":true}}';
    const result = '{"content":[ ],"structuredContent":{"id":9007199254740993,"z":1.0,"a":[]},"resultType":"complete"}';
    gateway.script("a", (call) => {
      if (call.method === "tools/list") call.result(`{"tools":[${tool}]}`);
      else if (call.method === "tools/call") call.result(result);
      else working(call);
    });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const agent = agentOf(host);
    expect((await agent.send("tools/list")).text).toContain(tool.replace('"big"', '"a_big"'));
    expect((await agent.call("a_big")).text).toContain(result);
  });

  it("W-22, H-9: a tool with an invalid annotation or schema is left out, its connector stays", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.script("a", (call) => {
      if (call.method !== "tools/list") working(call);
      else
        call.result(
          '{"tools":[{"name":"bad","inputSchema":{"properties":{"p":{"type":"number","x-mcp-header":"P"}}}},{"name":"untyped","inputSchema":{}},{"name":"good","inputSchema":{"type":"object"}}]}',
        );
    });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    expect((await agentOf(host).list()).names).toEqual(["a_good"]);
  });
});

describe("failing connectors", () => {
  it("H-24: a dead one and a silent one are left out and named; the others are listed in time", async () => {
    const gateway = await gatewayWith({ a: 1, dead: 1, silent: 1 });
    const host = await hostOn(gateway, ["a", "dead", "silent"], { listBudgetMs: 150 });
    host.signIn("ada");
    await becomes(host, { a: "ready", dead: "ready", silent: "ready" });
    gateway.script("dead", ({ response }) => response.destroy());
    gateway.script("silent", () => undefined);
    const startedAt = performance.now();
    const listed = await agentOf(host).list();
    expect(listed).toEqual({ names: ["a_echo"], omitted: { dead: "connection_broken", silent: "timeout" } });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect((await host.status()).map(({ state, reason }) => [state, reason])).toEqual([
      ["ready", undefined],
      ["degraded", "connection_broken"],
      ["degraded", "timeout"],
    ]);
    gateway.script("dead", working);
    await agentOf(host).list();
    expect((await host.status()).map(({ state }) => state)).toEqual(["ready", "ready", "degraded"]);
  });

  it("H-24: all failing is an error, none at all an empty list", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const agent = agentOf(host);
    gateway.script("a", (call) => call.error(-33003, 503));
    expect((await agent.send("tools/list")).text).toContain('"code":-33003');
    host.signOut();
    host.signIn("bob");
    gateway.connect(2, {});
    await becomes(host, { a: "authorization_required" });
    expect(await agentOf(host).list()).toEqual({ names: [], omitted: {} });
  });

  it("H-26: a call touches only the connector that owns its name", async () => {
    const gateway = await gatewayWith({ a: 1, b: 1 });
    const host = await hostOn(gateway, ["a", "b"]);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready" });
    gateway.script("b", () => undefined);
    gateway.calls.length = 0;
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
    expect(gateway.calls.map(({ connectorKey }) => connectorKey)).toEqual(["a", "a"]);
  });

  it("R-4, H-18: one that can't be reached at boot is tried again when a call needs it", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.script("a", ({ response }) => response.destroy());
    const host = await hostOn(gateway, ["a"], { random: () => 1 });
    host.signIn("ada");
    await expect.poll(async () => (await host.status())[0]?.reason, { timeout: 5_000 }).toBe("connection_broken");
    const agent = agentOf(host);
    expect((await agent.list()).omitted).toEqual({ a: expect.stringMatching(/offline|starting/) });
    gateway.script("a", working);
    gateway.calls.length = 0;
    const calls = await Promise.all(Array.from({ length: 5 }, () => agent.call("a_echo")));
    expect(calls.every(({ result }) => result !== undefined)).toBe(true);
    // H-30: however many need it, it is made once.
    expect(gateway.calls.filter(({ method }) => method === "server/discover")).toHaveLength(1);
  });

  it("H-18: one that does not come in time is route_unavailable, not_sent, with its state", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.script("a", () => undefined);
    const host = await hostOn(gateway, ["a"], { wakeBudgetMs: 200 });
    host.signIn("ada");
    await becomes(host, { a: "starting" });
    const { error } = await agentOf(host).call("a_echo");
    expect(error?.data).toMatchObject({ "sh.tutti/delivery": expect.objectContaining({ delivery: "not_sent" }) });
  });

  it("H-18: one that its account has to authorize is not waited for, and says what it is at", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a", "b"], { wakeBudgetMs: 3_600_000 });
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "authorization_required" });
    const { error } = await agentOf(host).call("b_echo");
    const verdict = { delivery: "not_sent", code: "route_unavailable", state: "authorization_required" };
    expect(error?.data?.["sh.tutti/delivery"]).toMatchObject(verdict);
  });

  it("F-3: an upstream's error keeps its code, message and data, with the verdict beside", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    gateway.script("a", (call) => {
      if (call.method === "tools/call") call.error(-32050, 400, { why: "because" });
      else working(call);
    });
    const { error } = await agentOf(host).call("a_echo");
    expect(error).toMatchObject({ code: -32050, message: "no", data: { why: "because" } });
    expect(JSON.stringify(error?.data)).toContain('"answered"');
  });

  it("P-2: a malformed entry concerns its own connector only", async () => {
    const gateway = await gatewayWith({});
    gateway.snapshot = { revision: 1, connectors: [connected("a", 1), { connectorId: "b", state: "sideways" }, 7] };
    const host = await hostOn(gateway, ["a", "b"]);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "authorization_required" });
  });
});

describe("changes of authorization", () => {
  /** A call that the gateway has and has not answered. */
  async function callInFlight(gateway: ScriptedGateway, host: ConnectorHost) {
    const held: ConnectorCall[] = [];
    gateway.script("a", (call) => {
      if (call.method === "tools/call") held.push(call);
      else working(call);
    });
    const answer = agentOf(host).call("a_echo");
    await expect.poll(() => held.length).toBe(1);
    return { answer, finish: () => held[0]?.result('{"content":[],"done":true}') };
  }

  it("H-13, R-6: a revocation withdraws the route at once and ends the call in flight honestly", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    const events: string[] = [];
    host.onPublication(({ kind, connectorKey }) => events.push(`${kind} ${connectorKey}`));
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const { answer } = await callInFlight(gateway, host);
    gateway.connect(2, {});
    host.refresh();
    const { error } = await answer;
    expect(JSON.stringify(error?.data)).toContain('"unknown"');
    await becomes(host, { a: "authorization_required" });
    expect(events).toEqual(["published a", "withdrawn a"]);
    expect((await agentOf(host).call("a_echo")).error).toBeDefined();
  });

  it("H-13 ★ item 1: a refreshed token replaces the route, and the call in flight finishes", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    const events: string[] = [];
    host.onPublication(({ kind }) => events.push(kind));
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const { answer, finish } = await callInFlight(gateway, host);
    gateway.connect(2, { a: 2 });
    host.refresh();
    await expect.poll(() => events, { timeout: 5_000 }).toEqual(["published", "replaced"]);
    finish();
    expect((await answer).result).toMatchObject({ done: true });
  });

  it("P-8 ★: signing out ends everything of the account at once", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const bound = host.bind({ workspaceId: "w", agentSessionId: "other" });
    const { answer } = await callInFlight(gateway, host);
    const startedAt = performance.now();
    host.signOut();
    const ended = await answer.catch((error: unknown) => error);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(JSON.stringify(ended)).not.toContain('"done"');
    expect((await new RawAgent(bound).send("tools/list")).status).toBe(401);
    const { length } = gateway.calls;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(gateway.calls).toHaveLength(length);
  });

  it("P-8 ★ item 12: a sign-out does not wait for an activation that hangs, and nothing of it is published later", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const held: ConnectorCall[] = [];
    gateway.script("a", (call) => held.push(call));
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await expect.poll(() => held.length).toBe(1);
    const startedAt = performance.now();
    host.signOut();
    expect(performance.now() - startedAt).toBeLessThan(50);
    for (const call of held) working(call);
    gateway.script("a", working);
    gateway.connect(2, {});
    host.signIn("bob");
    await becomes(host, { a: "authorization_required" });
    expect((await agentOf(host).list()).names).toEqual([]);
  });

  it("P-8: the same account signed in again gets its connectors back, under new credentials", async () => {
    const gateway = await gatewayWith({ a: 1 });
    let logins = 0;
    const host = await hostOn(gateway, ["a"], {
      accounts: { authorize: ({ generation }) => ({ Cookie: `login=${String(generation)}` }) },
    });
    for (let i = 0; i < 3; i += 1) {
      host.signIn("ada");
      logins += 1;
      await becomes(host, { a: "ready" });
      expect(gateway.calls.at(-1)?.request.headers.cookie).toBe(`login=${String(logins)}`);
    }
  });

  it("P-9: an authorization that a call turns out to miss fetches the snapshot anew", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    gateway.script("a", (call) => call.error(-33001, 428));
    gateway.connect(2, {});
    const { error } = await agentOf(host).call("a_echo");
    expect(error).toMatchObject({ code: -33001 });
    await becomes(host, { a: "authorization_required" });
  });

  it("P-1, P-7: a snapshot that can't be had publishes nothing, and is tried again soon", async () => {
    const gateway = await gatewayWith({ a: 1 });
    gateway.snapshotStatus = 503;
    const host = await hostOn(gateway, ["a"], { random: () => 0.1 });
    host.signIn("ada");
    await expect.poll(() => gateway.snapshots, { timeout: 5_000 }).toBeGreaterThan(1);
    await becomes(host, { a: "offline" });
    gateway.snapshotStatus = 200;
    await becomes(host, { a: "ready" });
  });
});

describe("the store and the edges", () => {
  it("R-2, R-9: after a restart on the same folder everything is published again, under the same names", async () => {
    const stateDirectory = await folder();
    const gateway = await gatewayWith({ a: 3 });
    const generations: number[] = [];
    for (let run = 0; run < 2; run += 1) {
      const host = await hostOn(gateway, ["a"], { stateDirectory });
      host.onPublication(({ generation }) => generations.push(generation));
      host.signIn("ada");
      await becomes(host, { a: "ready" });
      expect((await agentOf(host).list()).names).toEqual(["a_echo"]);
      await host.close();
    }
    expect(generations.filter((g, i) => i > 0 && g <= (generations[i - 1] ?? 0) && g !== generations[i - 1])).toEqual(
      [],
    );
  });

  it("R-8: what happened is followed across a restart on the same folder, each event once and in order", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const stateDirectory = await folder();
    const read: [seq: number, kind: string][] = [];
    const told: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      const host = await hostOn(gateway, ["a"], { stateDirectory });
      host.events.subscribe(({ kind }) => told.push(kind));
      const after = read.at(-1)?.[0] ?? 0;
      const reading = (async () => {
        for await (const { seq, kind } of host.events.follow({ after })) read.push([seq, kind]);
      })();
      host.signIn("ada");
      await becomes(host, { a: "ready" });
      await host.close();
      await reading;
    }
    expect(read.map(([seq]) => seq)).toEqual(read.map((_, i) => i + 1));
    const notices = ["scope_activated", "scope_shut", "fenced", "superseded"];
    expect(read.map(([, kind]) => kind)).toEqual(told.filter((kind) => !notices.includes(kind)));
    expect(told.filter((kind) => kind === "scope_activated")).toHaveLength(2);
    expect(told).toContain("observed");
  });

  it("P-7 ★: rows from an earlier run publish nothing by themselves", async () => {
    const stateDirectory = await folder();
    const gateway = await gatewayWith({ a: 3 });
    const first = await hostOn(gateway, ["a"], { stateDirectory });
    first.signIn("ada");
    await becomes(first, { a: "ready" });
    await first.close();
    gateway.snapshotStatus = 500;
    gateway.calls.length = 0;
    const second = await hostOn(gateway, ["a"], { stateDirectory });
    second.signIn("ada");
    await becomes(second, { a: "offline" });
    expect(gateway.calls).toEqual([]);
  });

  it("R-5: a second host on the folder gets store_in_use", async () => {
    const stateDirectory = await folder();
    const gateway = await gatewayWith({});
    await hostOn(gateway, [], { stateDirectory });
    await expect(hostOn(gateway, [], { stateDirectory })).rejects.toMatchObject({ code: "store_in_use" });
  });

  it("a state directory that can't be made is store_unavailable", async () => {
    const file = join(await folder(), "file");
    await writeFile(file, "");
    const gateway = await gatewayWith({});
    await expect(hostOn(gateway, [], { stateDirectory: join(file, "state") })).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });

  it("H-20: a port in use is listen_failed, and lets go of the store", async () => {
    const stateDirectory = await folder();
    const gateway = await gatewayWith({});
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    cleanups.push(() => new Promise((resolve) => taken.close(resolve)));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const options = { stateDirectory, localServer: { port } };
    await expect(hostOn(gateway, [], options)).rejects.toMatchObject({ code: "listen_failed" });
    await hostOn(gateway, [], { stateDirectory });
  });

  it.each<[string, Partial<OpenConnectorHostOptions> | object, object]>([
    ["a wrong URL", { baseUrl: "http://example.test" }, { code: "invalid_url" }],
    [
      "an unknown option",
      { listBugdetMs: 1 },
      { code: "invalid_options", details: { option: "listBugdetMs", suggestion: "listBudgetMs" } },
    ],
    [
      "a release with an endpoint",
      { releases: [releaseOf("a", { endpoint: "x" })] },
      { code: "invalid_release", details: { member: "endpoint" } },
    ],
    [
      "an unknown way of contracts",
      { contracts: "maybe" },
      { code: "invalid_options", details: { option: "contracts" } },
    ],
    [
      "an unknown option of the local server",
      { localServer: { prot: 1 } },
      { code: "invalid_options", details: { option: "prot", suggestion: "port" } },
    ],
  ])("%s is refused by name", async (_, options, expected) => {
    await expect(hostOn({ url: "http://127.0.0.1:9" }, [], options)).rejects.toMatchObject(expected);
  });

  it("H-40: close is idempotent, ends what runs, and refuses what comes", async () => {
    const gateway = await gatewayWith({ a: 1 });
    const host = await hostOn(gateway, ["a"]);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    gateway.script("a", () => undefined);
    const agent = agentOf(host);
    const answer = agent.call("a_echo").catch((error: unknown) => error);
    await expect.poll(() => gateway.calls.at(-1)?.method).toBe("tools/list");
    await Promise.all([host.close(), host.close()]);
    await answer;
    expect(() => host.signIn("ada")).toThrow(expect.objectContaining({ code: "cancelled" }));
    await expect(agent.list()).rejects.toThrow();
  });

  it("F-6: the account's credentials are in no file of the store, no status and no log", async () => {
    const stateDirectory = await folder();
    const gateway = await gatewayWith({ a: 1 });
    const logged: unknown[] = [];
    const log = (...entry: unknown[]): void => void logged.push(entry);
    const host = await hostOn(gateway, ["a"], {
      stateDirectory,
      accounts: { authorize: () => ({ Cookie: "session=sentinel-7f3a" }) },
      logger: { debug: log, info: log, warn: log, error: log },
    });
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    gateway.script("a", ({ response }) => response.destroy());
    await agentOf(host).call("a_echo");
    const said = JSON.stringify(logged, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    expect(logged.length).toBeGreaterThan(0);
    expect(said + JSON.stringify(await host.status())).not.toContain("sentinel");
    await host.close();
    expect((await readFile(join(stateDirectory, "host.db"))).includes("sentinel")).toBe(false);
  });
});
