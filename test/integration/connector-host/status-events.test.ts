import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { ConnectorHost, ConnectorStatus, StatusChange } from "../../../src/connector-host/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { HeldStore } from "../../support/held-store.js";
import type { ScriptedGateway } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

/** A program that dies when its tool is called. */
const MORTAL = {
  key: "mortal",
  displayName: "Mortal",
  command: process.execPath,
  args: [
    fileURLToPath(new URL("../../../build/test/programs/scripted-stdio-server.js", import.meta.url)),
    JSON.stringify({ pages: [{ tools: ["die", "echo"].map((name) => ({ name, inputSchema: { type: "object" } })) }] }),
  ],
};

function serverAt({ url }: ScriptedGateway, slug: string): object {
  const settings = { endpoint: `${url}/v1/connectors/${slug}/mcp`, protocol: "modern" };
  return { slug, displayName: slug, settings };
}

/** What is told of a host from now on, `key reason`, and whatever a test adds in between. */
function toldOf(host: ConnectorHost): { readonly story: string[]; readonly changes: StatusChange[] } {
  const story: string[] = [];
  const changes: StatusChange[] = [];
  host.onStatus((change) => {
    changes.push(change);
    const { connectorKey, state, reason } = change.status;
    story.push(`${connectorKey} ${reason ?? state}`);
  });
  return { story, changes };
}

/** What makes a status another one. */
function whatItIs({ state, reason, nextAttemptAt }: ConnectorStatus): string {
  return [state, reason, nextAttemptAt].join(" ");
}

/** A host whose store can be held, with what it tells. Nothing that a test sees while it is held was read. */
async function heldParty(keys: readonly string[], device: (gateway: ScriptedGateway) => object = () => ({})) {
  const gateway = await parties.gateway({ a: 1, b: 1 });
  const store = new HeldStore(createMemoryStore());
  const { host } = await parties.host(gateway, keys, device(gateway), store);
  // Before the host is closed, which waits for what runs.
  parties.opened.push({ close: () => store.release() });
  return { gateway, store, host, ...toldOf(host) };
}

describe("H-36: a status is told before the failure that follows from it", () => {
  it.each([
    ["-33001", -33_001, "authorization_required"],
    ["-33002", -33_002, "reauthorization_required"],
  ])("H-36, P-6: of a call that its gateway refuses with %s", async (_what, code, reason) => {
    const { gateway, store, host, story, changes } = await heldParty(["a", "b"]);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready" });
    const agent = agentOf(host);
    await agent.call("a_echo");
    await expect.poll(() => story).toEqual(expect.arrayContaining(["a ready", "b ready"]));
    gateway.script("a", (call) => {
      store.hold();
      call.error(code, 428);
    });
    story.length = 0;
    const { error } = await agent.call("a_echo");
    expect(error).toMatchObject({ code });
    expect(story).toEqual([`a ${reason}`]);
    expect(changes.at(-1)).toMatchObject({
      status: { state: "authorization_required", nextAttemptAt: undefined },
      previous: { state: "ready" },
    });
    // What was written afterwards says the same, and is not told again.
    gateway.snapshotStatus = 503;
    store.release();
    await becomes(host, { a: reason, b: "ready" });
    expect(story).toEqual([`a ${reason}`]);
  });

  it("H-36, R-4: of a call during which its program dies", async () => {
    const { store, host, story } = await heldParty([], () => ({ stdio: [MORTAL] }));
    await becomes(host, { mortal: "ready" });
    await expect.poll(() => story.at(-1)).toBe("mortal ready");
    story.length = 0;
    const agent = agentOf(host);
    await agent.list();
    store.hold();
    const { error } = await agent.call("mortal_die");
    expect(error).toBeDefined();
    expect(story).toEqual(["mortal process_exited"]);
    store.release();
    // When it is tried again is another change, if it is read in time: a call has it tried now.
    expect((await agent.call("mortal_echo")).result).toBeDefined();
    await expect.poll(() => story.at(-1), { timeout: 5_000, interval: 10 }).toBe("mortal ready");
    expect([...new Set(story)]).toEqual(["mortal process_exited", "mortal ready"]);
  });

  it("H-36, H-13: of calls whose route is withdrawn: switched off, refused by its server, signed out", async () => {
    const { gateway, store, host, story } = await heldParty(["a", "b", "c"], (at) => ({
      registrations: [serverAt(at, "docs")],
    }));
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready", c: "authorization_required", docs: "ready" });
    const all = ["a ready", "b ready", "c authorization_required", "docs ready"];
    await expect.poll(() => story).toEqual(expect.arrayContaining(all));
    const calls = ["a", "b", "docs"].map((key) => holding(gateway, key, "tools/call"));
    const agent = agentOf(host);
    const call = async (name: string): Promise<void> => {
      const { error } = await agent.call(name);
      const { delivery }: { delivery?: unknown } = Object(error?.data?.["sh.tutti/delivery"]);
      story.push(`${name}: ${String(delivery)}`);
    };
    const ending = ["a_echo", "b_echo", "docs_echo"].map(call);
    for (const held of calls) await arrived(held);
    story.length = 0;
    store.hold();
    const off = host.connectors.setEnabled("a", false);
    await ending[0];
    const [, , ofDocs] = calls;
    ofDocs?.[0]?.response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
    await ending[2];
    host.signOut();
    await ending[1];
    expect(story).toEqual([
      "a switched_off",
      "a_echo: unknown",
      "docs authorization_required",
      "docs_echo: answered",
      "b signed_out",
      "c signed_out",
      "b_echo: unknown",
    ]);
    store.release();
    await off;
  });
});

