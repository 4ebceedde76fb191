import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { createRegistrationMemory } from "../../../src/connector-host/device/index.js";
import { type ConnectorHost, parseRegistration, type Registration } from "../../../src/connector-host/index.js";
import { createMemoryStore, openSqliteStore } from "../../../src/store/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import { connected, type ScriptedGateway, working } from "../../support/scripted-gateway.js";
import { admin, Cleanup, httpConnector, json, startGateway, startUpstream } from "../gateway/support.js";
import { agentOf, arrived, becomes, generationsOf, holding, HostParties, kindsOf, statesOf } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const NOT_CONNECTED = { a: "authorization_required" };
const READY = { a: "ready" };
const ENTRY = { connectorId: "a", connectorVersion: "1.0.0", connectionVersion: 2 };

interface Change {
  readonly trigger: string;
  /** What the account has before it. Left out: version 1 of one connection. */
  readonly from?: readonly object[];
  readonly to: readonly object[];
  /** What is published besides what was before. */
  readonly published: readonly string[];
  readonly state: Record<string, string>;
  /** What becomes of a call that was in flight; `none`: there was no route for one. */
  readonly call: "finishes" | "ends" | "none";
}

const CHANGES: readonly Change[] = [
  {
    trigger: "authorization granted",
    from: [],
    to: [connected("a", 1)],
    published: ["published a"],
    state: READY,
    call: "none",
  },
  {
    trigger: "authorization granted after a refusal that the server remembers",
    from: [{ ...ENTRY, state: "disconnected", connectionVersion: 0 }],
    to: [connected("a", 1)],
    published: ["published a"],
    state: READY,
    call: "none",
  },
  {
    trigger: "★ item 1: token or scope changed, while the state stays connected",
    to: [connected("a", 2)],
    published: ["replaced a"],
    state: READY,
    call: "finishes",
  },
  {
    trigger: "token or scope changed twice before anyone looked",
    to: [connected("a", 7)],
    published: ["replaced a"],
    state: READY,
    call: "finishes",
  },
  {
    trigger: "authorization expired, and has to be made anew",
    to: [{ ...ENTRY, state: "reauth_required", connectionId: "c-a" }],
    published: ["withdrawn a"],
    state: { a: "reauthorization_required" },
    call: "ends",
  },
  {
    trigger: "authorization made anew after it had expired",
    from: [{ ...ENTRY, state: "reauth_required", connectionId: "c-a" }],
    to: [connected("a", 3)],
    published: ["published a"],
    state: READY,
    call: "none",
  },
  {
    trigger: "authorization revoked",
    to: [{ ...ENTRY, state: "disconnected" }],
    published: ["withdrawn a"],
    state: NOT_CONNECTED,
    call: "ends",
  },
  {
    trigger: "authorization no longer mentioned",
    to: [],
    published: ["withdrawn a"],
    state: NOT_CONNECTED,
    call: "ends",
  },
  {
    trigger: "an entry that can't be read any more",
    to: [{ ...ENTRY, state: "sideways" }],
    published: ["withdrawn a"],
    state: NOT_CONNECTED,
    call: "ends",
  },
  {
    trigger: "default connection changed",
    to: [connected("a", 1, { connectionId: "another" })],
    published: ["withdrawn a", "published a"],
    state: READY,
    call: "ends",
  },
  {
    trigger: "★ item 6: authorization for another release than the installed one",
    to: [connected("a", 1, { connectorVersion: "2.0.0" })],
    published: ["withdrawn a"],
    state: { a: "release_mismatch" },
    call: "ends",
  },
  {
    trigger: "authorization for the installed release again",
    from: [connected("a", 1, { connectorVersion: "2.0.0" })],
    to: [connected("a", 1)],
    published: ["published a"],
    state: READY,
    call: "none",
  },
];

/** A program that writes its process id to this file. */
function programOf(starts: string): object {
  const path = fileURLToPath(new URL("../../../build/test/programs/restless-stdio-server.js", import.meta.url));
  return { key: "files", displayName: "Files", command: process.execPath, args: [path, JSON.stringify({ starts })] };
}

/** A person's own registration, active, with everything allowed. */
function registrationAt(endpoint: string): Registration {
  return parseRegistration({
    id: "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11",
    slug: "docs",
    displayName: "Docs",
    settings: { endpoint, protocol: "modern" },
    state: "active",
    newTools: "allow",
  });
}

const discoveries = ({ calls }: ScriptedGateway): number =>
  calls.filter(({ method }) => method === "server/discover").length;

/** How a call ends that its server may have worked on. */
const UNKNOWN = { "sh.tutti/delivery": expect.objectContaining({ delivery: "unknown" }) };

/** What is published, what a list shows and what a call gets agree. */
async function expectRoute(host: ConnectorHost, isThere: boolean): Promise<void> {
  const agent = agentOf(host, "after");
  expect((await agent.list()).names).toEqual(isThere ? ["a_echo"] : []);
  const { result } = await agent.call("a_echo");
  expect(result !== undefined).toBe(isThere);
}

