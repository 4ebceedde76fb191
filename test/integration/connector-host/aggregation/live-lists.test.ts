import { afterEach, describe, expect, it } from "vitest";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { Opened } from "../../../support/opened.js";
import { type ConnectorCall, working } from "../../../support/scripted-gateway.js";
import { bindingOf, DirectoryParty, TOOLS_CHANGED, toolsText } from "../../../support/directory-party.js";

const opened = new Opened();
afterEach(opened.close);

/** Holds the lists of a connector, which works otherwise. */
function holdLists(party: DirectoryParty, key: string): ConnectorCall[] {
  const held: ConnectorCall[] = [];
  party.gateway.script(key, (call) => {
    if (call.method === "tools/list") held.push(call);
    else working(call);
  });
  return held;
}

describe("live lists", () => {
  it("H-24 MB-141 MB-143: of 50 with one dead, one silent and two slow ones, the list has those in time, and announces the late", async () => {
    const clock = new FakeClock();
    const good = Array.from({ length: 46 }, (_, index) => `good-${String(index)}`);
    const party = await DirectoryParty.start(opened, [...good, "dead", "silent", "slow", "slower"], {
      clock,
      listBudgetMs: 5_000,
    });
    party.gateway.script("dead", ({ response }) => response.destroy());
    party.gateway.script("silent", () => undefined);
    const [slow, slower] = [holdLists(party, "slow"), holdLists(party, "slower")];
    /** Waits until only so many are waited for. */
    const waitedFor = (count: number): Promise<void> =>
      expect.poll(() => clock.pending, { timeout: 10_000, interval: 5 }).toBe(count);
    const { told } = party.listen();
    await clock.advance(100);

    const first = party.list();
    await expect.poll(() => slow.length + slower.length, { timeout: 10_000, interval: 5 }).toBe(2);
    await waitedFor(3);
    await clock.advance(2_000);
    slow[0]?.result(toolsText("echo"));
    await waitedFor(2);
    await clock.advance(3_000);
    const inTime = [...good, "slow"].map((key) => `${key}_echo`).sort();
    expect(await first).toEqual({
      names: inTime,
      omitted: { dead: "connection_broken", silent: "timeout", slower: "timeout" },
      stale: {},
    });
    expect(party.omissions.toSorted()).toEqual(["dead connection_broken", "silent timeout", "slower timeout"]);

    // A six-second one: it is announced as soon as it is there, and the list that this causes has it without asking again.
    await clock.advance(1_000);
    expect(told).toEqual([]);
    slower[0]?.result(toolsText("echo"));
    await waitedFor(1);
    await clock.advance(100);
    expect(told).toEqual([TOOLS_CHANGED]);
    const all = [...inTime, "slower_echo"].sort();
    const second = party.list();
    await expect.poll(() => slow.length, { timeout: 10_000, interval: 5 }).toBe(2);
    slow[1]?.result(toolsText("echo"));
    await waitedFor(1);
    await clock.advance(5_000);
    expect((await second).names).toEqual(all);
    expect(slower).toHaveLength(1);

    // From then on it is asked like all others, and waited for as long as it needs.
    const third = party.list();
    await expect.poll(() => slow.length + slower.length, { timeout: 10_000, interval: 5 }).toBe(5);
    slow[2]?.result(toolsText("echo"));
    await waitedFor(2);
    await clock.advance(6_000);
    slower[1]?.result(toolsText("echo"));
    expect((await third).names).toEqual(all);
    expect(party.omissions.slice(3)).toEqual(["slower undefined"]);
    expect(told).toHaveLength(1);
  });

  it("H-24 MB-141: one whose walk ended without an answer costs later lists a second, until it answers", async () => {
    const clock = new FakeClock();
    const party = await DirectoryParty.start(opened, ["silent"], { clock, listBudgetMs: 5_000 });
    const endpoint = `${party.gateway.url}/v1/connectors/silent/mcp`;
    const clientInfo = { name: "test", version: "1" };
    // A walk of this one has its end after 300 milliseconds instead of 30 seconds.
    const client = new ModernStreamableHTTPClient({ endpoint, clientInfo, maxReadRetries: 0, idleTimeoutMs: 300 });
    await party.publish("silent", { client });
    const held = holdLists(party, "silent");
    await clock.advance(100);
    const budgetOf = async (end: (listing: Promise<unknown>) => Promise<void>): Promise<number> => {
      const count = held.length + 1;
      const listing = party.list();
      const budgetMs = clock.dueInMs;
      await Promise.all([end(listing), expect.poll(() => held.length, { interval: 5 }).toBe(count)]);
      return budgetMs;
    };
    const silent = (listing: Promise<unknown>) =>
      expect(listing).rejects.toMatchObject({ code: "timeout", details: { option: "idleTimeoutMs" } });
    const answers = async (listing: Promise<unknown>): Promise<void> => {
      const count = held.length;
      await expect.poll(() => held.length, { interval: 5 }).toBe(count + 1);
      held.at(-1)?.result(toolsText("echo"));
      await listing;
    };
    expect(await budgetOf(silent)).toBe(5_000);
    expect(await budgetOf(answers)).toBe(1_000);
    expect(await budgetOf(answers)).toBe(5_000);
  });

  it("H-25: agents share a walk, and one that leaves ends it for nobody", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    const held: ConnectorCall[] = [];
    party.gateway.script("a", (call) => held.push(call));
    const leaving = new AbortController();
    const left = expect(party.list(bindingOf("leaves"), leaving.signal)).rejects.toBe("gone");
    const stays = party.list(bindingOf("stays"));
    await expect.poll(() => held.length, { interval: 5 }).toBe(1);
    leaving.abort("gone");
    await left;
    held[0]?.result(toolsText("x"));
    expect((await stays).names).toEqual(["a_x"]);
    expect(party.count("tools/list")).toBe(1);
  });

  it("H-25: a walk is ended when the last who waits for it has left, and the next one begins anew", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    const held: ConnectorCall[] = [];
    party.gateway.script("a", (call) => held.push(call));
    const leaving = new AbortController();
    const left = expect(party.list(party.binding, leaving.signal)).rejects.toBe("gone");
    await expect.poll(() => held.length, { interval: 5 }).toBe(1);
    leaving.abort("gone");
    await left;
    await expect.poll(() => held[0]?.response.destroyed, { interval: 5 }).toBe(true);
    party.gateway.script("a", working);
    expect((await party.list()).names).toEqual(["a_echo"]);
  });

  it("H-25: nobody joins a walk that began before a refusal for headers", async () => {
    const party = await DirectoryParty.start(opened, ["a"], { contracts: "last_list" });
    await party.list();
    const held: ConnectorCall[] = [];
    party.gateway.script("a", (call) => {
      if (call.method === "tools/list") held.push(call);
      else call.error(-32020, 400);
    });
    const running = party.list();
    await expect.poll(() => held.length, { interval: 5 }).toBe(1);
    const refused = party.call("a_echo").catch((error: unknown) => error);
    // The client's own, to see whether other headers would do.
    await expect.poll(() => held.length, { interval: 5 }).toBe(2);
    held[1]?.result(toolsText("echo"));
    expect(await refused).toMatchObject({ code: "peer_error", details: { rpcCode: -32020 } });
    const next = party.list();
    await expect.poll(() => held.length, { interval: 5 }).toBe(3);
    held[2]?.result(toolsText("new"));
    expect((await next).names).toEqual(["a_new"]);
    held[0]?.result(toolsText("old"));
    expect((await running).names).toEqual(["a_old"]);
    // What came last is not the newest.
    party.gateway.script("a", working);
    await party.call("a_new");
    expect([held.length, party.count("tools/list")]).toEqual([3, 4]);
  });

  it("H-26 MB-150: a last list that grew old is found out by the server's refusal, and read anew once", async () => {
    const party = await DirectoryParty.start(opened, ["a"], { contracts: "last_list" });
    await party.list();
    party.gateway.script("a", (call) => {
      const schema = { type: "object", properties: { p: { type: "string", "x-mcp-header": "P" } } };
      if (call.method === "tools/list") call.result(JSON.stringify({ tools: [{ name: "echo", inputSchema: schema }] }));
      else if (call.request.headers["mcp-param-p"] === "v") working(call);
      else call.error(-32020, 400);
    });
    const before = { lists: party.count("tools/list"), calls: party.count("tools/call") };
    for (let index = 0; index < 5; index += 1) expect(await party.call("a_echo", '{"p":"v"}')).toContain("content");
    // The client's own list for the call that was refused, and the directory's for the next one.
    expect(party.count("tools/list") - before.lists).toBe(2);
    expect(party.count("tools/call") - before.calls).toBe(6);
  });

  it("H-24: a list with more bytes than it may have leaves out the largest connectors, and names them", async () => {
    const party = await DirectoryParty.start(opened, ["big", "small"], { maxListBytes: 1_000 });
    party.gateway.script("big", (call) => call.result(toolsText(...Array.from({ length: 50 }, (_, i) => `t${i}`))));
    expect(await party.list()).toEqual({ names: ["small_echo"], omitted: { big: "list_too_large" }, stale: {} });
    await party.list();
    expect(party.omissions).toEqual(["big list_too_large"]);
  });

  it("H-17: the host is told which tools are left out for their names, once per change", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    party.gateway.script("a", (call) => call.result(toolsText("x", "x", "\ud800", "y")));
    expect((await party.list()).names).toEqual(["a_y"]);
    await party.list();
    expect(party.named).toEqual([
      {
        connectorKey: "a",
        diagnostics: [
          { kind: "repeated_tool", tool: { connectorKey: "a", nativeName: "x" } },
          { kind: "unnamable_tool", tool: { connectorKey: "a", nativeName: "\ud800" } },
        ],
      },
    ]);
    party.gateway.script("a", working);
    await party.list();
    expect(party.named.at(-1)).toEqual({ connectorKey: "a", diagnostics: [] });
    expect(party.named).toHaveLength(2);
  });

  it("H-9, H-24: no list is cut without a word: the host is told of what is beyond 512, and of what agents would refuse", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    const names = Array.from({ length: 514 }, (_, at) => `t${String(at)}`);
    const broken = '{"name":"broken","inputSchema":{"type":"string"}},';
    party.gateway.script("a", (call) => call.result(toolsText(...names).replace("[", `[${broken}`)));
    expect((await party.list()).names).toHaveLength(512);
    expect(party.named[0]?.diagnostics).toEqual([
      { kind: "unusable_schema", tool: { connectorKey: "a", nativeName: "broken" } },
      { kind: "too_many_tools", connectorKey: "a", kept: 512, leftOut: 2 },
    ]);
  });

  it("H-36: what servers tell models is gathered by connector, though they are not asked", async () => {
    const party = await DirectoryParty.start(opened, ["a", "b"]);
    await party.publish("b", { discovered: { supportedVersions: [], capabilities: {}, instructions: "Use b well." } });
    expect(party.directory.instructions(party.binding)).toBe("# b\nUse b well.");
    expect(party.gateway.calls).toEqual([]);
  });
});
