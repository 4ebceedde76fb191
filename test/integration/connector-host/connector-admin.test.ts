import { afterEach, describe, expect, it } from "vitest";
import type { ConnectorHost, ReleaseCapability } from "../../../src/connector-host/index.js";
import { RemoteConnectorError } from "../../../src/errors.js";
import { createMemoryStore, openSqliteStore } from "../../../src/store/index.js";
import { FailingStore } from "../../support/failing-store.js";
import { FakeClock } from "../../support/fake-clock.js";
import { releaseOf } from "../../support/releases.js";
import { connected, type ScriptedGateway, working } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties, kindsOf } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const READY = { a: "ready" };
const UNKNOWN = { "sh.tutti/delivery": expect.objectContaining({ delivery: "unknown" }) };
const second = releaseOf("a", { version: "2.0.0" });

/** The releases that the connector's requests were pinned to, without repetitions. */
function pinned({ calls }: ScriptedGateway): readonly unknown[] {
  return [...new Set(calls.map(({ request }) => request.headers["tutti-connector-version"]))];
}

function versions(host: ConnectorHost) {
  return host.connectors.list().map(({ version, candidateVersion }) => [version, candidateVersion]);
}

/** The account's authorization is for this release from now on. */
function authorize(gateway: ScriptedGateway, host: ConnectorHost, revision: number, connectorVersion: string): void {
  gateway.snapshot = { revision, connectors: [connected("a", 1, { connectorVersion })] };
  host.refresh();
}

