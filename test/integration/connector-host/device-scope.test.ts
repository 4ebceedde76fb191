import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { createRegistrationMemory } from "../../../src/connector-host/device/index.js";
import { openConnectorHost, type Registration } from "../../../src/connector-host/index.js";
import { writeFile } from "node:fs/promises";
import { createMemoryStore } from "../../../src/store/index.js";
import { FailingStore } from "../../support/failing-store.js";
import { FakeClock } from "../../support/fake-clock.js";
import { releaseOf } from "../../support/releases.js";
import type { ScriptedGateway } from "../../support/scripted-gateway.js";
import type { RawAgent } from "../../support/agent.js";
import { agentOf, becomes, HostParties, kindsOf, statesOf } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

/** A server over HTTP that works, at this gateway of a test. */
function serverAt({ url }: ScriptedGateway, slug: string, path = slug): object {
  return { slug, displayName: slug, settings: { endpoint: `${url}/v1/connectors/${path}/mcp`, protocol: "modern" } };
}

/** A program that lives on, with one tool. */
const PROGRAM = {
  key: "files",
  displayName: "Files",
  command: process.execPath,
  args: [fileURLToPath(new URL("../../../build/test/programs/restless-stdio-server.js", import.meta.url)), "{}"],
};

describe("P-8: the scope of the device", () => {
  it("P-8, H-4, H-11: declared servers and programs are served before, during and after a login", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const told: unknown[] = [];
    const { host, published } = await parties.host(gateway, ["a"], {
      registrations: [{ ...serverAt(gateway, "docs"), newTools: "allow" }],
      stdio: [PROGRAM],
      logger: { debug() {}, warn() {}, error() {}, info: (_message, fields) => told.push(fields) },
    });
    expect(told).toContainEqual(expect.objectContaining({ connectorKey: "docs", newTools: "allow" }));
    await becomes(host, { a: "signed_out", docs: "ready", files: "ready" });
    const before = agentOf(host, "before");
    const names = async (agent: RawAgent) => (await agent.list()).names.filter((name) => /^(a|docs)_/.test(name));
    expect(await names(before)).toEqual(["docs_echo"]);
    host.signIn("ada");
    await becomes(host, { a: "ready", docs: "ready", files: "ready" });
    const during = agentOf(host, "during");
    expect(await names(during)).toEqual(["a_echo", "docs_echo"]);
    // It was bound to no account, and stays so.
    expect(await names(before)).toEqual(["docs_echo"]);
    expect((await before.call("a_echo")).result).toBeUndefined();
    host.signOut();
    expect((await during.call("docs_echo")).status).toBe(401);
    expect((await agentOf(host, "after").call("docs_echo")).result).toBeDefined();
    await host.connectors.setEnabled("docs", false);
    await becomes(host, { a: "signed_out", docs: "switched_off", files: "ready" });
    // Nothing of the device was made anew.
    const ofDevice = kindsOf(published).filter((event) => !event.endsWith(" a"));
    expect(ofDevice.toSorted()).toEqual(["published docs", "published files", "withdrawn docs"]);
  });

  it("P-8: a host without accounts serves its device, and says so to who would sign in", async () => {
    const gateway = await parties.gateway();
    const hostInfo = { name: "test", version: "1.0.0" };
    const registrations = [serverAt(gateway, "docs")];
    const host = await openConnectorHost({ hostInfo, registrations });
    parties.opened.push(host);
    await becomes(host, { docs: "ready" });
    expect((await agentOf(host).list()).names).toEqual(["docs_echo"]);
    const refusal = { code: "invalid_options", details: { option: "baseUrl" } };
    await expect((async () => host.signIn("ada"))()).rejects.toMatchObject(refusal);
    expect([host.login, (await agentOf(host).list()).names]).toEqual([undefined, ["docs_echo"]]);
    await expect(openConnectorHost({ hostInfo, releases: [releaseOf("a")] })).rejects.toMatchObject(refusal);
    await expect(openConnectorHost({ hostInfo, accounts: { authorize: () => ({}) } })).rejects.toMatchObject(refusal);
    const half = openConnectorHost({ hostInfo, baseUrl: gateway.url });
    await expect(half).rejects.toMatchObject({ code: "invalid_options", details: { option: "accounts" } });
  });

  it("H-4: one key space: what is declared, registered and installed refuses each other's keys", async () => {
    const gateway = await parties.gateway();
    const { host } = await parties.host(gateway, ["a"], { stdio: [PROGRAM] });
    const taken = (connectorKey: string) => ({ code: "duplicate_connector", details: { connectorKey } });
    await expect(host.connectors.install(releaseOf("files"))).rejects.toMatchObject(taken("files"));
    await expect(host.connectors.registrations.create(serverAt(gateway, "a"))).rejects.toMatchObject(taken("a"));
    const twice = parties.host(gateway, ["files"], { stdio: [PROGRAM] });
    await expect(twice).rejects.toMatchObject(taken("files"));
    await expect(parties.host(gateway, ["a", "a"])).rejects.toMatchObject(taken("a"));
  });

  it("H-16: registrations have a number, and one that goes makes room", async () => {
    const gateway = await parties.gateway();
    const { host } = await parties.host(gateway, [], { maxRegistrations: 2, registrations: [serverAt(gateway, "a")] });
    const { registrations } = host.connectors;
    await registrations.create(serverAt(gateway, "b"));
    const details = { option: "maxRegistrations", limit: 2 };
    await expect(registrations.create(serverAt(gateway, "c"))).rejects.toMatchObject({
      code: "limit_exceeded",
      details,
    });
    await registrations.remove("b");
    expect(await registrations.create(serverAt(gateway, "c"))).toMatchObject({ slug: "c" });
  });

  it("H-4: a key that is asked for twice at once is one connector's, whoever keeps it first", async () => {
    const gateway = await parties.gateway();
    const memory = createRegistrationMemory();
    // As slow as a disk.
    const kept = { ...memory, put: (each: Registration) => nextTurn().then(() => memory.put(each)) };
    for (const isFirst of [true, false]) {
      const { host } = await parties.host(gateway, [], { registrationStore: kept });
      const register = () => host.connectors.registrations.create(serverAt(gateway, "docs"));
      const install = () => host.connectors.install(releaseOf("docs"));
      const asked = await Promise.allSettled(isFirst ? [register(), install()] : [install(), register()]);
      expect(asked.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const [entry] = host.connectors.list();
      expect((await kept.load()).registrations.length).toBe(entry?.kind === "registration" ? 1 : 0);
      if (entry?.kind === "registration") await host.connectors.registrations.remove("docs");
    }
  });

  it("H-3, H-11: a switch dies with its registration, and one of an earlier connector of the key says nothing", async () => {
    const gateway = await parties.gateway();
    const store = createMemoryStore();
    const { host } = await parties.host(gateway, [], {}, store);
    const { registrations } = host.connectors;
    const switches = () => store.read((tx) => tx.documents.list("switch"));
    const leaveOff = (key: string) =>
      store.write((tx) =>
        tx.documents.put({ kind: "switch", key, text: '{"formatVersion":1,"isOn":false}', updatedAt: 1 }),
      );
    await registrations.create(serverAt(gateway, "docs"));
    await host.connectors.setEnabled("docs", false);
    await registrations.remove("docs");
    expect(await switches()).toEqual([]);
    await leaveOff("docs");
    await registrations.create(serverAt(gateway, "docs"));
    await leaveOff("a");
    await host.connectors.install(releaseOf("a"));
    expect(await switches()).toEqual([]);
  });

  it("H-3: a registration that can't be kept is none", async () => {
    const gateway = await parties.gateway();
    const kept = { ...createRegistrationMemory(), put: () => Promise.reject(new Error("full")) };
    const { host } = await parties.host(gateway, [], { registrationStore: kept });
    await expect(host.connectors.registrations.create(serverAt(gateway, "docs"))).rejects.toThrow("full");
    expect([host.connectors.list(), await host.status()]).toEqual([[], []]);
  });

  it("H-3, H-12: paused at any moment, it is not published, though that can't be kept", async () => {
    const gateway = await parties.gateway();
    for (const run of [1, 2, 3]) {
      const memory = createRegistrationMemory();
      let runs = 0;
      const { host, published } = await parties.host(gateway, [], {
        registrationStore: {
          ...memory,
          put: (each) => (each.state === "paused" && runs > 0 ? Promise.reject(new Error("full")) : memory.put(each)),
        },
      });
      const { registrations } = host.connectors;
      const slug = `docs${String(run)}`;
      await registrations.create(serverAt(gateway, slug));
      const paused = new Promise<unknown>((resolve) => {
        host.events.subscribe((event) => {
          if (event.kind !== "run_started" || (runs += 1) !== run) return;
          resolve(registrations.setState(slug, "paused").catch((error: unknown) => error));
        });
      });
      await registrations.setState(slug, "active");
      expect(await paused).toBeInstanceOf(Error);
      await expect.poll(() => host.status()).toMatchObject([{ state: "disabled" }]);
      expect(kindsOf(published)).toEqual([]);
      await host.close();
    }
  });

  it("H-3: a registration is made paused, runs, is given settings, and goes with what was permitted", async () => {
    const gateway = await parties.gateway();
    const kept = createRegistrationMemory();
    const { host, published } = await parties.host(gateway, [], { registrationStore: kept });
    const { registrations } = host.connectors;
    const made = await registrations.create(serverAt(gateway, "docs"));
    expect(made).toMatchObject({ slug: "docs", state: "paused", newTools: "off" });
    await becomes(host, { docs: "paused" });
    await registrations.setState("docs", "active");
    await becomes(host, { docs: "ready" });
    const { settings } = made;
    const moved = { ...settings, endpoint: settings.endpoint.replace("docs", "other") };
    expect(await registrations.replaceSettings("docs", moved)).toMatchObject({ changed: "settings" });
    await becomes(host, { docs: "ready" });
    const asked = gateway.calls.map(({ connectorKey }) => connectorKey);
    expect([...new Set(asked)]).toEqual(["docs", "other"]);
    expect(kindsOf(published)).toEqual(["published docs", "withdrawn docs", "published docs"]);
    expect((await kept.load()).registrations).toMatchObject([{ id: made.id, state: "active", settings: moved }]);

    await registrations.setState("docs", "paused");
    expect(kindsOf(published).at(-1)).toBe("withdrawn docs");
    await registrations.remove("docs");
    expect([registrations.list(), await host.status(), (await kept.load()).registrations]).toEqual([[], [], []]);
    await expect(registrations.setState("docs", "active")).rejects.toMatchObject({ code: "unknown_connector" });
    const again = await registrations.create(serverAt(gateway, "docs"));
    expect([again.state, again.id === made.id]).toEqual(["paused", false]);
  });

  it("H-3, R-2: the server of old settings is left at once, also when the store can't take the plan in", async () => {
    const gateway = await parties.gateway();
    const store = new FailingStore(createMemoryStore());
    const wallClock = new FakeClock(Date.now());
    const { host, published } = await parties.host(gateway, [], { wallClock }, store);
    const { registrations } = host.connectors;
    const { settings } = await registrations.create(serverAt(gateway, "docs"));
    await registrations.setState("docs", "active");
    await becomes(host, { docs: "ready" });
    store.failAt(1, { forGood: true });
    await registrations.replaceSettings("docs", { ...settings, endpoint: settings.endpoint.replace("docs", "other") });
    expect(kindsOf(published)).toEqual(["published docs", "withdrawn docs"]);
    store.mend();
    await wallClock.advance(60_000);
    await becomes(host, { docs: "ready" });
    expect(gateway.calls.at(-1)?.connectorKey).toBe("other");
  });

  it("H-3: registrations are files, one that can't be read is an issue, and the configuration's own are not changed here", async () => {
    const gateway = await parties.gateway();
    const stateDirectory = await parties.folder();
    const options = {
      baseUrl: gateway.url,
      releases: [],
      registrations: [serverAt(gateway, "fixed")],
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "test", version: "1.0.0" },
      hintsUrl: false,
      stateDirectory,
      controlSocket: false,
      agentSocket: false,
    } as const;
    const first = await openConnectorHost(options);
    parties.opened.push(first);
    await first.connectors.registrations.create(serverAt(gateway, "docs"));
    await first.connectors.registrations.setState("docs", "active");
    const refused = first.connectors.registrations.setState("fixed", "paused");
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", details: { argument: "slug" } });
    await first.close();

    await writeFile(join(stateDirectory, "registrations", "odd.json"), "{");
    const second = await openConnectorHost(options);
    parties.opened.push(second);
    expect(second.connectors.registrations.issues).toMatchObject([{ file: "odd.json" }]);
    await becomes(second, { docs: "ready", fixed: "ready" });
    await second.connectors.setEnabled("fixed", false);
    expect(await statesOf(second)).toEqual({ docs: "ready", fixed: "switched_off" });
  });
});
