import { afterEach, describe, expect, it } from "vitest";
import { createLocalServer } from "../../../../src/connector-host/local-server/index.js";
import { RawAgent } from "../../../support/agent.js";
import {
  bindingOf,
  ChangingConnector,
  DirectoryParty,
  LISTS_CHANGED,
  OF_DEVICE,
  TOOLS_CHANGED,
  toolsText,
} from "../../../support/directory-party.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { Opened } from "../../../support/opened.js";
import { type ConnectorCall, working } from "../../../support/scripted-gateway.js";

const opened = new Opened();
afterEach(opened.close);

/** A directory over one connector of the device. */
async function device(clock = new FakeClock()) {
  const party = await DirectoryParty.start(opened, ["a"], { clock });
  party.traits.set("a", OF_DEVICE);
  return { party, clock };
}

/** The same, and its catalog is known. */
async function known(clock = new FakeClock()) {
  const one = await device(clock);
  await one.party.listed();
  return one;
}

const activated = (name: string, more = "") => ({
  tools: new Map([
    [
      name,
      {
        tool: { name, inputSchema: { type: "object" } },
        contract: { parameters: [] },
        definition: Buffer.from(`{"name":"${name}","inputSchema":{"type":"object"}${more}}`),
      },
    ],
  ]),
});

