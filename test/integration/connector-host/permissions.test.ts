import { afterEach, describe, expect, it } from "vitest";
import { createRegistrationMemory } from "../../../src/connector-host/device/index.js";
import type { ConnectorHost, ReleaseCapability, ToolPermission } from "../../../src/connector-host/index.js";
import { Gate } from "../../../src/testing/index.js";
import { createMemoryStore, openSqliteStore } from "../../../src/store/index.js";
import { FailingStore } from "../../support/failing-store.js";
import { releaseOf } from "../../support/releases.js";
import type { ConnectorCall, ScriptedGateway } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, HostParties, kindsOf } from "./host-parties.js";
import { legacyAgent, listeningAgent, type Offer, offering, refusal, timesAsked } from "./permission-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const READY = { a: "ready" };
const OFF = refusal("not_permitted", { connectorKey: "a" });
const ASK = refusal("approval_required", { connectorKey: "a" });
const TOOLS = { tools: { drop: {}, read: {}, write: {} } };

/** The definition of a server over HTTP at this gateway. */
function serverAt({ url }: ScriptedGateway, rules: object = {}, path = "a"): object {
  const endpoint = `${url}/v1/connectors/${path}/mcp`;
  return { slug: "a", displayName: "A", settings: { endpoint, protocol: "modern" }, ...rules };
}

/** A host with one release, whose connector has these tools, and an account that is signed in. */
async function released(options: Parameters<HostParties["host"]>[2] = {}, offer: Offer = TOOLS) {
  const gateway = await parties.gateway({ a: 1 });
  offering(gateway, "a", offer);
  const party = await parties.host(gateway, ["a"], options);
  party.host.signIn("ada");
  await becomes(party.host, READY);
  return { gateway, ...party, agent: agentOf(party.host) };
}

