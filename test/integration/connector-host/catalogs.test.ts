import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type ConnectorHostOptions,
  createRegistrationMemory,
  openConnectorHost,
} from "../../../src/connector-host/index.js";
import { createMemoryStore, openSqliteStore } from "../../../src/store/index.js";
import { RawAgent } from "../../support/agent.js";
import { toolsText } from "../../support/directory-party.js";
import { scriptedDeclaration } from "../../support/device.js";
import { ScriptedGateway, working } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties, statesOf } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const HOST_INFO = { name: "test", version: "1.0.0" };

function settingsOf({ url }: { readonly url: string }, path = "docs"): object {
  return { endpoint: `${url}/v1/connectors/${path}/mcp`, protocol: "modern" };
}

function serverAt(gateway: ScriptedGateway, more: object = {}): object {
  return { slug: "docs", displayName: "Docs", settings: settingsOf(gateway), ...more };
}

/** A host on a state directory, as at each of its starts. */
async function onDisk(stateDirectory: string, options: Partial<ConnectorHostOptions>) {
  const host = await openConnectorHost({
    hostInfo: HOST_INFO,
    stateDirectory,
    controlSocket: false,
    agentSocket: false,
    ...options,
  });
  parties.opened.push(host);
  return host;
}

/** A server that can be stopped, and started again at the same place. */
class StoppableServer {
  gateway: ScriptedGateway;
  readonly #port: number;

  private constructor(gateway: ScriptedGateway) {
    this.gateway = gateway;
    this.#port = Number(new URL(gateway.url).port);
  }

  static async start(): Promise<StoppableServer> {
    const server = new StoppableServer(await ScriptedGateway.start());
    parties.opened.push({ close: () => server.stop().catch(() => undefined) });
    return server;
  }

  stop(): Promise<void> {
    return this.gateway.close();
  }