describe("releases", () => {
  it("H-1, H-4: one that is installed while the host runs is published, named, and there after a restart", async () => {
    const directory = await parties.folder();
    const gateway = await parties.gateway({ a: 1, b: 1 });
    const first = await parties.host(gateway, ["b"], {}, await openSqliteStore({ directory }));
    first.host.signIn("ada");
    await becomes(first.host, { b: "ready" });
    const capabilities: readonly ReleaseCapability[] = ["prompts", "tools"];
    await first.host.connectors.install(releaseOf("a"), { capabilities });
    await becomes(first.host, { a: "ready", b: "ready" });
    expect((await agentOf(first.host).list()).names).toEqual(["a_echo", "b_echo"]);
    await first.host.close();

    const restarted = await parties.host(gateway, ["b"], {}, await openSqliteStore({ directory }));
    restarted.host.signIn("ada");
    await becomes(restarted.host, { a: "ready", b: "ready" });
    expect(restarted.host.connectors.list()).toMatchObject([
      { connectorKey: "a", kind: "release", version: "1.0.0", capabilities: ["tools", "prompts"], enabled: true },
      { connectorKey: "b", kind: "release", capabilities: ["tools"] },
    ]);
    const again = restarted.host.connectors.install(releaseOf("b"));
    await expect(again).rejects.toMatchObject({ code: "duplicate_connector", details: { connectorKey: "b" } });
    const endpoint = restarted.host.connectors.install(releaseOf("c", { endpoint: "https://c.test" }));
    await expect(endpoint).rejects.toMatchObject({ code: "invalid_release", details: { member: "endpoint" } });
    await expect(restarted.host.connectors.update(releaseOf("c"))).rejects.toMatchObject({ code: "unknown_connector" });
  });

  it("H-1, P-2, R-7: an update waits until the snapshot names it, supersedes, and is what is installed then", async () => {
    const directory = await parties.folder();
    const gateway = await parties.gateway({ a: 1 });
    const wallClock = new FakeClock(Date.now());
    const store = await openSqliteStore({ directory });
    const { host, published } = await parties.host(gateway, ["a"], { wallClock }, store);
    host.signIn("ada");
    await wallClock.advance(0);
    await becomes(host, READY);
    await host.connectors.update(second);
    expect(versions(host)).toEqual([["1.0.0", "2.0.0"]]);
    const held = holding(gateway, "a", "tools/call");
    const answer = agentOf(host).call("a_echo");
    await arrived(held);
    expect(pinned(gateway)).toEqual(["1.0.0"]);
    expect(kindsOf(published)).toEqual(["published a"]);

    authorize(gateway, host, 2, "2.0.0");
    await wallClock.advance(2_000);
    await expect.poll(() => versions(host), { timeout: 5_000 }).toEqual([["2.0.0", undefined]]);
    expect(kindsOf(published)).toEqual(["published a", "replaced a"]);
    expect(pinned(gateway)).toEqual(["1.0.0", "2.0.0"]);
    for (const one of held) one.result('{"resultType":"complete","content":[],"old":true}');
    expect((await answer).result).toMatchObject({ old: true });
    await host.close();

    // The configuration is still the one that the update began with.
    const restarted = await parties.host(gateway, ["a"], {}, await openSqliteStore({ directory }));
    expect(versions(restarted.host)).toEqual([["2.0.0", undefined]]);
    restarted.host.signIn("ada");
    await becomes(restarted.host, READY);
    await expect(restarted.host.connectors.update({ ...second, display: { name: "Other" } })).rejects.toMatchObject({
      code: "invalid_release",
      details: { member: "version" },
    });
  });

  it("H-1, P-9: what can't be activated takes nothing away: the present release serves, and stays installed", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const wallClock = new FakeClock(Date.now());
    const { host, published } = await parties.host(gateway, ["a"], { wallClock });
    host.signIn("ada");
    await wallClock.advance(0);
    await becomes(host, READY);
    gateway.script("a", (call) => {
      if (call.request.headers["tutti-connector-version"] === "2.0.0") call.error(-32_000, 503);
      else working(call);
    });
    // Nothing but the change of the release has the account looked at.
    gateway.snapshot = { revision: 2, connectors: [connected("a", 1, { connectorVersion: "2.0.0" })] };
    await host.connectors.update(second);
    await wallClock.advance(1_000);
    await expect.poll(() => pinned(gateway), { timeout: 5_000 }).toEqual(["1.0.0", "2.0.0"]);
    await expect.poll(async () => (await host.status())[0]?.state, { timeout: 5_000 }).toBe("degraded");
    expect((await agentOf(host).call("a_echo")).result).toBeDefined();
    expect(versions(host)).toEqual([["1.0.0", "2.0.0"]]);
    expect(kindsOf(published)).toEqual(["published a"]);
    // The present release ends the update.
    await host.connectors.update(releaseOf("a"));
    expect(versions(host)).toEqual([["1.0.0", undefined]]);
  });

  it("H-1: uninstalling deactivates, observes and removes; what the account authorized stays", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const store = createMemoryStore();
    const { host, published } = await parties.host(gateway, [], {}, store);
    await host.connectors.install(releaseOf("a"));
    host.signIn("ada");
    await becomes(host, READY);
    const held = holding(gateway, "a", "tools/call");
    const answer = agentOf(host).call("a_echo");
    await arrived(held);
    const row = await store.read((tx) => tx.projections.get("ada", "a"));
    const observed: unknown[] = [];
    host.events.subscribe((event) => {
      if (event.kind === "observed") observed.push([event.readiness, host.connectors.list().length]);
    });
    await host.connectors.uninstall("a");
    expect(observed).toEqual([["off", 1]]);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    expect((await answer).error?.data).toMatchObject(UNKNOWN);
    expect([host.connectors.list(), await host.status()]).toEqual([[], []]);
    const left = await store.read(async (tx) => [
      await tx.documents.list("release"),
      await tx.projections.get("ada", "a"),
    ]);
    expect(left).toEqual([[], row]);
    await expect.poll(() => store.read((tx) => tx.convergence.listKeys("account:ada")), { timeout: 5_000 }).toEqual([]);
    await expect(host.connectors.uninstall("a")).rejects.toMatchObject({ code: "unknown_connector" });

    gateway.script("a", working);
    await host.connectors.install(releaseOf("a"));
    await becomes(host, READY);
    expect((await agentOf(host).list()).names).toEqual(["a_echo"]);
  });

  it("H-1: an uninstallation that the process did not see through is through at the next start", async () => {
    const store = createMemoryStore();
    const gateway = await parties.gateway({ a: 1 });
    const kept = { current: releaseOf("a"), capabilities: ["tools"], isLeaving: true, formatVersion: 1 };
    await store.write((tx) =>
      tx.documents.put({ kind: "release", key: "a", text: JSON.stringify(kept), updatedAt: 1 }),
    );
    const off = { kind: "switch", key: "a", text: '{"formatVersion":1,"isOn":false}', updatedAt: 1 };
    await store.write((tx) => tx.documents.put(off));
    const noRoom = () =>
      Promise.reject(new RemoteConnectorError("store_full", { message: "full", details: { path: "state" } }));
    const full = await parties.host(
      gateway,
      [],
      {},
      { read: (work) => store.read(work), write: noRoom, close: async () => undefined },
    );
    expect(full.host.connectors.list()).toEqual([]);
    await full.host.close();
    const { host } = await parties.host(gateway, [], {}, store);
    expect(host.connectors.list()).toEqual([]);
    const left = await store.read((tx) => Promise.all([tx.documents.list("release"), tx.documents.list("switch")]));
    expect(left).toEqual([[], []]);
  });
});