describe("H-36: what is told adds up to the status", () => {
  it("H-36: after a login, demands, revocations, switches, gates, registrations, lost servers and a logout", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const lines: unknown[] = [];
    const { host } = await parties.host(gateway, ["a", "b"], {
      registrations: [serverAt(gateway, "docs")],
      stdio: [MORTAL],
      logger: { debug() {}, warn() {}, error() {}, info: (_message, fields) => lines.push(fields["line"]) },
    });
    const present = new Map((await host.status()).map((status) => [status.connectorKey, whatItIs(status)]));
    const told: number[] = [];
    const ofA: string[] = [];
    host.onStatus(({ seq, status, previous }) => {
      const { connectorKey } = status;
      // Each continues what was told before it, and says something else.
      told.push(seq);
      if (connectorKey === "a") ofA.push(status.state);
      if (previous !== undefined) expect(whatItIs(previous)).toBe(present.get(connectorKey));
      expect(whatItIs(status)).not.toBe(present.get(connectorKey));
      if (status.state === "not_installed") present.delete(connectorKey);
      else present.set(connectorKey, whatItIs(status));
    });
    host.signIn("ada");
    const addsUp = async (states: Record<string, string>): Promise<void> => {
      await becomes(host, states);
      const level = async () => new Map((await host.status()).map((each) => [each.connectorKey, whatItIs(each)]));
      await expect.poll(level, { timeout: 5_000, interval: 10 }).toEqual(present);
    };
    const ofDevice = { docs: "ready", mortal: "ready" };
    await addsUp({ a: "ready", b: "authorization_required", ...ofDevice });
    gateway.connect(2, { a: 2, b: 2 });
    host.refresh();
    await addsUp({ a: "ready", b: "ready", ...ofDevice });
    gateway.connect(3, { b: 2 });
    host.refresh();
    await addsUp({ a: "authorization_required", b: "ready", ...ofDevice });
    // Nothing in between: why a route went is known with its end.
    expect(ofA.slice(-2)).toEqual(["ready", "authorization_required"]);
    await host.gates.close("device");
    await addsUp({ a: "authorization_required", b: "ready", docs: "starting", mortal: "starting" });
    host.gates.open("device");
    await host.connectors.setEnabled("b", false);
    await addsUp({ a: "authorization_required", b: "switched_off", ...ofDevice });
    await host.connectors.setEnabled("b", true);
    const { registrations } = host.connectors;
    await registrations.create(serverAt(gateway, "more"));
    await addsUp({ a: "authorization_required", b: "ready", ...ofDevice, more: "paused" });
    await registrations.setState("more", "active");
    await agentOf(host).list();
    await agentOf(host).call("mortal_die");
    await agentOf(host).call("mortal_echo");
    await addsUp({ a: "authorization_required", b: "ready", ...ofDevice, more: "ready" });
    await registrations.remove("more");
    await addsUp({ a: "authorization_required", b: "ready", ...ofDevice });
    gateway.snapshotStatus = 401;
    host.refresh();
    host.signOut();
    await addsUp({ a: "signed_out", b: "signed_out", ...ofDevice });
    await host.connectors.setEnabled("a", false);
    await addsUp({ a: "switched_off", b: "signed_out", ...ofDevice });
    expect(told).toEqual(told.map((_, index) => (told[0] ?? 0) + index));
    // A line for each, by the one renderer.
    const ofMore = lines.filter((line) => typeof line === "string" && line.startsWith("more: "));
    expect([ofMore[0], ofMore.at(-1)]).toEqual([
      expect.stringMatching(/^more: disabled \(paused\)/),
      "more: not_installed",
    ]);
    expect(lines.filter((line) => line !== undefined)).toHaveLength(told.at(-1) ?? 0);
  });
});