  async startAgain(): Promise<void> {
    this.gateway = await ScriptedGateway.start(this.#port);
  }

  count(method: string): number {
    return this.gateway.calls.filter((call) => call.method === method).length;
  }
}

const marked = (text: string): boolean => text.includes('"sh.tutti/stale":[{"connectorKey":"docs"');

describe("catalogs of a host", () => {
  it("H-30, H-18: tools of a server that is down stay listed over a restart, marked; calls wake it once, within their time", async () => {
    const server = await StoppableServer.start();
    const folder = await parties.folder();
    const registrations = [serverAt(server.gateway)];
    const first = await onDisk(folder, { registrations });
    await becomes(first, { docs: "ready" });
    const { text: before } = await agentOf(first).send("tools/list");
    expect([before.includes('"docs_echo"'), marked(before)]).toEqual([true, false]);
    await expect.poll(async () => (await first.connectors.catalog("docs")).source).toBe("memory");
    await first.close();
    const asksOfOneStart = server.count("server/discover");
    await server.stop();

    const host = await onDisk(folder, { registrations, wakeBudgetMs: 2_000 });
    const agent = agentOf(host);
    const { text } = await agent.send("tools/list");
    expect([text.includes('{"name":"docs_echo","inputSchema":{"type":"object"}}'), marked(text)]).toEqual([true, true]);
    await expect.poll(async () => (await statesOf(host))["docs"]).not.toBe("starting");
    const failed = await agent.call("docs_echo");
    const { code, delivery, ...said } = Object(failed.error?.data?.["sh.tutti/delivery"]);
    expect({ code, delivery }).toEqual({ code: "route_unavailable", delivery: "not_sent" });
    expect(said).toMatchObject({
      connectorKey: "docs",
      state: "offline",
      since: expect.any(Number),
      nextAttemptAt: expect.any(Number),
    });
    expect(failed.error?.message).toMatch(/docs is offline since .*; the next attempt is at /);

    await server.startAgain();
    const calls = await Promise.all(Array.from({ length: 8 }, (_each, index) => agent.call("docs_echo", { index })));
    expect(calls.map(({ text: each }) => /\{\\"index\\":(\d)\}/.exec(each)?.[1])).toEqual(
      calls.map((_each, index) => String(index)),
    );
    // One start for all of them, and no list beside its own.
    expect([server.count("server/discover"), server.count("tools/list"), server.count("tools/call")]).toEqual([
      asksOfOneStart,
      1,
      8,
    ]);
    expect(marked((await agent.send("tools/list")).text)).toBe(false);
  });

  it("H-18: a call gives up waiting a little before its own deadline, and says what its connector is at", async () => {
    const server = await StoppableServer.start();
    const registrations = [serverAt(server.gateway)];
    await server.stop();
    const localServer = { callTimeoutMs: 800 };
    const host = await onDisk(await parties.folder(), { registrations, localServer, wakeBudgetMs: 60_000 });
    const { error } = await agentOf(host).call("docs_echo");
    expect(Object(error?.data?.["sh.tutti/delivery"])).toMatchObject({
      code: "route_unavailable",
      delivery: "not_sent",
    });
  });

  it("H-18: a call ends as soon as the attempt has failed that it woke, if the next one is too late for it", async () => {
    const server = await StoppableServer.start();
    const registrations = [serverAt(server.gateway)];
    await server.stop();
    const host = await onDisk(await parties.folder(), {
      registrations,
      // The pauses after failures are as long as they can be.
      random: () => 0.999,
      localServer: { callTimeoutMs: 1_900 },
      wakeBudgetMs: 60_000,
    });
    await expect.poll(async () => (await host.status())[0]?.state, { interval: 5 }).toBe("offline");
    const startedAt = performance.now();
    const { error } = await agentOf(host).call("docs_echo");
    expect(performance.now() - startedAt).toBeLessThan(1_400);
    const said = Object(error?.data?.["sh.tutti/delivery"]);
    expect(said).toMatchObject({ code: "route_unavailable", delivery: "not_sent", state: "offline" });
    // It was tried for this call: twice now.
    expect(said.nextAttemptAt - Date.now()).toBeGreaterThan(500);
  });

  it("H-30, H-2: tools of a program that can't be started stay listed over a restart, marked", async () => {
    const folder = await parties.folder();
    const cwd = await mkdtemp(join(tmpdir(), "gone-"));
    const stdio = [scriptedDeclaration("restless-stdio-server", {}, { cwd })];
    const first = await onDisk(folder, { stdio });
    await becomes(first, { files: "ready" });
    const { names } = await agentOf(first).list();
    expect(names.length).toBeGreaterThan(0);
    await first.close();
    await rm(cwd, { recursive: true });
    const second = await onDisk(folder, { stdio });
    const { text } = await agentOf(second).send("tools/list");
    for (const name of names) expect(text).toContain(`{"name":"${name}"`);
    expect(text).toContain('"sh.tutti/stale":[{"connectorKey":"files"');
  });

  it("H-30: people read a catalog from memory, from disk and from its server; a failed refresh is no answer, and leaves it", async () => {
    const server = await StoppableServer.start();
    server.gateway.script("docs", (call) => {
      if (call.method !== "tools/list") working(call);
      else
        call.result(
          '{"resultType":"complete","ttlMs":7000,"tools":[{"name":"echo","title":"Echo","description":"Gives back","inputSchema":{"type":"object"}}]}',
        );
    });
    const folder = await parties.folder();
    const registrations = [serverAt(server.gateway, { permissions: { echo: "ask", gone: "off", here: "allow" } })];
    const first = await onDisk(folder, { registrations });
    await becomes(first, { docs: "ready" });
    const known = await first.connectors.catalog("docs");
    expect(known).toEqual({
      connectorKey: "docs",
      tools: [
        { nativeName: "echo", exposedName: "docs_echo", title: "Echo", description: "Gives back", permission: "ask" },
      ],
      stalePermissions: [
        { nativeName: "gone", permission: "off" },
        { nativeName: "here", permission: "allow" },
      ],
      fetchedAt: expect.any(Number),
      ttlMs: 7_000,
      digest: expect.stringMatching(/^[\w-]{43}$/),
      source: "memory",
      isStale: false,
    });
    await first.close();
    await server.stop();

    const { connectors } = await onDisk(folder, { registrations, wakeBudgetMs: 100 });
    expect(await connectors.catalog("docs")).toEqual({ ...known, source: "disk", isStale: true });
    expect(await connectors.catalog("docs")).toEqual({ ...known, source: "memory", isStale: true });
    await expect(connectors.refresh("docs")).rejects.toMatchObject({ code: "route_unavailable", delivery: "not_sent" });
    connectors.invalidateCatalogs();
    expect(await connectors.catalog("docs")).toEqual({ ...known, source: "disk", isStale: true });
    await server.startAgain();
    server.gateway.script("docs", (call) =>
      call.method === "tools/list" ? call.result(toolsText("here")) : working(call),
    );
    const fresh = await expect
      .poll(() => connectors.refresh("docs").catch(() => undefined), { timeout: 5_000 })
      .toMatchObject({
        source: "network",
        isStale: false,
        ttlMs: undefined,
        tools: [{ nativeName: "here", permission: "allow" }],
      })
      .then(() => connectors.catalog("docs"));
    expect(fresh.digest).not.toBe(known.digest);
    expect(fresh.fetchedAt).toBeGreaterThanOrEqual(known.fetchedAt);
    server.gateway.script("docs", (call) => call.error(-32000));
    await expect(connectors.refresh("docs")).rejects.toMatchObject({ code: "peer_error" });
    expect(await connectors.catalog("docs")).toEqual({ ...fresh, source: "memory" });
  });

  it("H-30: a refresh asks the server though a walk is under way, and ends with its signal", async () => {
    const gateway = await parties.gateway();
    const { host } = await parties.host(gateway, [], { registrations: [serverAt(gateway)] });
    await becomes(host, { docs: "ready" });
    const held = holding(gateway, "docs", "tools/list");
    const first = host.connectors.refresh("docs");
    await arrived(held, 1);
    const leaving = new AbortController();
    const second = host.connectors.refresh("docs", { signal: leaving.signal });
    await arrived(held, 2);
    leaving.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    held[0]?.result(toolsText("x"));
    expect((await first).tools.map(({ nativeName }) => nativeName)).toEqual(["x"]);
  });

  it("H-30, H-3: one of a paused registration is neither shown nor read; it goes with the settings, and with the registration", async () => {
    const gateway = await parties.gateway();
    const store = createMemoryStore();
    const kept = async () => (await store.read((tx) => tx.documents.list("catalog"))).map(({ key }) => key);
    const { host } = await parties.host(gateway, ["r"], {}, store);
    const { connectors } = host;
    const { registrations } = connectors;
    await registrations.create(serverAt(gateway));
    const paused = {
      code: "route_unavailable",
      delivery: "not_sent",
      details: { connectorKey: "docs", state: "disabled" },
    };
    await expect(connectors.catalog("docs")).rejects.toMatchObject(paused);
    await registrations.setState("docs", "active");
    await connectors.setNewTools("docs", "allow");
    await becomes(host, { docs: "ready", r: "signed_out" });
    await expect.poll(kept).toEqual(["docs"]);
    await registrations.setState("docs", "paused");
    const asked = gateway.calls.length;
    await expect(connectors.catalog("docs")).rejects.toMatchObject(paused);
    await expect(connectors.refresh("docs")).rejects.toMatchObject(paused);
    expect([(await agentOf(host).list()).names, gateway.calls.length - asked, await kept()]).toEqual([[], 0, ["docs"]]);
    await registrations.setState("docs", "active");
    expect((await connectors.catalog("docs")).tools).toHaveLength(1);
    await becomes(host, { docs: "ready", r: "signed_out" });

    // Settings that change under a refresh: its list is of what is not there any more.
    const held = holding(gateway, "docs", "tools/list");
    const refreshing = connectors.refresh("docs").catch((error: unknown) => error);
    await arrived(held, 1);
    gateway.script("other", (call) => (call.method === "tools/list" ? undefined : working(call)));
    await registrations.replaceSettings("docs", settingsOf(gateway, "other"));
    held[0]?.result(toolsText("late"));
    expect(await refreshing).toMatchObject({ code: "cancelled" });
    await expect.poll(kept).toEqual([]);
    gateway.script("other", (call) => (call.method === "tools/list" ? call.result(toolsText("y")) : working(call)));
    await registrations.setState("docs", "paused");
    await registrations.setState("docs", "active");
    await expect.poll(kept, { timeout: 5_000 }).toEqual(["docs"]);
    expect((await connectors.catalog("docs")).tools.map(({ nativeName }) => nativeName)).toEqual(["y"]);
    await registrations.remove("docs");
    await expect.poll(kept).toEqual([]);
    await expect(connectors.catalog("docs")).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(connectors.catalog("r")).rejects.toMatchObject({
      code: "invalid_argument",
      details: { argument: "key" },
    });
  });

  it("H-30, H-3: a registration that is made again under the same slug sees nothing of the one before, also after a restart", async () => {
    const gateway = await parties.gateway();
    const folder = await parties.folder();
    const first = await onDisk(folder, {});
    const make = async ({ connectors }: typeof first) => {
      await connectors.registrations.create(serverAt(gateway));
      await connectors.setNewTools("docs", "allow");
      await connectors.registrations.setState("docs", "active");
    };
    await make(first);
    await becomes(first, { docs: "ready" });
    expect((await agentOf(first).list()).names).toEqual(["docs_echo"]);
    await first.connectors.registrations.remove("docs");
    // Nothing of the new one can be listed.
    gateway.script("docs", (call) => (call.method === "tools/list" ? call.error(-32000) : working(call)));
    await make(first);
    await expect.poll(async () => (await statesOf(first))["docs"]).not.toBe("starting");
    const seen = async ({ connectors }: typeof first) => connectors.catalog("docs").catch(() => "none");
    expect([(await agentOf(first).list()).names, await seen(first)]).toEqual([[], "none"]);
    await first.close();
    const second = await onDisk(folder, {});
    await expect.poll(async () => (await statesOf(second))["docs"]).not.toBe("starting");
    expect([(await agentOf(second).list()).names, await seen(second)]).toEqual([[], "none"]);
  });

  it("H-30: a refresh of one that is paused or removed meanwhile is no answer", async () => {
    const gateway = await parties.gateway();
    const { host } = await parties.host(gateway, []);
    const { registrations } = host.connectors;
    await registrations.create(serverAt(gateway));
    const held = holding(gateway, "docs", "tools/list");
    await registrations.setState("docs", "active");
    await arrived(held, 1);
    held[0]?.result(toolsText("x"));
    await becomes(host, { docs: "ready" });
    const refreshing = () => host.connectors.refresh("docs").catch(({ code }: { readonly code: string }) => code);
    const paused = refreshing();
    await arrived(held, 2);
    await registrations.setState("docs", "paused");
    expect(["cancelled", "route_unavailable"]).toContain(await paused);
    expect(await refreshing()).toBe("route_unavailable");
    await registrations.setState("docs", "active");
    await arrived(held, 3);
    held[2]?.result(toolsText("x"));
    await becomes(host, { docs: "ready" });
    const removed = refreshing();
    await arrived(held, 4);
    await registrations.remove("docs");
    expect(["cancelled", "route_unavailable"]).toContain(await removed);
    expect(await refreshing()).toBe("unknown_connector");
    expect((await agentOf(host).list()).names).toEqual([]);
  });

  it("H-30: on a full disk a catalog is served from memory, and the log says that it is not kept", async () => {
    const gateway = await parties.gateway();
    const large = `{"resultType":"complete","tools":[{"name":"x","description":"${"x".repeat(600_000)}","inputSchema":{"type":"object"}}]}`;
    gateway.script("docs", (call) => (call.method === "tools/list" ? call.result(large) : working(call)));
    const told: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (message: string, fields: object) => told.push([message, fields]),
    };
    const store = await openSqliteStore({ directory: await parties.folder(), maxFileBytes: 400 * 1024 });
    const { host } = await parties.host(gateway, [], { registrations: [serverAt(gateway)], logger }, store);
    await becomes(host, { docs: "ready" });
    const notKept = { connectorKey: "docs", error: expect.objectContaining({ code: "store_full" }) };
    await expect
      .poll(() => told)
      .toContainEqual([expect.stringContaining("in memory only"), expect.objectContaining(notKept)]);
    expect((await agentOf(host).list()).names).toEqual(["docs_x"]);
    expect((await host.connectors.catalog("docs")).source).toBe("memory");
    expect(await store.read((tx) => tx.documents.list("catalog"))).toEqual([]);
  });
});