describe("H-31: permissions of tools", () => {
  it("H-31, H-21: off is neither listed nor called, ask is listed and not called, in both eras", async () => {
    const gateway = await parties.gateway();
    offering(gateway, "a", TOOLS);
    const permissions = { drop: "off", read: "allow", write: "ask" };
    const { host } = await parties.host(gateway, [], { registrations: [serverAt(gateway, { permissions })] });
    await becomes(host, READY);
    const modern = agentOf(host, "modern");
    const legacy = legacyAgent(host, "legacy");
    expect((await modern.list()).names).toEqual(["a_read", "a_write"]);
    expect(await legacy.list()).toEqual(["a_read", "a_write"]);
    for (const agent of [modern, legacy]) {
      expect((await agent.call("a_read")).result).toBeDefined();
      expect((await agent.call("a_drop")).error).toMatchObject({ code: -32602, data: OFF });
      expect((await agent.call("a_write")).error).toMatchObject({ code: -32603, data: ASK });
    }
    expect(timesAsked(gateway, "a", "tools/call")).toBe(2);
  });

  it("H-31, H-3: new tools of a registration are off, of a release allowed, or what the option says", async () => {
    const { gateway, host, agent } = await released();
    expect((await agent.list()).names).toEqual(["a_drop", "a_read", "a_write"]);
    const { registrations } = host.connectors;
    await registrations.create({ ...serverAt(gateway), slug: "docs" });
    await registrations.setState("docs", "active");
    await becomes(host, { ...READY, docs: "ready" });
    expect((await agentOf(host).list()).names).toEqual(["a_drop", "a_read", "a_write"]);
    expect((await agentOf(host).call("docs_read")).error?.data).toEqual(
      refusal("not_permitted", { connectorKey: "docs" }),
    );
    expect(host.connectors.permissions("docs")).toEqual({ newTools: "off", permissions: {} });
    const asking = await released({ newReleaseTools: "ask" });
    expect((await asking.agent.call("a_read")).error?.data).toEqual(ASK);
    await expect(released({ newReleaseTools: Object("yes") })).rejects.toMatchObject({ code: "invalid_options" });
  });

  it("H-31: what a server says of its tools changes no permission", async () => {
    const kind = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    const offer: Offer = { tools: { drop: { annotations: kind }, read: {}, write: { annotations: kind } } };
    const { host, agent } = await released({ contracts: "reread" }, offer);
    await host.connectors.setPermission("a", "drop", "off");
    await host.connectors.setPermission("a", "write", "ask");
    const { connectors } = host;
    const decided = { newTools: "allow", permissions: { drop: "off", write: "ask" } };
    const judge = async () => [
      (await agent.list()).names,
      (await agent.call("a_drop")).error?.data,
      (await agent.call("a_write")).error?.data,
      (await agent.call("a_read")).result !== undefined,
      connectors.permissions("a"),
    ];
    const expected = [["a_read", "a_write"], OFF, ASK, true, decided];
    expect(await judge()).toEqual(expected);
    offer.tools = {
      drop: {},
      read: { annotations: { ...kind, readOnlyHint: false, destructiveHint: true } },
      write: {},
    };
    expect(await judge()).toEqual(expected);
  });

  it("H-21: what is refused asks no server, as far as the name tells; the others are asked before it is refused", async () => {
    const { gateway, host, agent } = await released({}, { tools: { "look.up": {}, read: {} } });
    const names = (await agent.list()).names;
    const marked = names.find((name) => name !== "a_read") ?? "";
    expect(marked).toMatch(/^a_look_up-x/);
    await host.connectors.setPermission("a", "read", "off");
    await host.connectors.setPermission("a", "look.up", "off");
    const before = timesAsked(gateway, "a");
    expect((await agent.call("a_read")).error?.data).toEqual(OFF);
    expect((await agent.call(marked)).error?.data).toEqual(OFF);
    await host.connectors.setNewTools("a", "off");
    expect((await agent.list()).names).toEqual([]);
    // It was never listed, and can't be known by its name.
    expect((await agent.call("a_other-x0123456789ab")).error?.data).toEqual(OFF);
    expect(timesAsked(gateway, "a")).toBe(before);
    await host.connectors.setNewTools("a", "ask");
    const { error } = await agent.call("a_other-x0123456789ab");
    expect(error?.data).toEqual(refusal("unknown_tool", { tool: "a_other-x0123456789ab" }));
    expect(timesAsked(gateway, "a")).toBe(before + 1);
  });

  it("H-31: globs hold for tools, prompts and resources alike, in lists and in requests", async () => {
    const capabilities: readonly ReleaseCapability[] = ["prompts", "resources", "tools"];
    const access = { allow: ["a/*", "A/*"], deny: ["*SECRET*"] };
    const offer: Offer = {
      tools: { read: {}, read_secret: {} },
      prompts: ["ask", "ask_Secret"],
      resources: ["file:///open", "file:///secret/key"],
    };
    const { gateway, agent } = await released({ access, capabilities: { a: capabilities } }, offer);
    const listed = async (method: string, member: string): Promise<unknown> => {
      const { text } = await agent.send(method);
      const { result }: { result: Record<string, { name: string }[]> } = JSON.parse(text);
      return result[member]?.map(({ name }) => name);
    };
    expect(await listed("tools/list", "tools")).toEqual(["a_read"]);
    expect(await listed("prompts/list", "prompts")).toEqual(["a_ask"]);
    expect(await listed("resources/list", "resources")).toEqual(["file:///open"]);
    const completion = { ref: { type: "ref/prompt", name: "a_ask_Secret" }, argument: { name: "x", value: "" } };
    const asked = [
      await agent.send("tools/call", { name: "a_read_secret" }),
      await agent.send("prompts/get", { name: "a_ask_Secret" }),
      await agent.send("resources/read", { uri: "file:///secret/key" }),
      await agent.send("completion/complete", completion),
    ];
    for (const { text } of asked) {
      const { error }: { error?: { data?: unknown } } = JSON.parse(text);
      expect(error?.data).toEqual(OFF);
    }
    for (const method of ["tools/call", "prompts/get", "resources/read", "completion/complete"]) {
      expect(timesAsked(gateway, "a", method)).toBe(0);
    }
    expect(JSON.parse((await agent.send("prompts/get", { name: "a_ask" })).text).result).toBeDefined();
    await expect(released({ access: { deny: [""] } })).rejects.toMatchObject({ code: "invalid_options" });
  });
});