describe("R-7: a change in the account's snapshot", () => {
  it.each(CHANGES.map((change) => [change.trigger, change] as const))("R-7, R-1: %s", async (_trigger, change) => {
    const { from = [connected("a", 1)], to, published, state, call } = change;
    const gateway = await parties.gateway();
    gateway.snapshot = { revision: 1, connectors: from };
    const wallClock = new FakeClock(Date.now());
    const party = await parties.host(gateway, ["a"], { wallClock });
    const { host } = party;
    host.signIn("ada");
    await wallClock.advance(0);
    if (call === "none")
      await expect.poll(async () => (await statesOf(host))["a"], { timeout: 10_000 }).not.toBe("account_not_ready");
    else await becomes(host, READY);
    const before = party.published.length;
    const asked = discoveries(gateway);
    const held = call === "none" ? [] : holding(gateway, "a", "tools/call");
    const answer = call === "none" ? undefined : agentOf(host).call("a_echo");
    if (answer !== undefined) await arrived(held);

    gateway.snapshot = { revision: 2, connectors: to };
    host.refresh();
    await wallClock.advance(1_000);

    await expect.poll(() => kindsOf(party.published).slice(before), { timeout: 5_000 }).toEqual(published);
    await becomes(host, state);
    const isThere = state["a"] === "ready";
    // A new route is a new generation, for which the server was asked anew who it is.
    expect(discoveries(gateway) - asked).toBe(isThere ? 1 : 0);
    const generations = generationsOf(party.published.filter((event) => !event.startsWith("withdrawn")));
    expect(generations).toEqual([...new Set(generations)].sort((one, other) => one - other));
    gateway.script("a", working);
    for (const one of held) one.result('{"resultType":"complete","content":[],"old":true}');
    const outcome = await answer;
    if (call === "finishes") expect(outcome?.result).toMatchObject({ old: true });
    if (call === "ends") expect(outcome?.error?.data).toMatchObject(UNKNOWN);
    await expectRoute(host, isThere);
    expect(kindsOf(party.published).slice(before)).toEqual(published);
  });

  it("R-7, P-2: another release causes one more fetch, and no third", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const wallClock = new FakeClock(Date.now());
    const { host, published } = await parties.host(gateway, ["a"], { wallClock });
    host.signIn("ada");
    await wallClock.advance(0);
    await becomes(host, READY);
    const { snapshots } = gateway;
    gateway.snapshot = { revision: 2, connectors: [connected("a", 1, { connectorVersion: "2.0.0" })] };
    host.refresh();
    await wallClock.advance(1_000);
    await becomes(host, { a: "release_mismatch" });
    expect(gateway.snapshots).toBe(snapshots + 1);
    await wallClock.advance(1_000);
    await expect.poll(() => gateway.snapshots, { timeout: 10_000 }).toBe(snapshots + 2);
    for (let second = 0; second < 60; second += 1) await wallClock.advance(1_000);
    expect(gateway.snapshots).toBe(snapshots + 2);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
  });
});

describe("R-7, P-9: by hints alone, with the reference gateway", () => {
  it("R-7, P-9: granted, changed, expired, granted again and revoked, each seen within its hint", async () => {
    const cleanup = new Cleanup();
    parties.opened.push({ close: () => cleanup.run() });
    const upstream = await startUpstream(cleanup, ({ method, id, response }) => {
      if (method !== "server/discover") return undefined;
      json(response, id, '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}');
      return true;
    });
    const gateway = await startGateway(cleanup, [httpConnector("a", upstream.url, "account")]);
    const target = { accountId: "ada", connectorId: "a" };
    const { host, published } = await parties.host({ url: gateway.origin }, ["a"], {
      accounts: { authorize: () => ({ Cookie: "session=s-ada" }) },
      hintsUrl: undefined,
    });
    host.signIn("ada");
    await becomes(host, NOT_CONNECTED);
    const steps: readonly (readonly [string, string, Record<string, string>])[] = [
      ["grant", "published a", READY],
      ["grant", "replaced a", READY],
      ["expire", "withdrawn a", { a: "reauthorization_required" }],
      ["grant", "published a", READY],
      ["revoke", "withdrawn a", NOT_CONNECTED],
    ];
    for (const [index, [change, event, state]] of steps.entries()) {
      expect((await admin(gateway, "POST", `/admin/${change}`, target)).status).toBe(200);
      await expect.poll(() => kindsOf(published).slice(index), { timeout: 5_000 }).toEqual([event]);
      await becomes(host, state);
    }
  });
});