describe("descriptions that people write", () => {
  const described =
    '{"name":"echo","description":"raw","inputSchema":{"type":"object","properties":{"p":{"description":"raw p"}}},"z":18446744073709551616}';

  async function party(options: Partial<ConnectorHostOptions> = {}) {
    const gateway = await parties.gateway();
    gateway.script("docs", (call) => {
      if (call.method === "tools/list") call.result(`{"resultType":"complete","tools":[${described}]}`);
      else working(call);
    });
    const told: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (_message: string, fields: object) => told.push(fields) };
    const profiles = { short: { descriptions: { docs: { echo: { description: "of the profile" } } } } };
    const kept = createRegistrationMemory();
    const { host } = await parties.host(gateway, [], { profiles, logger, registrationStore: kept, ...options });
    const { registrations } = host.connectors;
    await registrations.create(serverAt(gateway));
    await host.connectors.setNewTools("docs", "allow");
    await registrations.setState("docs", "active");
    await becomes(host, { docs: "ready" });
    return { gateway, host, registrations, told, kept };
  }

  it("H-34, H-24: are in lists of agents, raw under registration under profile, and in nothing else", async () => {
    const { gateway, host, registrations, kept } = await party();
    const plain = agentOf(host);
    const bound = host.bind({ workspaceId: "w", agentSessionId: "short", profile: "short" });
    const short = new RawAgent(bound);
    const definition = async (agent: { send: typeof plain.send }) =>
      /"tools":\[(.*?)\],"ttlMs"/.exec((await agent.send("tools/list")).text)?.[1];
    const raw = described.replace('"echo"', '"docs_echo"');
    expect(await definition(plain)).toBe(raw);
    expect(await definition(short)).toBe(raw.replace('"raw"', '"of the profile"'));
    const before = await host.connectors.catalog("docs");
    await registrations.setDescriptions("docs", "echo", { description: "mine", properties: { p: "my p" } });
    expect(await definition(plain)).toBe(raw.replace('"raw"', '"mine"').replace('"raw p"', '"my p"'));
    expect(await definition(short)).toBe(raw.replace('"raw"', '"of the profile"').replace('"raw p"', '"my p"'));
    // Neither the catalog nor the server knows of it, and a call is what it was.
    expect(await host.connectors.catalog("docs")).toEqual(before);
    expect((await plain.call("docs_echo", { p: 1 })).result).toBeDefined();
    expect(gateway.calls.at(-1)?.params).toMatchObject({ name: "echo", arguments: { p: 1 } });
    const [stored] = (await kept.load({})).registrations;
    expect({ ...stored?.descriptions["echo"] }).toMatchObject({ description: "mine" });
    await registrations.setDescriptions("docs", "echo", undefined);
    expect(await definition(plain)).toBe(raw);
  });

  it("H-34: one that does not fit leaves the tool out of lists, says so, and leaves calls alone", async () => {
    const { host, registrations, told } = await party();
    await registrations.setDescriptions("docs", "echo", { properties: { q: "there is no q" } });
    const agent = agentOf(host);
    expect((await agent.list()).names).toEqual([]);
    const tool = { connectorKey: "docs", nativeName: "echo" };
    const diagnostics = [{ kind: "unfit_description", tool, reason: expect.stringContaining('"q"') }];
    expect(told).toContainEqual({ connectorKey: "docs", diagnostics });
    expect((await agent.call("docs_echo")).result).toBeDefined();
  });

  it("H-34: what is none is refused, and nothing is changed then; so is a profile that there is not", async () => {
    const { host, registrations } = await party();
    const refused = { code: "invalid_argument", delivery: "not_sent" };
    const wrong: object = { description: 1 };
    for (const override of [wrong, {}, { properties: {} }, { other: "x" }]) {
      await expect(registrations.setDescriptions("docs", "echo", override)).rejects.toMatchObject(refused);
    }
    await expect(registrations.setDescriptions("docs", "", { description: "d" })).rejects.toMatchObject(refused);
    await expect(registrations.setDescriptions("none", "x", { description: "d" })).rejects.toMatchObject({
      code: "unknown_connector",
    });
    expect({ ...registrations.list()[0]?.descriptions }).toEqual({});
    const profile = { ...refused, details: { argument: "profile" } };
    expect(() => host.bind({ workspaceId: "w", agentSessionId: "s", profile: "none" })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
    await expect(host.bindDurable({ name: "n", profile: "constructor" })).rejects.toMatchObject(profile);
    await expect(
      parties.host(await parties.gateway(), [], { profiles: { p: { descriptions: { docs: { echo: {} } } } } }),
    ).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "profiles" },
    });
  });

  it("H-34: a durable binding has its profile over a restart, and is told of when there is none any more", async () => {
    const folder = await parties.folder();
    const profiles = { short: { descriptions: {} } };
    const first = await onDisk(folder, { profiles });
    await first.bindDurable({ name: "cli", profile: "short" });
    await first.close();
    const second = await onDisk(folder, { profiles });
    expect(second.durableBindings()).toEqual([{ name: "cli", accountId: undefined, profile: "short" }]);
    await second.close();
    const told: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (_message: string, fields: object) => told.push(fields) };
    await onDisk(folder, { logger });
    expect(told).toContainEqual({ name: "cli", profile: "short" });
  });
});