describe("H-31: decisions", () => {
  it("H-31, H-25: reach lists and calls without a new route, and agents whose list changes are told", async () => {
    const { host, published, agent } = await released();
    const listening = await listeningAgent(host, "listening");
    await listening.names();
    await host.connectors.setPermission("a", "drop", "off");
    expect(await listening.next()).toEqual(["a_read", "a_write"]);
    // One that has no list to compare hears of what changes lists, and of nothing else.
    const fresh = await listeningAgent(host, "fresh");
    // It takes no tool into lists, or out of them.
    await host.connectors.setPermission("a", "write", "ask");
    for (let calls = 0; calls < 10; calls += 1) expect((await agent.call("a_write")).error?.data).toEqual(ASK);
    expect(fresh.told()).toBe(0);
    await host.connectors.setNewTools("a", "off");
    expect(await listening.next()).toEqual(["a_write"]);
    await expect.poll(fresh.told, { interval: 5 }).toBe(1);
    await host.connectors.setPermission("a", "drop", undefined);
    await host.connectors.setNewTools("a", "allow");
    expect(await listening.next()).toEqual(["a_drop", "a_read", "a_write"]);
    expect((await agent.call("a_drop")).result).toBeDefined();
    expect(kindsOf(published)).toEqual(["published a"]);
  });

  it.each<[string, string, ToolPermission]>([
    ["its own tool", "read", "off"],
    ["another tool of its connector", "write", "ask"],
  ])("H-14: a call that was allowed is not sent after a change of %s", async (_what, tool, permission) => {
    let held: Gate | undefined;
    const waiting: string[] = [];
    const authorize = async ({ accountId }: { readonly accountId: string }) => {
      if (held !== undefined) {
        waiting.push(accountId);
        await held.opened;
      }
      return {};
    };
    const { gateway, host, agent } = await released({ accounts: { authorize }, contracts: "last_list" });
    await agent.list();
    held = new Gate();
    const answer = agent.call("a_read");
    await arrived(waiting);
    const changing = host.connectors.setPermission("a", tool, permission);
    held.open();
    const error = (await answer).error;
    expect(error?.data).toEqual(refusal("not_admitted", { reason: "permission_changed" }));
    await changing;
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
  });

  it("H-14: a call that was sent finishes", async () => {
    const held: ConnectorCall[] = [];
    const { host, published, agent } = await released({}, { ...TOOLS, held });
    const answer = agent.call("a_read");
    await arrived(held);
    await host.connectors.setPermission("a", "read", "off");
    expect((await agent.call("a_read")).error?.data).toEqual(OFF);
    for (const call of held) call.result('{"resultType":"complete","content":[],"late":true}');
    expect((await answer).result).toMatchObject({ late: true });
    expect(kindsOf(published)).toEqual(["published a"]);
  });

  it("H-31: hold after a restart, and go with a connector that is uninstalled", async () => {
    const directory = await parties.folder();
    const gateway = await parties.gateway({ a: 1 });
    offering(gateway, "a", TOOLS);
    const start = async (): Promise<ConnectorHost> => {
      const { host } = await parties.host(gateway, ["a"], {}, await openSqliteStore({ directory }));
      host.signIn("ada");
      await becomes(host, READY);
      return host;
    };
    const decided = { newTools: "ask", permissions: { drop: "off", read: "allow" } };
    const first = await start();
    await first.connectors.setNewTools("a", "ask");
    await first.connectors.setPermission("a", "drop", "off");
    await first.connectors.setPermission("a", "read", "allow");
    await first.close();

    const second = await start();
    expect(second.connectors.permissions("a")).toEqual(decided);
    const agent = agentOf(second);
    expect((await agent.list()).names).toEqual(["a_read", "a_write"]);
    expect((await agent.call("a_write")).error?.data).toEqual(ASK);
    await second.connectors.uninstall("a");
    expect(() => second.connectors.permissions("a")).toThrow(expect.objectContaining({ code: "unknown_connector" }));
    await second.close();

    // The configuration still has it.
    const third = await start();
    expect(third.connectors.permissions("a")).toEqual({ newTools: "allow", permissions: {} });
  });

  it("H-31: what was decided about another connector of its key is none of an installed one's", async () => {
    const gateway = await parties.gateway();
    const store = createMemoryStore();
    const text = JSON.stringify({ formatVersion: 1, subject: "release", newTools: "ask", permissions: {} });
    await store.write((tx) => tx.documents.put({ kind: "rules", key: "a", text, updatedAt: 1 }));
    const { host } = await parties.host(gateway, [], {}, store);
    await host.connectors.install(releaseOf("a"));
    expect(host.connectors.permissions("a")).toEqual({ newTools: "allow", permissions: {} });
    expect(await store.read((tx) => tx.documents.list("rules"))).toEqual([]);
  });

  it("H-31, H-3: those of a registration are in its file, die with it, and ask at another origin", async () => {
    const gateway = await parties.gateway();
    const elsewhere = await parties.gateway();
    const registrationStore = createRegistrationMemory();
    for (const each of [gateway, elsewhere]) offering(each, "a", TOOLS);
    const { host, published } = await parties.host(gateway, [], { registrationStore });
    const { registrations } = host.connectors;
    await registrations.create(serverAt(gateway));
    await registrations.setState("a", "active");
    await becomes(host, READY);
    await Promise.all([
      host.connectors.setPermission("a", "read", "allow"),
      host.connectors.setPermission("a", "write", "ask"),
    ]);
    const decided = { newTools: "off", permissions: { read: "allow", write: "ask" } };
    expect((await registrationStore.load()).registrations).toMatchObject([decided]);
    expect((await agentOf(host).list()).names).toEqual(["a_read", "a_write"]);
    expect(kindsOf(published)).toEqual(["published a"]);
    await registrations.replaceSettings("a", { endpoint: `${elsewhere.url}/v1/connectors/a/mcp`, protocol: "modern" });
    await becomes(host, READY);
    expect((await agentOf(host).call("a_read")).error?.data).toEqual(ASK);
    expect(timesAsked(elsewhere, "a", "tools/call")).toBe(0);
    await registrations.remove("a");
    await registrations.create(serverAt(gateway));
    expect(host.connectors.permissions("a")).toEqual({ newTools: "off", permissions: {} });
  });

  it("H-31: what permits less holds at once though it can't be kept, what permits more does not", async () => {
    const gateway = await parties.gateway({ a: 1 });
    offering(gateway, "a", TOOLS);
    const inner = createMemoryStore();
    const store = new FailingStore(inner);
    const { host } = await parties.host(gateway, ["a"], {}, store);
    host.signIn("ada");
    await becomes(host, READY);
    const agent = agentOf(host);
    const { connectors } = host;
    await connectors.setPermission("a", "write", "ask");
    // Everything was done but for the commit.
    store.failAt(3, { forGood: true });
    await expect(connectors.setPermission("a", "write", "allow")).rejects.toThrow("The store fails");
    expect(connectors.permissions("a")).toEqual({ newTools: "allow", permissions: { write: "ask" } });
    const narrower = connectors.setPermission("a", "read", "off");
    expect(connectors.permissions("a")).toEqual({ newTools: "allow", permissions: { read: "off", write: "ask" } });
    await expect(narrower).rejects.toThrow("The store fails");
    expect((await agent.call("a_read")).error?.data).toEqual(OFF);
    expect((await agent.call("a_write")).error?.data).toEqual(ASK);
    store.mend();
    await connectors.setPermission("a", "read", "allow");
    expect((await agent.call("a_read")).result).toBeDefined();
    const [row] = await inner.read((tx) => tx.documents.list("rules"));
    expect(JSON.parse(row?.text ?? "")).toEqual({
      formatVersion: 1,
      subject: "release",
      permissions: { read: "allow", write: "ask" },
    });
  });

  it("H-31: of a registration, too, what permits less holds at once though its file can't be written", async () => {
    const gateway = await parties.gateway();
    offering(gateway, "a", TOOLS);
    const files = createRegistrationMemory();
    let isFull = false;
    const registrationStore: typeof files = {
      ...files,
      put: async (registration) => {
        if (isFull) throw new Error("The disk is full.");
        await files.put(registration);
      },
    };
    const { host } = await parties.host(gateway, [], { registrationStore });
    const { connectors } = host;
    await connectors.registrations.create(serverAt(gateway));
    await connectors.setPermission("a", "read", "allow");
    isFull = true;
    await expect(connectors.setPermission("a", "read", "ask")).rejects.toThrow("The disk is full");
    await expect(connectors.setPermission("a", "write", "allow")).rejects.toThrow("The disk is full");
    expect(connectors.permissions("a")).toEqual({ newTools: "off", permissions: { read: "ask" } });
    expect((await files.load()).registrations).toMatchObject([{ permissions: { read: "allow" } }]);
    isFull = false;
    // What else is changed of it meanwhile undoes nothing.
    await connectors.registrations.setState("a", "active");
    await becomes(host, READY);
    expect((await agentOf(host).call("a_read")).error?.data).toEqual(ASK);
    await connectors.setPermission("a", "read", "allow");
    expect((await agentOf(host).call("a_read")).result).toBeDefined();
  });

  it("H-31: what can't be read allows nothing, and a decision about nothing is refused", async () => {
    const store = createMemoryStore();
    await store.write((tx) => tx.documents.put({ kind: "rules", key: "a", text: "{", updatedAt: 1 }));
    const gateway = await parties.gateway({ a: 1 });
    offering(gateway, "a", TOOLS);
    const { host } = await parties.host(gateway, ["a"], {}, store);
    host.signIn("ada");
    await becomes(host, READY);
    expect((await agentOf(host).list()).names).toEqual([]);
    const { connectors } = host;
    await connectors.setPermission("a", "read", "allow");
    expect((await agentOf(host).list()).names).toEqual(["a_read"]);
    await expect(connectors.setPermission("b", "read", "off")).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(connectors.setPermission("a", "", "off")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(connectors.setNewTools("a", Object("yes"))).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