describe("catalogs", () => {
  it("H-30: what an activation listed is listed without asking, whole, and called without asking", async () => {
    const { party } = await device();
    await party.publish("a", activated("x", ',"z":18446744073709551616'));
    const { tools } = await party.directory.list(party.binding, new AbortController().signal);
    expect(tools.map(({ definition }) => definition)).toEqual([
      '{"name":"a_x","inputSchema":{"type":"object"},"z":18446744073709551616}',
    ]);
    await party.call("a_x");
    expect(party.count("tools/list")).toBe(0);
  });

  it("H-30: an old one is read anew behind the answer; a failure leaves it, and is no answer", async () => {
    const { party, clock } = await known();
    party.gateway.script("a", (call) => call.result(toolsText("new")));
    expect((await party.list()).names).toEqual(["a_echo"]);
    expect(party.count("tools/list")).toBe(1);
    await clock.advance(60_000);
    expect((await party.list()).names).toEqual(["a_echo"]);
    await expect.poll(async () => (await party.list()).names, { interval: 5 }).toEqual(["a_new"]);
    expect(party.count("tools/list")).toBe(2);
    party.gateway.script("a", (call) => call.error(-32000));
    await clock.advance(60_000);
    await party.list();
    await expect.poll(() => party.count("tools/list"), { interval: 5 }).toBe(3);
    expect(await party.list()).toMatchObject({ names: ["a_new"], omitted: {} });
  });

  it("H-30: of a connector that is down it is listed, marked; of one that should not run, and with other settings, it is not", async () => {
    const { party } = await known();
    await party.withdraw("a");
    expect(await party.list()).toEqual({ names: [], omitted: {}, stale: {} });
    party.missing = [{ connectorKey: "a", state: "offline", nextAttemptAt: undefined }];
    expect(await party.list()).toEqual({ names: ["a_echo"], omitted: {}, stale: { a: "offline" } });
    party.traits.set("a", { ...OF_DEVICE, settingsDigest: "another" });
    expect(await party.list()).toEqual({ names: [], omitted: { a: "offline" }, stale: {} });
  });

  it("H-30: agents find the mark in the list's _meta, and the definitions as they were", async () => {
    const { party } = await known();
    await party.withdraw("a");
    party.missing = [{ connectorKey: "a", state: "offline", nextAttemptAt: undefined }];
    const server = await createLocalServer({ directory: party.directory });
    opened.push(server);
    const agent = new RawAgent(server.bind({ workspaceId: "w", agentSessionId: "s" }));
    const { text } = await agent.send("tools/list");
    expect(text).toContain('"tools":[{"name":"a_echo","inputSchema":{"type":"object"}}]');
    expect(text).toContain('"sh.tutti/stale":[{"connectorKey":"a","reason":"offline"}]');
  });

  it("H-30 MB-146: it goes with the step in which a route of other settings is published", async () => {
    const { party } = await known();
    await party.publish("a", { releaseDigest: "another" });
    await party.withdraw("a");
    party.missing = [{ connectorKey: "a", state: "offline", nextAttemptAt: undefined }];
    expect(await party.list()).toEqual({ names: [], omitted: { a: "offline" }, stale: {} });
  });

  it("H-30: it goes when it is invalidated", async () => {
    const { party } = await known();
    await party.withdraw("a");
    party.missing = [{ connectorKey: "a", state: "failed", nextAttemptAt: undefined }];
    party.directory.invalidate("a");
    expect((await party.list()).omitted).toEqual({ a: "failed" });
  });

  it("H-30 MB-156: one whose server says that it changed is read anew, whoever listens, and not waited for", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    party.traits.set("a", OF_DEVICE);
    const connector = new ChangingConnector(party.gateway, "a", "x");
    await party.publish("a", { discovered: LISTS_CHANGED });
    await party.list();
    // Its stream is open for another agent, and for something else.
    party.listen(bindingOf("other"), "prompts");
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    await expect.poll(() => party.list().then(() => party.count("tools/list")), { interval: 5 }).toBe(2);
    connector.names = ["y"];
    connector.tell();
    await expect.poll(async () => (await party.list()).names, { interval: 5 }).toEqual(["a_y"]);
    await party.list();
    expect(party.count("tools/list")).toBe(3);
  });

  it("H-25 H-30: of a changed list agents are told when it was read, and not before; a list asks nobody", async () => {
    const { party, clock } = await known();
    const connector = new ChangingConnector(party.gateway, "a", "x");
    await party.publish("a", { ...activated("x"), discovered: LISTS_CHANGED });
    const [listed, never] = [bindingOf("listed"), bindingOf("never-listed")];
    expect((await party.list(listed)).names).toEqual(["a_x"]);
    const agents = [party.listen(listed), party.listen(never)];
    await clock.advance(20);
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    // What it may have told before is read, and is nothing.
    const asked = party.count("tools/list");
    await expect.poll(() => clock.advance(20).then(() => party.count("tools/list")), { interval: 5 }).toBe(asked + 1);
    const told = () => agents.map((agent) => agent.told.length);
    const held: ConnectorCall[] = [];
    connector.lists = (call) => held.push(call);
    connector.tell();
    await expect.poll(() => clock.advance(20).then(() => held.length), { interval: 5 }).toBe(1);
    await clock.advance(1_000);
    expect([told(), (await party.list(listed)).names]).toEqual([[0, 0], ["a_x"]]);
    await party.call("a_x");
    // A storm while it is read: it is read once more.
    for (let index = 0; index < 100; index += 1) connector.tell();
    held[0]?.result(toolsText("x", "y"));
    await expect.poll(() => clock.advance(20).then(told), { interval: 5 }).toEqual([1, 1]);
    expect((await party.list(never)).names).toEqual(["a_x", "a_y"]);
    await expect.poll(() => held.length, { interval: 5 }).toBe(2);
    held[1]?.result(toolsText("x", "y"));
    await expect.poll(() => party.list(listed).then(({ names }) => names), { interval: 5 }).toEqual(["a_x", "a_y"]);
    await clock.advance(20_000);
    expect([told(), held.length]).toEqual([[1, 1], 2]);
  });

  it("H-25 H-30: what changed while its stream was cut is read when it is open again, and told", async () => {
    const { party, clock } = await known();
    const connector = new ChangingConnector(party.gateway, "a", "x");
    await party.publish("a", { ...activated("x"), discovered: LISTS_CHANGED });
    await party.list();
    const { told } = party.listen();
    await clock.advance(20);
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    await clock.advance(1_000);
    expect(told).toEqual([]);
    connector.cut();
    connector.names = ["y"];
    await expect.poll(() => clock.advance(500).then(() => told), { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect([(await party.list()).names, connector.opened]).toEqual([["a_y"], 2]);
  });

  it("H-30: a changed list that can't be read leaves the catalog and tells nobody, until it can", async () => {
    const { party, clock } = await known();
    const connector = new ChangingConnector(party.gateway, "a", "x");
    await party.publish("a", { ...activated("x"), discovered: LISTS_CHANGED });
    await party.list();
    const { told } = party.listen();
    await clock.advance(20);
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    await clock.advance(1_000);
    const asked = party.count("tools/list");
    connector.lists = (call) => call.error(-32000);
    connector.tell();
    await expect.poll(() => clock.advance(20).then(() => party.count("tools/list")), { interval: 5 }).toBe(asked + 1);
    // Whoever lists does not have it asked again before the pause is over.
    for (let index = 0; index < 20; index += 1) expect((await party.list()).names).toEqual(["a_x"]);
    expect([told, party.count("tools/list")]).toEqual([[], asked + 1]);
    connector.lists = undefined;
    connector.names = ["y"];
    await expect.poll(() => clock.advance(500).then(() => told), { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect((await party.list()).names).toEqual(["a_y"]);
  });

  it("H-30: of a connector whose activation listed nothing agents are told when its server was asked", async () => {
    const { party, clock } = await known();
    await party.list();
    const { told } = party.listen();
    await clock.advance(100);
    const held: ConnectorCall[] = [];
    party.gateway.script("a", (call) => held.push(call));
    // Other settings, and no tools known of them: what was listed is gone at once.
    await party.publish("a", { releaseDigest: "another" });
    await expect.poll(() => clock.advance(20).then(() => told.length), { interval: 5 }).toBe(1);
    expect(await party.list()).toMatchObject({ names: [], omitted: { a: "no_catalog" } });
    await expect.poll(() => held.length, { interval: 5 }).toBe(1);
    await clock.advance(5_000);
    expect(told).toHaveLength(1);
    held[0]?.result(toolsText("z"));
    await expect.poll(() => clock.advance(20).then(() => told.length), { interval: 5 }).toBe(2);
    expect((await party.list()).names).toEqual(["a_z"]);
  });

  it("H-34, H-25: of a changed list those are told whose own list differs; one that its descriptions don't fit any more is not there raw", async () => {
    const { party, clock } = await known();
    const definition = (description: string, property: string) =>
      `{"resultType":"complete","tools":[{"name":"x","description":"${description}","inputSchema":{"type":"object","properties":{"${property}":{}}}}]}`;
    let text = definition("first", "p");
    party.gateway.script("a", (call) => (call.method === "tools/list" ? call.result(text) : working(call)));
    const [plain, own] = [bindingOf("plain"), bindingOf("own")];
    const table = { x: { description: "said", properties: { p: "said" } } };
    party.described = (_key, binding) => (binding === own ? [table] : []);
    const relist = async (): Promise<void> => {
      const asked = party.count("tools/list");
      party.directory.outdate("a");
      await expect.poll(() => clock.advance(20).then(() => party.count("tools/list")), { interval: 5 }).toBe(asked + 1);
    };
    await relist();
    const listOf = async (binding: typeof own) =>
      (await party.directory.list(binding, new AbortController().signal)).tools.map((tool) => tool.definition);
    await expect.poll(() => listOf(plain), { interval: 5 }).toEqual([expect.stringContaining('"first"')]);
    const before = await listOf(own);
    const [ofPlain, ofOwn] = [party.listen(plain), party.listen(own)];
    await clock.advance(1_000);
    // The description that is other is not in the list of the one who has an own one.
    text = definition("second", "p");
    await relist();
    await expect.poll(() => clock.advance(20).then(() => ofPlain.told.length), { interval: 5 }).toBe(1);
    await listOf(plain);
    expect([await listOf(own), ofOwn.told]).toEqual([before, []]);
    text = definition("third", "q");
    await relist();
    await expect
      .poll(() => clock.advance(20).then(() => [ofPlain.told.length, ofOwn.told.length]), { interval: 5 })
      .toEqual([2, 1]);
    expect([await listOf(plain), await listOf(own)]).toEqual([[expect.stringContaining('"third"')], []]);
  });

  it("H-18: a call ends when what it woke has failed and is not tried again in time, and waits while it is being tried", async () => {
    const { party, clock } = await known();
    await party.withdraw("a");
    const now = clock.now();
    party.missing = [{ connectorKey: "a", state: "starting", nextAttemptAt: undefined }];
    let isOver = false;
    const failing = party
      .call("a_echo")
      .catch((error: unknown) => error)
      .finally(() => (isOver = true));
    await expect.poll(() => party.watching.size, { interval: 5 }).toBe(1);
    // It fails, and is tried again before the call's time is over; then it fails once more.
    party.becomes({ connectorKey: "a", state: "offline", since: now, nextAttemptAt: now + 2_000 });
    await clock.advance(100);
    party.becomes({ connectorKey: "a", state: "starting", nextAttemptAt: undefined });
    await clock.advance(100);
    expect(isOver).toBe(false);
    party.becomes({ connectorKey: "a", state: "offline", since: now, nextAttemptAt: now + 2_001 });
    expect(await failing).toMatchObject({
      code: "route_unavailable",
      delivery: "not_sent",
      details: { connectorKey: "a", state: "offline", since: now, nextAttemptAt: now + 2_001 },
    });
    expect([clock.now() - now, clock.pending, party.watching.size, party.woken]).toEqual([200, 0, 0, ["a"]]);
  });

  it("H-18: a call ends when its connector turns out to need a person, and when its next attempt was known to be later", async () => {
    const { party, clock } = await known();
    await party.withdraw("a");
    const now = clock.now();
    party.missing = [{ connectorKey: "a", state: "starting", nextAttemptAt: undefined }];
    const failing = party.call("a_echo").catch((error: unknown) => error);
    await expect.poll(() => party.watching.size, { interval: 5 }).toBe(1);
    party.becomes({ connectorKey: "a", state: "authorization_required", nextAttemptAt: undefined });
    const state = "authorization_required";
    expect(await failing).toMatchObject({ code: "route_unavailable", details: { state } });
    // Its server asked for a pause, which waking does not shorten.
    party.missing = [{ connectorKey: "a", state: "offline", nextAttemptAt: now + 60_000 }];
    const nextAttemptAt = now + 60_000;
    await expect(party.call("a_echo")).rejects.toMatchObject({
      code: "route_unavailable",
      delivery: "not_sent",
      details: { nextAttemptAt },
    });
    expect([clock.now() - now, party.woken.length]).toEqual([0, 2]);
  });

  it("H-30 H-18: a call that wakes its connector in vain says what that is at, since when, and when it is tried again", async () => {
    const { party, clock } = await known();
    await party.withdraw("a");
    party.missing = [{ connectorKey: "a", state: "offline", since: 0, nextAttemptAt: 60_000 }];
    const failing = party.call("a_echo").catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(await failing).toMatchObject({
      code: "route_unavailable",
      delivery: "not_sent",
      message: expect.stringMatching(/a is offline since 1970-01-01T00:00:00.000Z; .*1970-01-01T00:01:00.000Z/),
      details: { connectorKey: "a", state: "offline", since: 0, nextAttemptAt: 60_000 },
    });
    expect(party.woken).toEqual(["a"]);
  });

  it("H-4: a connector that is not opened for tools has none, in lists and in calls", async () => {
    const { party, clock } = await device();
    party.traits.set("a", { ...OF_DEVICE, capabilities: ["prompts"] });
    expect(await party.list()).toEqual({ names: [], omitted: {}, stale: {} });
    const { told } = party.listen();
    await party.publish("a", activated("x"));
    await clock.advance(100);
    expect(told).toEqual([]);
    await expect(party.call("a_echo")).rejects.toMatchObject({ code: "unknown_tool" });
  });

  it("H-30: one of which nothing is known is left out and named, and its server is asked while nobody waits", async () => {
    const { party } = await device();
    const held: ConnectorCall[] = [];
    party.gateway.script("a", (call) => held.push(call));
    expect(await party.list()).toEqual({ names: [], omitted: { a: "no_catalog" }, stale: {} });
    await expect(party.call("a_echo")).rejects.toMatchObject({
      code: "route_unavailable",
      delivery: "not_sent",
      details: { connectorKey: "a", state: "no_catalog" },
    });
    await expect.poll(() => held.map(({ method }) => method), { interval: 5 }).toEqual(["tools/list"]);
    party.gateway.script("a", working);
    held[0]?.result(toolsText("echo"));
    await party.listed();
    expect([(await party.list()).names, held.length]).toEqual([["a_echo"], 1]);
  });

  it("H-30, H-18: a tool that the catalog does not have is unknown at once, and the catalog of a server that is silent serves calls", async () => {
    const { party, clock } = await known();
    const held: ConnectorCall[] = [];
    party.gateway.script("a", (call) => (call.method === "tools/list" ? held.push(call) : working(call)));
    await clock.advance(60_000);
    await expect(party.call("a_other")).rejects.toMatchObject({ code: "unknown_tool" });
    await party.call("a_echo", '{"n":18446744073709551616}');
    expect(party.gateway.calls.at(-1)?.body).toContain('{"n":18446744073709551616}');
    expect(held.length).toBeLessThanOrEqual(1);
  });

  it("H-34, H-25: of other descriptions those are told whose own list differs, and nobody else", async () => {
    const { party, clock } = await known();
    const [plain, short] = [bindingOf("plain"), bindingOf("short")];
    for (const binding of [plain, short]) await party.list(binding);
    const [ofPlain, ofShort] = [party.listen(plain), party.listen(short)];
    await clock.advance(1_000);
    const table = { echo: { description: "said" } };
    party.described = (_key, binding) => (binding === short ? [table] : []);
    const asked = party.count("tools/list");
    party.directory.onPermissionChange("a");
    await clock.advance(1_000);
    await expect.poll(() => ofShort.told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect([ofPlain.told, party.count("tools/list") - asked]).toEqual([[], 0]);
    const { tools } = await party.directory.list(short, new AbortController().signal);
    expect(tools.map(({ definition }) => definition)).toEqual([
      '{"description":"said","name":"a_echo","inputSchema":{"type":"object"}}',
    ]);
    party.directory.onPermissionChange("a");
    await clock.advance(20_000);
    expect([ofShort.told.length, ofPlain.told.length]).toEqual([1, 0]);
  });
});