describe("R-7: boot and login", () => {
  it("R-7, R-2, P-7: boot, on rows that say that a route is there", async () => {
    const directory = await parties.folder();
    const gateway = await parties.gateway({ a: 1 });
    const first = await parties.host(gateway, ["a"], {}, await openSqliteStore({ directory }));
    first.host.signIn("ada");
    await becomes(first.host, READY);
    await first.host.close();
    const store = await openSqliteStore({ directory });
    const row = await store.read((tx) => tx.convergence.get("account:ada", "a"));
    expect(row?.observed).toMatchObject({ enabled: true, readiness: "ready", generation: row?.desired.generation });
    const second = await parties.host(gateway, ["a"], {}, store);
    expect(second.published).toEqual([]);
    second.host.signIn("ada");
    await becomes(second.host, READY);
    expect(kindsOf(second.published)).toEqual(["published a"]);
    await expectRoute(second.host, true);
  });

  it("R-7, P-8: login, and login as another account", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const { host, published } = await parties.host(gateway, ["a"]);
    expect(await statesOf(host)).toEqual({ a: "signed_out" });
    host.signIn("ada");
    await becomes(host, READY);
    await expectRoute(host, true);
    gateway.connect(1, {});
    host.signIn("bob");
    await becomes(host, NOT_CONNECTED);
    await expectRoute(host, false);
    gateway.connect(1, { a: 1 });
    host.signIn("ada");
    await becomes(host, READY);
    await expectRoute(host, true);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a", "published a"]);
  });
});

describe("R-7: changes on this device", () => {
  it("R-7: an exit of a route clears what was observed in the same step, and another one comes", async () => {
    const store = createMemoryStore();
    const wallClock = new FakeClock(Date.now());
    const gateway = await parties.gateway();
    const starts = join(await parties.folder(), "starts");
    const { host, published } = await parties.host(gateway, [], { stdio: [programOf(starts)], wallClock }, store);
    await becomes(host, { files: "ready" });
    const observed = async () => (await store.read((tx) => tx.convergence.get("device", "files")))?.observed;
    expect(await observed()).toMatchObject({ enabled: true, readiness: "ready" });
    const events: string[] = [];
    const lost = new Promise<unknown>((resolve) => {
      host.events.subscribe((event) => {
        events.push(event.kind);
        if (event.kind === "lost") resolve(observed());
      });
    });
    process.kill(Number(await readFile(starts, "utf8")), "SIGKILL");
    expect(await lost).toBeUndefined();
    expect(kindsOf(published)).toEqual(["published files", "withdrawn files"]);
    await becomes(host, { files: "process_exited" });
    expect(events.filter((kind) => kind === "run_started")).toEqual([]);
    await wallClock.advance(1_000);
    await becomes(host, { files: "ready" });
    expect(kindsOf(published)).toEqual(["published files", "withdrawn files", "published files"]);
  });

  it("R-7, H-3: settings of a registration that changed leave the old server at once, for the new one", async () => {
    const gateway = await parties.gateway();
    const registrationStore = createRegistrationMemory();
    await registrationStore.put(registrationAt(`${gateway.url}/v1/connectors/old/mcp`));
    const { host, published } = await parties.host(gateway, [], { registrationStore });
    await becomes(host, { docs: "ready" });
    gateway.script("new", (call) => {
      if (call.method !== "tools/list") working(call);
      else call.result('{"resultType":"complete","tools":[{"name":"fresh","inputSchema":{"type":"object"}}]}');
    });
    expect((await agentOf(host).list()).names).toEqual(["docs_echo"]);
    const held = holding(gateway, "old", "tools/call");
    const answer = agentOf(host).call("docs_echo");
    await arrived(held);
    const settings = { endpoint: `${gateway.url}/v1/connectors/new/mcp`, protocol: "modern" };
    await host.connectors.registrations.replaceSettings("docs", settings);
    expect((await answer).error?.data).toMatchObject(UNKNOWN);
    await becomes(host, { docs: "ready" });
    expect(kindsOf(published)).toEqual(["published docs", "withdrawn docs", "published docs"]);
    const asked = gateway.calls.length;
    expect((await agentOf(host).list()).names).toEqual(["docs_fresh"]);
    expect((await agentOf(host).call("docs_echo")).error?.data).toMatchObject({
      "sh.tutti/delivery": expect.objectContaining({ code: "unknown_tool" }),
    });
    expect((await agentOf(host).call("docs_fresh")).result).toBeDefined();
    expect(gateway.calls.slice(asked).every(({ connectorKey }) => connectorKey === "new")).toBe(true);
  });

  it("R-7, H-11: the switch, off and on, in both scopes", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const registrationStore = createRegistrationMemory();
    await registrationStore.put(registrationAt(`${gateway.url}/v1/connectors/docs/mcp`));
    const { host, published } = await parties.host(gateway, ["a"], { registrationStore });
    host.signIn("ada");
    await becomes(host, { a: "ready", docs: "ready" });
    for (const key of ["a", "docs"]) await host.connectors.setEnabled(key, false);
    await becomes(host, { a: "switched_off", docs: "switched_off" });
    for (const key of ["a", "docs"]) await host.connectors.setEnabled(key, true);
    await becomes(host, { a: "ready", docs: "ready" });
    const ofBoth = ["published a", "published a", "published docs", "published docs", "withdrawn a", "withdrawn docs"];
    expect(kindsOf(published).toSorted()).toEqual(ofBoth);
    const generations = generationsOf(published.filter((event) => event.startsWith("published")));
    expect(new Set(generations).size).toBe(4);
  });
});