describe("the switch", () => {
  it("H-11, R-7: off ends everything before anything is awaited, is kept, and on publishes again", async () => {
    const directory = await parties.folder();
    const gateway = await parties.gateway({ a: 1 });
    const { host, published } = await parties.host(gateway, ["a"], {}, await openSqliteStore({ directory }));
    host.signIn("ada");
    await becomes(host, READY);
    const held = holding(gateway, "a", "tools/call");
    const answer = agentOf(host).call("a_echo");
    await arrived(held);
    const off = host.connectors.setEnabled("a", false);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    await off;
    expect((await answer).error?.data).toMatchObject(UNKNOWN);
    await becomes(host, { a: "switched_off" });
    expect(await host.status()).toMatchObject([{ state: "disabled" }]);
    await host.close();

    gateway.script("a", working);
    const restarted = await parties.host(gateway, ["a"], {}, await openSqliteStore({ directory }));
    await becomes(restarted.host, { a: "switched_off" });
    restarted.host.signIn("ada");
    await restarted.host.connectors.setEnabled("a", true);
    await becomes(restarted.host, READY);
    expect((await agentOf(restarted.host).list()).names).toEqual(["a_echo"]);
    await expect(restarted.host.connectors.setEnabled("b", false)).rejects.toMatchObject({ code: "unknown_connector" });
  });

  it("H-11: off holds though the store takes nothing in; the last of several wishes counts", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const inner = createMemoryStore();
    const store = new FailingStore(inner);
    const { host, published } = await parties.host(gateway, ["a"], {}, store);
    host.signIn("ada");
    await becomes(host, READY);
    store.failAt(1, { forGood: true });
    await expect(host.connectors.setEnabled("a", false)).rejects.toThrow("The store fails");
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    expect(host.connectors.list()).toMatchObject([{ enabled: false }]);
    store.mend();
    await becomes(host, { a: "switched_off" });
    const wish = (...states: readonly boolean[]) =>
      Promise.all(states.map((isOn) => host.connectors.setEnabled("a", isOn)));
    await wish(true, false);
    expect(host.connectors.list()).toMatchObject([{ enabled: false }]);
    await becomes(host, { a: "switched_off" });
    expect(await inner.read((tx) => tx.documents.list("switch"))).toHaveLength(1);
    expect(kindsOf(published)).toEqual(["published a", "withdrawn a"]);
    await wish(false, true);
    await becomes(host, READY);
    expect(await inner.read((tx) => tx.documents.list("switch"))).toEqual([]);
  });

  it("H-11, H-1: a release that can't be read is failed, has its key, and can be switched off", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const store = createMemoryStore();
    const kept = {
      current: releaseOf("a", { later: true }),
      capabilities: ["tools"],
      isLeaving: false,
      formatVersion: 1,
    };
    await store.write((tx) =>
      tx.documents.put({ kind: "release", key: "a", text: JSON.stringify(kept), updatedAt: 1 }),
    );
    const { host } = await parties.host(gateway, [], {}, store);
    host.signIn("ada");
    await becomes(host, { a: "invalid_release" });
    expect(await host.status()).toMatchObject([{ state: "failed" }]);
    await expect(host.connectors.install(releaseOf("a"))).rejects.toMatchObject({ code: "duplicate_connector" });
    await host.connectors.setEnabled("a", false);
    await becomes(host, { a: "switched_off" });
    await host.connectors.setEnabled("a", true);
    await host.connectors.update(releaseOf("a"));
    await becomes(host, READY);
  });
});
